import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.facts import facts
from engine.units import Quantity
from labs.cockpit.format import count, digits, dollars_a_day, duration, fact_value, gpu_hours, price, share


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0, "0"),
        (0.1234, "0.123"),
        (9.994, "9.99"),
        (9.996, "10.0"),
        (99.96, "100"),
        (21.64, "21.6"),
        (1234.5, "1,234"),
        (224069.4, "224,069"),
    ],
)
def test_three_digits_tell_and_thousands_are_apart(value, written):
    assert digits(value) == written


@given(st.floats(min_value=1e-6, max_value=1e12))
def test_a_written_number_is_within_half_a_per_cent_and_has_no_exponent(value):
    written = digits(value)
    assert "e" not in written
    assert float(written.replace(",", "")) == pytest.approx(value, rel=0.0051)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_never_shown(bad):
    with pytest.raises(ValueError, match="not a number"):
        digits(bad)


@pytest.mark.parametrize(
    ("time", "written"),
    [
        ("0 s", "0 min"),
        ("45 s", "45 s"),
        ("600 s", "10 min"),
        ("79185 s", "22.0 h"),
        ("4 h", "4 h"),
        ("90 min", "1.50 h"),
        ("555 s", "9.25 min"),
        ("59.5 min", "59.5 min"),
    ],
)
def test_a_time_is_written_in_its_natural_unit(time, written):
    assert str(duration(Quantity(time))) == written.replace(" ", "\u00a0")


def test_a_censored_wait_says_so():
    assert str(duration(Quantity("48 h"), censored=True)) == ">\u00a048\u00a0h"


@pytest.mark.parametrize(
    ("fraction", "written"),
    [(None, "n/a"), (0, "0 %"), (0.8342, "83.4 %"), (0.99936, "99.94 %"), (1, "100 %"), (0.004, "0.400 %")],
)
def test_a_share_is_a_percentage_or_not_applicable(fraction, written):
    assert str(share(fraction)) == written.replace(" ", "\u00a0")


def test_amounts_carry_their_units():
    assert str(gpu_hours(Quantity(3330.4, "gpu*h"))) == "3,330\u00a0GPU-h"
    assert str(gpu_hours(Quantity(0, "gpu*h"))) == "0\u00a0GPU-h"
    assert str(price(Quantity(3.608, "USD/(gpu*h)"))) == "3.61\u00a0$/GPU-h"
    assert str(dollars_a_day(Quantity(260478, "USD/day"))) == "260\u00a0k$/day"
    assert str(dollars_a_day(Quantity(1.749e6, "USD/day"))) == "1.75\u00a0M$/day"
    assert count(10000) == "10,000"


def test_every_fact_can_be_written():
    for one in facts().values():
        said = fact_value(one)
        assert said.number and "nan" not in said.number
