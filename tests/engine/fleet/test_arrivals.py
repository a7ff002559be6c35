import json
import math
import random
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InvalidInput
from engine.fleet.arrivals import (
    MAX_ARRIVALS,
    ArrivalSpec,
    ArrivalTrace,
    arrival_offsets,
    looped_offsets,
    scheduled_endpoint,
)

TRACE = ArrivalTrace((0.0, 0.5, 0.5, 2.0), "made for a test")
rates = st.floats(1e-3, 1e6)
intervals = st.floats(1e-6, 1e3)


def close(value, answer):
    return value == answer or value == pytest.approx(answer, rel=1e-12, abs=1e-12)


def test_every_row_of_the_known_answers(shared_dir):
    rows = json.loads((shared_dir / "oracles" / "arrivals.json").read_text())["rows"]
    assert len(rows) == 40
    for row in rows:
        given_inputs = {"count": row["count"], "duration_seconds": row["duration_s"], "seed": row["seed"]}
        if "error" in row:
            with pytest.raises(InvalidInput):
                arrival_offsets(ArrivalSpec(**row["spec"]), **given_inputs)
            continue
        spec = ArrivalSpec(**row["spec"])
        offsets = arrival_offsets(spec, **given_inputs)
        assert len(offsets) == row["n"], row["id"]
        assert all(map(close, offsets[:5], row["first"])), row["id"]
        assert close(offsets[-1] if offsets else None, row["last"]), row["id"]
        assert close(sum(offsets), row["sum"]), row["id"]
        assert close(scheduled_endpoint(spec, **given_inputs), row["endpoint"]), row["id"]
        assert (spec.case_label(), spec.to_record()) == (row["label"], row["record"]), row["id"]


def test_two_requests_at_ten_a_second_are_ten_a_second():
    spec = ArrivalSpec("fixed-rate", 10)
    assert arrival_offsets(spec, count=2) == [0.0, 0.1]
    assert scheduled_endpoint(spec, count=2) == 0.2


def test_bursts_come_at_multiples_of_the_interval_not_at_accumulated_sums():
    spec = ArrivalSpec("burst", burst_size=2, burst_interval_seconds=0.1)
    offsets = arrival_offsets(spec, count=22)
    assert offsets[::2] == [k * 0.1 for k in range(11)]
    assert offsets[::2] == offsets[1::2]
    assert list(accumulate([0.1] * 10))[-1] != offsets[20] == 1.0


@pytest.mark.parametrize("count, endpoint", [(1, 2.5), (5, 2.5), (6, 5.0), (10, 5.0)])
def test_a_counted_burst_ends_when_the_next_burst_would_come(count, endpoint):
    spec = ArrivalSpec("burst", burst_size=5, burst_interval_seconds=2.5)
    assert scheduled_endpoint(spec, count=count) == endpoint


def test_poisson_gaps_are_draws_of_the_seeded_standard_generator():
    draws = random.Random(11)
    offset, expected = 0.0, []
    for _ in range(100):
        expected.append(offset)
        offset += draws.expovariate(3.0)
    spec = ArrivalSpec("poisson", 3.0)
    assert arrival_offsets(spec, count=100, seed=11) == expected
    assert scheduled_endpoint(spec, count=100, seed=11) == offset
    assert arrival_offsets(spec, count=100, seed=12) != expected


def test_of_two_limits_the_one_reached_first_holds():
    spec = ArrivalSpec("fixed-rate", 10)
    assert len(arrival_offsets(spec, count=5, duration_seconds=0.25)) == 3
    assert scheduled_endpoint(spec, count=5, duration_seconds=0.25) == 0.25
    assert scheduled_endpoint(spec, count=5, duration_seconds=100) == 0.5
    assert scheduled_endpoint(spec, count=5, duration_seconds=0.45) == 0.45


def test_a_window_is_closed_at_its_end():
    spec = ArrivalSpec("fixed-rate", 4)
    assert arrival_offsets(spec, duration_seconds=0.75) == [0.0, 0.25, 0.5]
    assert arrival_offsets(spec, duration_seconds=0.7500001)[-1] == 0.75


def test_count_zero_has_no_end_and_duration_zero_ends_at_zero():
    spec = ArrivalSpec("fixed-rate", 10)
    assert arrival_offsets(spec, count=0) == arrival_offsets(spec, duration_seconds=0) == []
    assert scheduled_endpoint(spec, count=0) is None
    assert scheduled_endpoint(spec, duration_seconds=0) == 0.0


