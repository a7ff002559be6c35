import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InvalidInput
from engine.fleet.fairness import fairness, overall, size_classes
from engine.fleet.jobs import Jobs
from engine.fleet.queueing import fcfs
from engine.units import Quantity
from tests.engine.fleet.pool_instances import workloads

SECOND = 1000


def line(count):
    """Return `count` jobs of 10 s on one unit, all submitted at 0: job i waits 10 i seconds."""
    return fcfs(Jobs.from_rows([(i, 0, 1, 10 * SECOND, 10 * SECOND) for i in range(count)]), 1)


def seconds(quantity):
    return quantity.to("s").magnitude


def test_waits_and_slowdowns_by_hand():
    result = overall(line(4))
    assert (result.jobs, result.censored, result.rejected) == (4, 0, 0)
    assert seconds(result.waits.mean) == 15
    assert seconds(result.waits.p50) == 10
    assert seconds(result.waits.p95) == seconds(result.waits.max) == 30
    assert result.waits.lower_bounds == ()
    assert (result.slowdowns.mean, result.slowdowns.p50, result.slowdowns.max) == (2.5, 2.0, 4.0)


def test_jobs_that_still_wait_count_to_the_horizon_and_are_marked():
    result = overall(line(4), horizon="15 s")
    assert (result.jobs, result.censored) == (4, 2)
    assert seconds(result.waits.mean) == (0 + 10 + 15 + 15) / 4
    assert seconds(result.waits.p50) == 10
    assert seconds(result.waits.max) == 15
    assert result.waits.lower_bounds == ("max", "mean", "p95")


def test_a_job_that_starts_at_the_horizon_has_started():
    assert overall(line(4), horizon="10 s").censored == 2


def test_a_median_that_a_waiting_job_could_still_raise_is_a_lower_bound():
    jobs = Jobs.from_rows([(1, 0, 2, 100, 100), (2, 40, 2, 9, 9), (3, 41, 1, 9, 9)])
    result = overall(fcfs(jobs, 2), horizon=Quantity(50, "ms"))
    assert (result.jobs, result.censored) == (3, 2)
    assert result.waits.lower_bounds == ("max", "mean", "p50", "p95")


def test_jobs_submitted_after_the_horizon_are_not_there_yet():
    jobs = Jobs.from_rows([(1, 0, 1, 5, 5), (2, 90, 1, 5, 5)])
    assert overall(fcfs(jobs, 1), horizon=Quantity(50, "ms")).jobs == 1


def test_rejected_jobs_are_counted_apart():
    jobs = Jobs.from_rows([(1, 0, 9, 5, 5), (2, 0, 1, 5, 5)])
    result = fairness(fcfs(jobs, 4), ["anna", "ben"])
    assert (result["anna"].jobs, result["anna"].rejected, result["anna"].waits) == (0, 1, None)
    assert (result["ben"].jobs, result["ben"].rejected) == (1, 0)


def test_users_are_told_apart():
    jobs = Jobs.from_rows([(i, 0, 1, 10 * SECOND, 10 * SECOND) for i in range(4)])
    result = fairness(fcfs(jobs, 1), ["ben", "anna", "ben", "anna"])
    assert list(result) == ["anna", "ben"]
    assert seconds(result["anna"].waits.mean) == 20
    assert seconds(result["ben"].waits.mean) == 10


def test_size_classes_have_their_bounds_in_their_names():
    jobs = Jobs.from_rows([(i, 0, size, 1, 1) for i, size in enumerate([1, 2, 4, 5, 8, 9, 4096])])
    assert size_classes(jobs) == ["1", "2-4", "2-4", "5-8", "5-8", "9+", "9+"]
    assert size_classes(jobs, [8]) == ["1-8"] * 5 + ["9+"] * 2


@given(instance=workloads(), horizon=st.integers(0, 40))
def test_groups_are_the_parts_of_the_whole(instance, horizon):
    rows, units = instance
    result = fcfs(Jobs.from_rows(rows), units)
    limit = Quantity(horizon, "ms")
    groups = fairness(result, [row[5] for row in rows], horizon=limit)
    everybody = overall(result, horizon=limit)
    for field in ("jobs", "censored", "rejected"):
        assert sum(getattr(group, field) for group in groups.values()) == getattr(everybody, field)
    assert everybody.jobs == sum(row[2] <= units and row[1] <= horizon for row in rows)


@given(instance=workloads(), horizon=st.integers(0, 40))
def test_a_figure_not_marked_as_a_lower_bound_is_the_true_one(instance, horizon):
    rows, units = instance
    rows = [row for row in rows if row[1] <= horizon]
    result = fcfs(Jobs.from_rows(rows), units)
    seen, true = overall(result, horizon=Quantity(horizon, "ms")), overall(result)
    if seen.waits:
        for name in ("mean", "p50", "p95", "max"):
            now, later = getattr(seen.waits, name), getattr(true.waits, name)
            assert now == later if name not in seen.waits.lower_bounds else now <= later
        for name in ("mean", "p50", "p95", "max"):
            now, later = getattr(seen.slowdowns, name), getattr(true.slowdowns, name)
            assert now == later if name not in seen.slowdowns.lower_bounds else now <= later


def test_figures_serialise():
    assert '"p50":"10.0 s"' in overall(line(4)).model_dump_json()


def test_groups_of_another_length_are_refused():
    with pytest.raises(InvalidInput, match="groups"):
        fairness(line(3), ["anna"])


@pytest.mark.parametrize("bounds", [[], [4, 1], [0], [4, 4]])
def test_bounds_of_size_classes_ascend(bounds):
    with pytest.raises(InvalidInput, match="bounds"):
        size_classes(Jobs.from_rows([]), bounds)
