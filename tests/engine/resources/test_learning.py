import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.resources import MARGIN, RETRY_FACTOR, WINDOW, ResourceReport, ResourceRequest
from engine.resources.learning import Use, nearest_rank, resolve

close = pytest.approx


def use(per_worker_gb, base_gb=0.5, **report):
    return Use(ResourceReport(peak_gb=base_gb + per_worker_gb, workers=1, **report), base_gb)


def test_the_constants_are_those_of_the_rule():
    assert (WINDOW, MARGIN, RETRY_FACTOR) == (20, 1.2, 1.5)


def test_memory_per_worker_is_the_share_above_the_base_and_never_negative():
    assert Use(ResourceReport(peak_gb=4.5, workers=4), 0.5).per_worker_gb == 1.0
    assert Use(ResourceReport(peak_gb=0.4, workers=4), 0.5).per_worker_gb == 0.0


def test_nearest_rank_takes_a_value_that_was_seen():
    tens = [float(n) for n in range(10, 110, 10)]
    assert nearest_rank(tens, 50) == 50.0
    assert nearest_rank(tens, 95) == 100.0  # rank ⌈9.5⌉ = 10
    assert nearest_rank(list(range(1, 21)), 95) == 19  # rank ⌈19⌉ = 19
    assert nearest_rank([7.0], 95) == 7.0


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=120), st.integers(1, 100))
def test_nearest_rank_is_the_smallest_value_with_enough_values_at_or_below_it(values, percent):
    answer = nearest_rank(values, percent)
    enough = [v for v in values if 100 * sum(w <= v for w in values) >= percent * len(values)]
    assert answer == min(enough)


def test_nothing_known_gives_the_defaults():
    answer = resolve([], [])
    assert answer.memory_base_gb == 0.5
    assert answer.memory_per_worker_gb == 1.0
    assert answer.scratch_gb == 1.0
    assert answer.gpus == 0
    assert answer.seconds_per_unit is None
    assert (answer.samples, answer.source) == (0, "default")


def test_a_hint_counts_field_by_field_until_something_is_learned():
    hint = ResourceRequest(memory_per_worker_gb=0.8, gpus=2)
    answer = resolve([], [], hint)
    assert (answer.memory_per_worker_gb, answer.gpus, answer.scratch_gb) == (0.8, 2, 1.0)
    assert answer.source == "plugin hint"
    learned = resolve([use(1.0)], [], hint)
    assert learned.memory_per_worker_gb == close(1.2)
    assert learned.gpus == 2, "GPUs are never learned"
    assert learned.source == "learned from 1 runs"


def test_the_source_is_that_of_the_memory_per_worker():
    assert resolve([], [], ResourceRequest(gpus=1)).source == "default"
    assert resolve([use(1.0)], [], None, ResourceRequest(gpus=1)).source == "learned from 1 runs"
    assert resolve([use(1.0)], [], None, ResourceRequest(memory_per_worker_gb=3.0)).source == "override"


def test_an_override_wins_field_by_field_even_under_a_floor():
    override = ResourceRequest(memory_per_worker_gb=0.1, scratch_gb=7.0)
    answer = resolve([use(1.0, base_gb=0.25)], [use(4.0)], ResourceRequest(scratch_gb=3.0), override)
    assert (answer.memory_per_worker_gb, answer.scratch_gb, answer.memory_base_gb) == (0.1, 7.0, 0.25)
    zero = resolve([use(1.0)], [], ResourceRequest(gpus=4), ResourceRequest(gpus=0, memory_base_gb=0.0))
    assert (zero.gpus, zero.memory_base_gb) == (0, 0.0), "zero is a value, not an absence"


def test_the_base_is_a_median_without_margin_over_the_window():
    window = [use(1.0, base) for base in (0.2, 0.9, 0.4, 0.6)]
    assert resolve(window, [], ResourceRequest(memory_base_gb=5.0)).memory_base_gb == close(0.5)
    assert resolve([use(1.0, 9.0)] + [use(1.0, 0.3)] * 20, []).memory_base_gb == 0.3


def test_scratch_is_learned_as_memory_is_from_the_successes_that_state_it():
    window = [use(1.0, scratch_gb=s) for s in (2.0, 5.0, 4.0)] + [use(1.0)]
    assert resolve(window, [], ResourceRequest(scratch_gb=50.0)).scratch_gb == close(6.0)
    assert resolve([use(1.0)], [], ResourceRequest(scratch_gb=50.0)).scratch_gb == 50.0


def test_scratch_from_before_the_window_is_forgotten():
    assert resolve([use(1.0, scratch_gb=9.0)] + [use(1.0)] * 20, []).scratch_gb == 1.0


def test_seconds_per_unit_is_the_median_of_the_ratios():
    window = [use(1.0, seconds=s, units=10) for s in (10, 40, 20)] + [use(1.0, seconds=5, units=0), use(1.0)]
    assert resolve(window, []).seconds_per_unit == 2.0
    assert resolve([use(1.0)], [], ResourceRequest(seconds_per_unit=3.0)).seconds_per_unit == 3.0
    assert resolve(window, [], None, ResourceRequest(seconds_per_unit=9.0)).seconds_per_unit == 9.0


def test_the_largest_open_kill_sets_the_floor_without_margin():
    assert resolve([], [use(2.0), use(3.0), use(1.0)]).memory_per_worker_gb == 4.5


def test_a_pod_needs_the_base_and_every_worker():
    answer = resolve([], [], ResourceRequest(memory_per_worker_gb=0.75))
    assert answer.memory_gb(4) == 3.5


amounts = st.floats(0, 1e4, allow_subnormal=False)


@given(st.lists(amounts, max_size=30), st.lists(amounts, max_size=5), st.none() | amounts)
def test_a_request_covers_its_window_and_its_kills(successes, kills, hint):
    answer = resolve([use(s) for s in successes], [use(k) for k in kills],
                     ResourceRequest(memory_per_worker_gb=hint))  # fmt: skip
    request, window = answer.memory_per_worker_gb, successes[-WINDOW:]
    assert math.isfinite(request) and answer.samples == len(window)
    assert all(request >= RETRY_FACTOR * k * (1 - 1e-9) - 1e-6 for k in kills)
    assert sum(request < s * (1 - 1e-9) - 1e-6 for s in window) <= len(window) // 20
