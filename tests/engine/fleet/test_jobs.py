import numpy as np
import pytest

from engine.errors import InvalidInput
from engine.fleet.jobs import UNLIMITED, Jobs
from engine.fleet.queueing import fcfs
from engine.units import Quantity


def test_rows_become_columns():
    jobs = Jobs.from_rows([(7, 0, 2, 30, 20), (3, 5, 1, None, 4, 9)])
    assert jobs.ids.tolist() == [7, 3]
    assert jobs.estimate_ms.tolist() == [30, UNLIMITED]
    assert jobs.priority.tolist() == [0, 9]
    assert len(jobs) == 2


def test_an_empty_table_is_a_table():
    jobs = Jobs.from_rows([])
    assert len(jobs) == 0
    assert fcfs(jobs, 4).wait_ms.size == 0


def test_quantities_are_rounded_to_the_millisecond_and_infinite_estimates_are_unlimited():
    jobs = Jobs.from_quantities(
        Quantity([0, 1.0004], "s"), [1, 2], Quantity([1, np.inf], "h"), Quantity([0.5, 2], "min")
    )
    assert jobs.submit_ms.tolist() == [0, 1000]
    assert jobs.estimate_ms.tolist() == [3_600_000, UNLIMITED]
    assert jobs.run_ms.tolist() == [30_000, 120_000]
    assert jobs.ids.tolist() == [0, 1]


def test_the_queue_is_ordered_by_submit_time_then_id():
    jobs = Jobs.from_rows([(2, 5, 1, 1, 1), (9, 0, 1, 1, 1), (1, 5, 1, 1, 1)])
    assert jobs.ids[jobs.queue_order()].tolist() == [9, 1, 2]


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ((0, -1, 1, 1, 1), r"submit_ms\[1\]"),
        ((0, 0, 0, 1, 1), r"size\[1\]"),
        ((0, 0, 1, -1, 1), r"estimate_ms\[1\]"),
        ((0, 0, 1, 1, -1), r"run_ms\[1\]"),
        ((0, 0, 1, 1, None), "run_ms"),
        ((0, 0, 1.5, 1, 1), "size: 1.5"),
        ((5, 0, 1, 1, 1), "ids: 5"),
        ((0, 0, 1), r"rows\[1\]"),
    ],
)
def test_a_row_that_is_not_a_job_is_named(row, name):
    with pytest.raises(InvalidInput, match=name):
        Jobs.from_rows([(5, 0, 1, 1, 1), row])


@pytest.mark.parametrize(
    "run", [Quantity([1, np.nan], "s"), Quantity([1, np.inf], "s"), Quantity([1, 2], "gpu"), 3]
)
def test_a_run_time_that_is_no_time_is_named(run):
    with pytest.raises(InvalidInput, match="run"):
        Jobs.from_quantities(Quantity([0, 0], "s"), [1, 1], Quantity([9, 9], "s"), run)


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(InvalidInput, match="size"):
        Jobs.from_quantities(Quantity([0, 0], "s"), [1], Quantity([9, 9], "s"), Quantity([9, 9], "s"))


def test_a_table_cannot_be_changed():
    jobs = Jobs.from_rows([(0, 0, 1, 1, 1)])
    with pytest.raises(ValueError, match="read-only"):
        jobs.size[0] = 2


def test_a_record_takes_at_most_32_bytes_a_job():
    jobs = Jobs.from_rows([(i, i, 1, 5, 5) for i in range(1000)])
    result = fcfs(jobs, 10)
    columns = (result.start_ms, result.end_ms, result.rejected, result.order)
    assert sum(column.nbytes for column in columns) <= 32 * len(jobs)


def test_waits_slowdown_and_kills_by_hand():
    jobs = Jobs.from_rows([(0, 0, 1, 20_000, 30_000), (1, 0, 1, 10_000, 1_000), (2, 0, 9, 1, 1)])
    result = fcfs(jobs, 1)
    assert result.rejected.tolist() == [False, False, True]
    assert result.waits.to("s").magnitude.tolist() == [0.0, 20.0]
    assert result.slowdown().tolist() == [1.0, (20 + 1) / 10]
    assert result.slowdown("1 s").tolist() == [1.0, 21.0]
    assert result.killed.tolist() == [True, False, False]
    assert result.order.tolist() == [0, 1]
