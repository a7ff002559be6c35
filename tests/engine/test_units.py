import math

import numpy as np
import pint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InvalidInput
from engine.model import Frozen
from engine.units import (
    Bandwidth,
    Bytes,
    Fraction,
    PositiveTime,
    Price,
    Quantity,
    Time,
    number,
    quantity,
    quantity_field,
    si,
    text,
    whole,
)


class Job(Frozen):
    run: PositiveTime
    wait: Time = "0 s"
    size: Bytes = "0 byte"
    rate: Bandwidth = "1 GB/s"
    share: Fraction = 0
    price: Price = "3 USD/(GPU*h)"
    mtbf: quantity_field("s", infinite=True) = "inf s"


def refused(**fields):
    with pytest.raises(InvalidInput) as caught:
        Job(**({"run": "1 h"} | fields))
    return caught.value


def test_the_units_of_the_field_mean_what_they_say():
    assert si("3 h", "s", "t") == 10_800
    assert si("1 day", "h", "t") == 24
    assert si("1 byte", "bit", "b") == 8
    assert si("1 GiB", "byte", "b") == 2**30
    assert si("2.3 TB", "byte", "b") == 2.3e12
    assert si("700 W", "J/s", "p") == 700
    assert si("3 USD/(GPU*h)", "USD/(GPU*day)", "p") == pytest.approx(72)
    assert si("20 %", "", "share") == pytest.approx(0.2)


@pytest.mark.parametrize(
    "given",
    [
        "3 h",
        Quantity(3, "h"),
        (3, "h"),
        [3, "h"],
        Quantity(180, "min"),
        " 10800 s ",
        np.float64(3) * Quantity(1, "h"),
    ],
)
def test_a_time_may_be_given_as_text_pair_or_quantity(given):
    assert si(given, "s", "t") == 10_800


def test_a_quantity_of_another_registry_is_read_by_its_unit():
    other = pint.UnitRegistry()
    assert si(other.Quantity(3, "hour"), "s", "t") == 10_800
    assert si(other.Quantity(2, "gigabyte"), "byte", "b") == 2e9
    with pytest.raises(InvalidInput, match="size"):
        si(other.Quantity(3, "meter"), "byte", "size")


@pytest.mark.parametrize("given", [math.nan, math.inf, -1, "nan s", "inf s", "-1 s", "1e999 s"])
def test_nan_infinity_and_a_wrong_sign_are_refused(given):
    value = (given, "s") if not isinstance(given, str) else given
    with pytest.raises(InvalidInput) as caught:
        si(value, "s", "wait")
    assert str(caught.value).startswith("wait: ")
    assert "finite quantity in a unit such as s, of at least 0 s" in str(caught.value)


@pytest.mark.parametrize(
    "given", [1e12, 0, True, None, "", "much", "12 %", "5 USD", "7 parameter", "3 h", object(), {}, b"1 byte"]
)
def test_bytes_are_refused_without_a_unit_of_bytes(given):
    error = refused(size=given)
    assert error.fields["parameter"] == "size"
    assert "byte" in error.fields["accepted"]


@pytest.mark.parametrize("given", [5, "5", "5 kg", "5 GPU", "5 s^2", "1 h 30 min"])
def test_a_time_of_the_wrong_dimension_is_refused(given):
    assert refused(wait=given).fields["given"] == given


def test_ranges_keep_their_ends():
    assert Job(run="1 s", share="100 %").share == 1
    assert refused(run="0 s").fields["parameter"] == "run"
    assert refused(share=1.01).fields["parameter"] == "share"
    assert refused(share=-0.01).fields["parameter"] == "share"
    assert refused(rate="0 GB/s").fields["parameter"] == "rate"
    assert si("0 s", "s", "t") == 0
    with pytest.raises(InvalidInput, match="above 0 and at most 9 s"):
        si("0 s", "s", "t", low_open=True, high=9)
    with pytest.raises(InvalidInput):
        si("9.1 s", "s", "t", high=9)


def test_infinity_passes_only_where_it_is_meant():
    assert math.isinf(si("inf s", "s", "t", infinite=True))
    assert math.isinf(Job(run="1 s").mtbf.magnitude)
    with pytest.raises(InvalidInput):
        Job(run="1 s", mtbf="nan s")


def test_an_error_names_parameter_value_and_what_is_accepted():
    error = refused(wait="3 GB")
    assert str(error) == (
        "wait: '3 GB' is not accepted; give a finite quantity in a unit such as s, of at least 0 s."
    )
    assert isinstance(error, ValueError)


@given(st.floats(0, 1e15), st.sampled_from(["s", "h", "byte", "GB/s", "USD/(GPU*h)", "GPU*h", "%", ""]))
def test_a_quantity_survives_its_text(magnitude, unit):
    before = Quantity(magnitude, unit)
    after = quantity(text(before))
    assert after.magnitude == before.magnitude
    assert after.check(before.dimensionality)
    assert float(after.to(before.units).magnitude) == before.magnitude


@given(st.floats(1e-6, 1e12), st.floats(0, 1e15), st.floats(0, 1))
def test_a_model_survives_json(run, size, share):
    job = Job(run=(run, "s"), size=(size, "byte"), share=share)
    assert Job.read_json(job.model_dump_json()) == job


@pytest.mark.parametrize("given", [0.5, "50 %", Quantity(50, "%"), Quantity(0.5, ""), "0.5"])
def test_a_percentage_is_read_as_a_fraction(given):
    assert number(given, "share", low=0, high=1) == pytest.approx(0.5)


@pytest.mark.parametrize("given", [True, False, 1.0, 1.5, "1", None, math.nan])
def test_only_integers_are_whole(given):
    with pytest.raises(InvalidInput, match="count"):
        whole(given, "count")


def test_whole_keeps_its_range():
    assert whole(np.int64(7), "count", low=7, high=7) == 7
    with pytest.raises(InvalidInput, match="at least 1 and at most 8"):
        whole(9, "gpus", low=1, high=8)
    with pytest.raises(InvalidInput, match="at least 1"):
        whole(0, "gpus", low=1)


@pytest.mark.parametrize(
    "hostile", ["__import__('os')", "2**10**10**10 s", "9" * 5000 + " s", "s" * 5000, "(" * 2000]
)
def test_a_hostile_text_is_refused_at_once(hostile):
    with pytest.raises(InvalidInput) as caught:
        si(hostile, "s", "wait")
    assert len(str(caught.value)) < 300