def test_a_replay_sends_the_whole_trace_unless_limited_and_ends_only_at_a_duration():
    spec = ArrivalSpec("replay", trace=TRACE)
    assert arrival_offsets(spec) == [0.0, 0.5, 0.5, 2.0]
    assert arrival_offsets(spec, count=2) == [0.0, 0.5]
    assert arrival_offsets(spec, duration_seconds=2) == [0.0, 0.5, 0.5]
    assert scheduled_endpoint(spec) is None
    assert scheduled_endpoint(spec, count=2) is None
    assert scheduled_endpoint(spec, duration_seconds=9) == 9.0


def test_a_closed_loop_has_neither_schedule_nor_end():
    spec = ArrivalSpec()
    assert not spec.open_loop
    assert spec.case_label() == "closed"
    assert spec.to_record() == {"mode": "closed"}
    assert scheduled_endpoint(spec, count=3) is None
    with pytest.raises(InvalidInput, match="closed"):
        arrival_offsets(spec, count=3)


def test_labels_print_numbers_in_their_general_form():
    assert ArrivalSpec("fixed-rate", 1e7).case_label() == "fixed1e+07"
    assert ArrivalSpec("poisson", 1 / 3).case_label() == "poisson0.333333"
    assert ArrivalSpec("burst", None, 5, 2.5).case_label() == "burst5x2.5s"
    assert ArrivalSpec("replay", trace=TRACE).case_label() == "replay"


def test_a_spec_survives_json_and_cannot_be_changed():
    spec = ArrivalSpec("replay", trace=TRACE)
    assert ArrivalSpec.read_json(spec.model_dump_json()) == spec
    with pytest.raises(ValueError, match="frozen"):
        spec.mode = "closed"


@pytest.mark.parametrize(
    "fields, named",
    [
        ({"mode": "nope"}, "mode"),
        ({"mode": None}, "mode"),
        ({"mode": "fixed-rate"}, "rate_per_second"),
        ({"mode": "poisson", "rate_per_second": 0}, "rate_per_second"),
        ({"mode": "poisson", "rate_per_second": -1}, "rate_per_second"),
        ({"mode": "poisson", "rate_per_second": math.nan}, "rate_per_second"),
        ({"mode": "poisson", "rate_per_second": math.inf}, "rate_per_second"),
        ({"mode": "poisson", "rate_per_second": True}, "rate_per_second"),
        ({"mode": "poisson", "rate_per_second": "3"}, "rate_per_second"),
        ({"mode": "poisson", "rate_per_second": 10**400}, "rate_per_second"),
        ({"mode": "burst", "burst_interval_seconds": 1}, "burst_size"),
        ({"mode": "burst", "burst_size": 0, "burst_interval_seconds": 1}, "burst_size"),
        ({"mode": "burst", "burst_size": 1.5, "burst_interval_seconds": 1}, "burst_size"),
        ({"mode": "burst", "burst_size": True, "burst_interval_seconds": 1}, "burst_size"),
        ({"mode": "burst", "burst_size": 2, "burst_interval_seconds": 0}, "burst_interval_seconds"),
        ({"mode": "replay"}, "trace"),
        ({"mode": "closed", "rate_per_second": 1}, "rate_per_second"),
        ({"mode": "fixed-rate", "rate_per_second": 1, "trace": TRACE}, "trace"),
        ({"mode": "fixed-rate", "rate_per_second": 1, "burst_size": 2}, "burst_size"),
        ({"mode": "closed", "speed": 1}, "speed"),
    ],
)
def test_a_spec_that_makes_no_sense_names_the_field(fields, named):
    with pytest.raises(InvalidInput, match=f"^{named}: "):
        ArrivalSpec(**fields)


@pytest.mark.parametrize(
    "limits, named",
    [
        ({}, "count"),
        ({"count": -1}, "count"),
        ({"count": True}, "count"),
        ({"count": math.nan}, "count"),
        ({"count": 2.0}, "count"),
        ({"duration_seconds": -0.1}, "duration_seconds"),
        ({"duration_seconds": math.nan}, "duration_seconds"),
        ({"duration_seconds": math.inf}, "duration_seconds"),
        ({"duration_seconds": True}, "duration_seconds"),
        ({"count": 1, "seed": None}, "seed"),
    ],
)
@pytest.mark.parametrize("function", [arrival_offsets, scheduled_endpoint])
def test_a_limit_that_makes_no_sense_is_named(function, limits, named):
    with pytest.raises(InvalidInput, match=f"^{named}: "):
        function(ArrivalSpec("fixed-rate", 10), **limits)


