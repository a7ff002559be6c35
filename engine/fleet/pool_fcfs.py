"""First come, first served: nobody passes a blocked head."""

from __future__ import annotations

from heapq import heappop, heappush

from engine.fleet.jobs import Schedule
from engine.fleet.pool import Workload


def start_in_order(work: Workload) -> Schedule:
    """Start jobs strictly in the order of the queue, each as soon as it fits.

    Since nobody overtakes, no event loop is needed: job j starts at the first instant that is not before
    its submit time, not before the start of job j − 1, and at which enough units are free. The ends that
    came before that instant are taken off a heap, each once, so that n jobs cost n log(running).
    """
    free, now = work.units, 0
    ends: list[tuple[int, int]] = []
    start: list[int] = []
    for submit, size, run in zip(work.submit, work.size, work.run, strict=True):
        now = max(now, submit)
        while ends and ends[0][0] <= now:
            free += heappop(ends)[1]
        while free < size:
            now, released = heappop(ends)
            free += released
        free -= size
        start.append(now)
        heappush(ends, (now + run, size))
    return work.schedule(start, range(len(start)))


__all__ = ["start_in_order"]
