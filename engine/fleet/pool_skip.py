"""Queues without a reservation: blocked jobs are skipped, or wait their turn by priority."""

from __future__ import annotations

from bisect import insort

import numpy as np

from engine.fleet.pool import Workload


class Skip:
    """Scan the waiting jobs in rank order and start whatever fits now.

    Parameters
    ----------
    rank: shape `(jobs,)`, distinct; the smallest is scanned first. The order of the queue if absent.
    blocked_waits: whether a job that does not fit stops all jobs behind it (they are skipped past it
        otherwise).
    """

    def __init__(self, work: Workload, rank: list[int] | None = None, *, blocked_waits: bool = False) -> None:
        self._size = work.size
        self._rank = rank or list(range(len(work.size)))
        self._waiting: list[tuple[int, int]] = []
        self._blocked_waits = blocked_waits

    def pick(self, now: int, free: int, arrived: range, ended: list[int]) -> list[int]:
        """Return the jobs that start, in rank order."""
        for job in arrived:
            insort(self._waiting, (self._rank[job], job))
        started: list[int] = []
        kept: list[tuple[int, int]] = []
        for position, entry in enumerate(self._waiting):
            if self._size[entry[1]] <= free:
                free -= self._size[entry[1]]
                started.append(entry[1])
            else:
                kept.append(entry)
            if free == 0 or (kept and self._blocked_waits):
                kept += self._waiting[position + 1 :]
                break
        self._waiting = kept
        return started


def by_priority(work: Workload) -> list[int]:
    """Return the rank of each job when the queue is ordered by (highest priority, submit, id)."""
    order = np.argsort(-work.jobs.priority[work.rows], kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    ranks: list[int] = rank.tolist()
    return ranks


__all__ = ["Skip", "by_priority"]