@pytest.mark.parametrize(
    "spec, limits, inputs",
    [
        (ArrivalSpec("fixed-rate", 1e9), {"duration_seconds": 1}, "duration_seconds, rate_per_second"),
        (ArrivalSpec("poisson", 1e9), {"count": MAX_ARRIVALS + 1}, "count, rate_per_second"),
        (
            ArrivalSpec("burst", burst_size=10**12, burst_interval_seconds=1),
            {"duration_seconds": 1},
            "duration_seconds, burst_size, burst_interval_seconds",
        ),
        (ArrivalSpec("replay", trace=ArrivalTrace([0.0] * (MAX_ARRIVALS + 1), "long")), {}, "trace"),
    ],
)
def test_more_than_a_million_arrivals_is_an_error_that_says_what_to_check(spec, limits, inputs):
    with pytest.raises(InvalidInput, match=rf"at most 1,000,000 arrivals.*Check {inputs}"):
        arrival_offsets(spec, **limits)


def test_a_million_arrivals_are_still_a_schedule():
    assert len(arrival_offsets(ArrivalSpec("fixed-rate", 1e6), duration_seconds=1)) == MAX_ARRIVALS
    last = arrival_offsets(ArrivalSpec("burst", None, 3, 1.0), count=MAX_ARRIVALS)[-1]
    assert last == 333_333.0


@pytest.mark.parametrize("mode", ["fixed-rate", "poisson"])
def test_a_rate_too_small_for_a_finite_time_is_an_error(mode):
    with pytest.raises(InvalidInput, match="rate_per_second"):
        arrival_offsets(ArrivalSpec(mode, 5e-324), count=2)
    with pytest.raises(InvalidInput, match="rate_per_second"):
        scheduled_endpoint(ArrivalSpec(mode, 5e-324), count=1)


@st.composite
def grids(draw):
    if draw(st.booleans()):
        spec, step = ArrivalSpec("fixed-rate", rate := draw(rates)), 1 / rate
        size = 1
    else:
        size, step = draw(st.integers(1, 50)), draw(intervals)
        spec = ArrivalSpec("burst", burst_size=size, burst_interval_seconds=step)
    count = draw(st.none() | st.integers(0, 3000))
    # Windows that end on a grid point, just before and just after it are where rounding bites.
    edge = draw(st.integers(0, 2000 // size)) * step
    window = draw(st.sampled_from([edge, math.nextafter(edge, 0), math.nextafter(edge, 1e9), edge * 1.3]))
    return spec, count, window if count is None else draw(st.sampled_from([None, window]))


@given(grids())
def test_the_fast_grid_equals_the_loop_bit_for_bit(case):
    spec, count, window = case
    fast = arrival_offsets(spec, count=count, duration_seconds=window)
    assert fast == looped_offsets(spec, count, window, 0)


@given(grids())
def test_the_fast_grid_equals_a_definition_written_apart(case):
    spec, count, window = case
    expected = []
    while (count is None or len(expected) < count) and len(expected) < 10_000:
        i = len(expected)
        due = (
            i / spec.rate_per_second
            if spec.mode == "fixed-rate"
            else ((i // spec.burst_size) * spec.burst_interval_seconds)
        )
        if window is not None and due >= window:
            break
        expected.append(due)
    assert arrival_offsets(spec, count=count, duration_seconds=window) == expected


@given(rates, st.integers(1, 200), st.integers(0, 2**32))
def test_a_schedule_ascends_from_zero_and_ends_after_its_last_arrival(rate, count, seed):
    for spec in (ArrivalSpec("poisson", rate), ArrivalSpec("fixed-rate", rate)):
        offsets = arrival_offsets(spec, count=count, seed=seed)
        assert offsets[0] == 0.0
        assert len(offsets) == count
        assert offsets == sorted(offsets)
        end = scheduled_endpoint(spec, count=count, seed=seed)
        assert end > offsets[-1]
        assert arrival_offsets(spec, duration_seconds=end, seed=seed) == offsets
