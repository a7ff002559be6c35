"""EASY backfilling: whoever does not delay the blocked head may pass it.

Source: Lifka, The ANL/IBM SP Scheduling System, JSSPP 1995; Mu'alem and Feitelson, IEEE TPDS 12(6), 2001.
"""

from __future__ import annotations

from engine.fleet.pool import Workload
from engine.fleet.pool_backlog import Backlog
from engine.fleet.pool_reservation import Reservation


class Easy:
    """Start heads while they fit; then let later jobs pass the blocked head if it is not delayed.

    Shadow is the earliest time at which enough units are free for the head if every running job ends at its
    estimated end; extra is what is left over then. A job passes if it fits now and either ends by the shadow
    (now + estimate ≤ shadow) or takes no more than the extra units, which it then uses up. Both are taken
    afresh at every event, from estimates, never from real run times.
    """

    def __init__(self, work: Workload) -> None:
        self._size, self._estimate = work.size, work.estimate
        self._backlog = Backlog(work.size, work.estimate)
        self._reservation = Reservation(work.units, work.size)
        self._planned_end = [0] * len(work.size)
        self._shadow = 0

    def pick(self, now: int, free: int, arrived: range, ended: list[int]) -> list[int]:
        """Return the jobs that start, heads first."""
        backlog = self._backlog
        for job in ended:
            self._reservation.end(job, self._planned_end[job])
        if backlog.count and not ended and now <= self._shadow:
            return self._newcomers(now, free, arrived)
        started, free = self._heads(now, free, arrived)
        if backlog.count:
            self._shadow, extra = self._reservation.shadow(self._size[backlog.head], now)
            for job in backlog.take(free, self._shadow - now, extra) if free else ():
                self._start(job, now)
                started.append(job)
        return started

    def _heads(self, now: int, free: int, arrived: range) -> tuple[list[int], int]:
        """Start jobs in order until one does not fit, and queue the newcomers that did not start.

        Returns the jobs that started and the units still free.
        """
        started: list[int] = []
        backlog, size = self._backlog, self._size
        while backlog.count and size[backlog.head] <= free:
            free -= size[backlog.head]
            started.append(backlog.pop_head())
        for job in arrived:
            if not backlog.count and size[job] <= free:
                free -= size[job]
                started.append(job)
            else:
                backlog.add(job)
        for job in started:
            self._start(job, now)
        return started, free

    def _newcomers(self, now: int, free: int, arrived: range) -> list[int]:
        """Let jobs that have just arrived pass the head.

        Nothing has ended, so the shadow and the extra units are what they were, time has only run on, and
        whoever could not pass before cannot now. (Past the shadow, when a job outran its estimate, that no
        longer holds.)
        """
        started: list[int] = []
        for job in arrived:
            if self._size[job] <= free and self._may_pass(job, now):
                free -= self._size[job]
                self._start(job, now)
                started.append(job)
            else:
                self._backlog.add(job)
        return started

    def _may_pass(self, job: int, now: int) -> bool:
        shadow, extra = self._reservation.shadow(self._size[self._backlog.head], now)
        return now + self._estimate[job] <= shadow or self._size[job] <= extra

    def _start(self, job: int, now: int) -> None:
        self._planned_end[job] = now + self._estimate[job]
        self._reservation.start(job, self._planned_end[job])


__all__ = ["Easy"]
