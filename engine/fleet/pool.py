"""The event loop of a pool: a machine that counts its units and does not ask which node they are on.

At one instant, first ended jobs release their units, then submitted jobs enter the queue, then the
discipline makes one pass and names the jobs to start. A job of no length ends in the instant in which it
starts, and its end is an event like any other: the loop comes back to the same instant.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Protocol, Self

import numpy as np

from engine.fleet.jobs import NEVER, UNLIMITED, Column, Jobs, Schedule
from engine.units import whole

_AFTER_ALL = 4 * UNLIMITED


@dataclass(frozen=True, eq=False)
class Workload:
    """The accepted jobs of a table, numbered 0, 1, 2, … in the order of the queue.

    Plain lists, because the loop reads one number at a time and a list is three times faster at that.

    Parameters
    ----------
    rows: the row of each job in the table.
    submit, size, estimate, run: of each job; with a kill at the limit, `run` ends at the estimate.
    """

    jobs: Jobs
    units: int
    kill_at_limit: bool
    rows: Column
    submit: list[int]
    size: list[int]
    estimate: list[int]
    run: list[int]

    @classmethod
    def of(cls, jobs: Jobs, units: int, kill_at_limit: bool) -> Self:
        """Order the jobs and set aside those that the machine can never hold."""
        units = whole(units, "units", low=1)
        order = jobs.queue_order()
        rows = order[jobs.size[order] <= units]
        columns = (jobs.submit_ms, jobs.size, jobs.estimate_ms, jobs.length_ms(kill_at_limit))
        submit, size, estimate, length = (column[rows].tolist() for column in columns)
        return cls(jobs, units, kill_at_limit, rows, submit, size, estimate, length)

    def schedule(
        self, start: Sequence[int], order: Sequence[int], end: Sequence[int] | None = None
    ) -> Schedule:
        """Return the schedule in which job j starts at `start[j]`, in the order `order`.

        Each job runs without a break unless its `end` is given.
        """
        starts = self.column(start, NEVER)
        ends = self.column(end, NEVER) if end is not None else starts + self.column(self.run, 0)
        rejected = self.jobs.size > self.units
        started = self.rows[np.asarray(order, np.int64)]
        return Schedule(self.jobs, starts, ends, rejected, started, self.kill_at_limit)

    def column(self, values: Sequence[int], rejected: int = 0) -> Column:
        """Return values by job number in the order of the table, with `rejected` for those set aside."""
        column = np.full(len(self.jobs), rejected, np.int64)
        column[self.rows] = values
        return column


class Discipline(Protocol):
    """What a queue does at an event: it keeps the waiting jobs and says which ones start."""

    def pick(self, now: int, free: int, arrived: range, ended: list[int]) -> list[int]:
        """Take in the jobs that arrived and ended at `now`, and return those to start, in order.

        Parameters
        ----------
        free: units that no job holds, after the ends.
        arrived, ended: numbers of jobs in the workload.
        """
        ...


def run_pool(work: Workload, discipline: Discipline, alarms: Iterable[int] = ()) -> Schedule:
    """Run a workload from its first arrival to its last end under a discipline.

    Parameters
    ----------
    alarms: further instants at which the discipline makes a pass.
    """
    size, run = work.size, work.run
    submit = [*work.submit, _AFTER_ALL]
    rings = [_AFTER_ALL, *sorted(alarms, reverse=True)]
    ends = [(_AFTER_ALL, -1)]
    start = [NEVER] * len(size)
    order: list[int] = []
    free, arrived = work.units, 0
    while (now := min(ends[0][0], submit[arrived], rings[-1])) < _AFTER_ALL:
        ended = []
        while ends[0][0] == now:
            job = heappop(ends)[1]
            free += size[job]
            ended.append(job)
        first = arrived
        while submit[arrived] == now:
            arrived += 1
        while rings[-1] == now:
            rings.pop()
        for job in discipline.pick(now, free, range(first, arrived), ended):
            start[job] = now
            free -= size[job]
            order.append(job)
            heappush(ends, (now + run[job], job))
    return work.schedule(start, order)


__all__ = ["Discipline", "Workload", "run_pool"]
