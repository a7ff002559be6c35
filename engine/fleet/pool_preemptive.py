"""Priority with preemption on a pool: an urgent job may stop others, which queue again where they were."""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass
from heapq import heappop, heappush

from engine.fleet.jobs import NEVER, Column, Jobs, Schedule
from engine.fleet.pool import Workload
from engine.fleet.pool_skip import by_priority
from engine.fleet.preemption import Running, choose_victims, kept_ms, lost_unit_ms
from engine.units import whole


@dataclass(frozen=True, eq=False)
class PreemptiveSchedule:
    """A schedule in which jobs were stopped and resumed, and what that cost.

    Parameters
    ----------
    schedule: first start and last end of each job; the units are not held throughout.
    preemptions: shape `(jobs,)`, how often each job was stopped.
    lost_unit_ms: shape `(jobs,)`, the work each had to do again, in unit-milliseconds.
    """

    schedule: Schedule
    preemptions: Column
    lost_unit_ms: Column


def preemptive(
    jobs: Jobs, units: int, *, kill_at_limit: bool = True, checkpoint_every_ms: int | None = None
) -> PreemptiveSchedule:
    """Run the jobs in the order (highest priority, submit, id); who does not fit may stop lower priorities.

    Victims are chosen as `choose_victims` does. They queue again with their original submit time, and start
    again from their last checkpoint, or from zero. A job that is blocked all the same is skipped. A limit
    counts the time that a job has worked for good: what it loses is not held against it.

    Parameters
    ----------
    units: units of the machine.
    kill_at_limit: whether a job is stopped for good when it has worked as long as its estimate.
    checkpoint_every_ms: every job saves its work this long after each start, and again; never if absent.

    Raises
    ------
    InvalidInput: for `units` or `checkpoint_every_ms` below 1.
    """
    if checkpoint_every_ms is not None:
        checkpoint_every_ms = whole(checkpoint_every_ms, "checkpoint_every_ms", low=1)
    work = Workload.of(jobs, units, kill_at_limit)
    return _Preemption(work, checkpoint_every_ms).outcome()


class _Preemption:
    """The event loop: that of a pool, but an end that has been planned may be called off."""

    def __init__(self, work: Workload, checkpoint_every_ms: int | None) -> None:
        self._work, self._checkpoint_every = work, checkpoint_every_ms
        count = len(work.size)
        self._rank = by_priority(work)
        self._priority: list[int] = work.jobs.priority[work.rows].tolist()
        self._left = list(work.run)
        self._stops, self._lost = [0] * count, [0] * count
        self._start, self._end, self._order = [NEVER] * count, [NEVER] * count, list[int]()
        self._free = work.units
        self._waiting: list[tuple[int, int]] = []
        self._running: dict[int, Running] = {}
        self._ends: list[tuple[int, int, int]] = []

    def outcome(self) -> PreemptiveSchedule:
        arrived, submit = 0, self._work.submit
        while arrived < len(submit) or self._ends:
            now = min([end for end, *_ in self._ends[:1]] + submit[arrived : arrived + 1])
            self._release(now)
            while arrived < len(submit) and submit[arrived] == now:
                insort(self._waiting, (self._rank[arrived], arrived))
                arrived += 1
            self._pass(now)
        return PreemptiveSchedule(
            self._work.schedule(self._start, self._order, self._end),
            self._work.column(self._stops),
            self._work.column(self._lost),
        )

    def _release(self, now: int) -> None:
        """End the jobs whose work is done; an end planned before the job was stopped is void."""
        while self._ends and self._ends[0][0] == now:
            _, job, stops = heappop(self._ends)
            if stops == self._stops[job]:
                del self._running[job]
                self._free += self._work.size[job]
                self._end[job] = now

    def _pass(self, now: int) -> None:
        """Scan the queue; victims join it behind the job that stopped them, since they rank lower."""
        position = 0
        while position < len(self._waiting):
            job = self._waiting[position][1]
            size = self._work.size[job]
            for victim in choose_victims(self._running.values(), self._free, size, self._priority[job]):
                self._stop(victim, now)
            if size <= self._free:
                del self._waiting[position]
                self._begin(job, now)
            else:
                position += 1

    def _begin(self, job: int, now: int) -> None:
        size = self._work.size[job]
        self._free -= size
        self._running[job] = Running(job, size, self._priority[job], now)
        heappush(self._ends, (now + self._left[job], job, self._stops[job]))
        if self._start[job] == NEVER:
            self._start[job] = now
            self._order.append(job)

    def _stop(self, victim: Running, now: int) -> None:
        job = victim.id
        del self._running[job]
        self._free += victim.size
        self._left[job] -= kept_ms(now - victim.start_ms, self._checkpoint_every)
        self._lost[job] += lost_unit_ms(victim, now, self._checkpoint_every)
        self._stops[job] += 1
        insort(self._waiting, (self._rank[job], job))


__all__ = ["PreemptiveSchedule", "preemptive"]
