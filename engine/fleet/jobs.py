"""Jobs as columns and what became of them: the tables that every scheduler reads and writes.

A table is a handful of int64 arrays, so that 200,000 jobs are 10 MB and a history costs 25 bytes a job.
Times are integer milliseconds: equal instants are equal, on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self, cast

import numpy as np
import pint
from numpy.typing import ArrayLike, NDArray

from engine.errors import InvalidInput
from engine.units import Quantity, quantity, si

Column = NDArray[np.int64]
UNLIMITED = 2**61
"""The estimate, in ms, of a job without a time limit: an ordinary number far beyond any real end."""
NEVER = -1
"""The start and the end of a job that was rejected."""


@dataclass(frozen=True, eq=False)
class Jobs:
    """A table of jobs, one row a job, in any order.

    Parameters
    ----------
    ids: distinct integers; they break ties between jobs submitted at one instant.
    submit_ms: when each job enters the queue.
    size: units (GPUs, processors, nodes) that it holds from start to end, at least 1.
    estimate_ms: the run time its owner declared; `UNLIMITED` if none was.
    run_ms: the run time it would have if nobody stopped it.
    priority: larger is more urgent; only policies that say so look at it.

    Raises
    ------
    InvalidInput: naming the column and row of the first value that is not accepted.
    """

    ids: Column
    submit_ms: Column
    size: Column
    estimate_ms: Column
    run_ms: Column
    priority: Column

    def __post_init__(self) -> None:
        for name, (low, high) in _RANGES.items():
            object.__setattr__(self, name, _column(name, getattr(self, name), low, high, self.ids))
        if np.any(np.diff(self.ids) <= 0) and np.unique(self.ids).size != self.ids.size:
            raise InvalidInput("ids", _repeated(self.ids), "an id that no other job has")

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[int | None]]) -> Self:
        """Build the table from rows `(id, submit, size, estimate, run[, priority])` of integers.

        Times are milliseconds (or any one unit: the schedulers only add and compare). An estimate of
        `None` means no limit; a missing priority is 0.
        """
        table = [_row(number, row) for number, row in enumerate(rows)]
        columns = zip(*table, strict=True) if table else [()] * 6
        return cls(*(cast(Column, list(column)) for column in columns))

    @classmethod
    def from_quantities(
        cls,
        submit: Any,
        size: ArrayLike,
        estimate: Any,
        run: Any,
        *,
        priority: ArrayLike | None = None,
        ids: ArrayLike | None = None,
    ) -> Self:
        """Build the table from quantities of time (shape `(jobs,)`), rounded to the millisecond.

        An infinite estimate means no limit. Priorities default to 0 and ids to 0, 1, 2, …
        """
        submit_ms = _milliseconds(submit, "submit")
        count = submit_ms.size
        return cls(
            ids=np.arange(count) if ids is None else np.asarray(ids),
            submit_ms=submit_ms,
            size=np.asarray(size),
            estimate_ms=_milliseconds(estimate, "estimate", infinite=True),
            run_ms=_milliseconds(run, "run"),
            priority=np.zeros(count, np.int64) if priority is None else np.asarray(priority),
        )

    def __len__(self) -> int:
        return int(self.ids.size)

    def queue_order(self) -> Column:
        """Return the rows in the order of the queue: by submit time, then id."""
        return np.lexsort((self.ids, self.submit_ms))

    def length_ms(self, kill_at_limit: bool) -> Column:
        """Return how long each job works: its run time, cut at its estimate if it is killed there."""
        return np.minimum(self.run_ms, self.estimate_ms) if kill_at_limit else self.run_ms


@dataclass(frozen=True, eq=False)
class Schedule:
    """When each job of a table started and ended under some policy; 25 bytes a job.

    Parameters
    ----------
    jobs: the table.
    start_ms, end_ms: shape `(jobs,)`, the first start and the last end; `NEVER` for a rejected job.
    rejected: whether the job asks for more units than the machine has.
    order: rows in the order in which they first started, without the rejected ones.
    kill_at_limit: whether jobs were stopped when their estimate had passed.
    """

    jobs: Jobs
    start_ms: Column
    end_ms: Column
    rejected: NDArray[np.bool_]
    order: Column
    kill_at_limit: bool = True

    @property
    def wait_ms(self) -> Column:
        """Start minus submit of every job that was not rejected, in the order of the table."""
        ran = ~self.rejected
        return self.start_ms[ran] - self.jobs.submit_ms[ran]

    @property
    def waits(self) -> pint.Quantity[Any]:
        """The waits as a quantity, in seconds; `waits.mean()` is the mean wait."""
        return Quantity(self.wait_ms / 1000.0, "s")

    @property
    def killed(self) -> NDArray[np.bool_]:
        """Whether the job was stopped at its limit before its work was done."""
        return ~self.rejected & (self.jobs.length_ms(self.kill_at_limit) < self.jobs.run_ms)

    def slowdown(self, bound: Any = "10 s") -> NDArray[np.float64]:
        """Return the bounded slowdown of every job that was not rejected, in the order of the table.

        max(1, (end − submit) / max(length, bound)), where length is the time for which the job works. The
        bound keeps a job of one second that waited a minute from outweighing all others.

        Source: Feitelson et al., Theory and Practice in Parallel Job Scheduling, JSSPP 1997.
        """
        ran = ~self.rejected
        length = self.jobs.length_ms(self.kill_at_limit)[ran]
        return bounded_slowdown(self.end_ms[ran] - self.jobs.submit_ms[ran], length, bound)


def bounded_slowdown(response_ms: Column, length_ms: Column, bound: Any) -> NDArray[np.float64]:
    """Return max(1, response / max(length, bound)) for arrays of milliseconds; see `Schedule.slowdown`."""
    floor = si(bound, "ms", "bound", low_open=True)
    ratio: NDArray[np.float64] = response_ms / np.maximum(length_ms, floor)
    return np.maximum(1.0, ratio)


_RANGES = {
    "ids": (-UNLIMITED, UNLIMITED),
    "submit_ms": (0, UNLIMITED - 1),
    "size": (1, UNLIMITED),
    "estimate_ms": (0, UNLIMITED),
    "run_ms": (0, UNLIMITED - 1),
    "priority": (-UNLIMITED, UNLIMITED),
}


def _row(number: int, row: Sequence[int | None]) -> list[int | None]:
    if len(row) not in (5, 6):
        raise InvalidInput(f"rows[{number}]", row, "(id, submit, size, estimate, run[, priority])")
    filled = [*row, 0][:6]
    filled[3] = UNLIMITED if filled[3] is None else filled[3]
    return filled


def _column(name: str, values: ArrayLike, low: int, high: int, like: ArrayLike) -> Column:
    """Return a read-only int64 copy of `values` after checking kind, length and range."""
    array = np.asarray(values)
    if array.ndim != 1 or array.size != np.size(like):
        raise InvalidInput(name, f"shape {array.shape}", f"one value a job, {np.size(like)} in all")
    if array.size and array.dtype.kind not in "iu":
        raise InvalidInput(name, _first_not_whole(array), "whole numbers")
    wrong = (array < low) | (array > high)
    if wrong.any():
        row = int(wrong.argmax())
        raise InvalidInput(f"{name}[{row}]", int(array[row]), f"a whole number from {low} to {high}")
    column = array.astype(np.int64)
    column.flags.writeable = False
    return column


def _first_not_whole(array: NDArray[Any]) -> object:
    values = array.tolist()
    return next((x for x in values if not isinstance(x, int) and x != _rounded(x)), values[0])


def _rounded(value: Any) -> object:
    return round(value) if isinstance(value, float) and math.isfinite(value) else None


def _repeated(ids: Column) -> int:
    values, counts = np.unique(ids, return_counts=True)
    return int(values[counts > 1][0])


def _milliseconds(value: Any, name: str, *, infinite: bool = False) -> NDArray[np.int64]:
    accepted = "times of at least 0, one a job, in a unit such as s"
    try:
        times = np.atleast_1d(np.asarray(quantity(value, name, accepted).to("ms").magnitude, dtype=float))
    except (pint.PintError, TypeError, ValueError) as error:
        raise InvalidInput(name, value, accepted) from error
    times = np.minimum(times, UNLIMITED) if infinite else times
    if not (np.isfinite(times).all() and (times <= UNLIMITED).all()):
        raise InvalidInput(name, value, accepted)
    return cast(Column, np.rint(times).astype(np.int64))


__all__ = ["NEVER", "UNLIMITED", "Column", "Jobs", "Schedule", "bounded_slowdown"]
