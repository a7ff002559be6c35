"""What an operator can do for a job that needs neighbouring nodes: kill what is in the way, or move it.

Definitions 5 to 7 of Act I. Windows are runs of healthy nodes in fabric order; failed nodes are passed over.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass
from heapq import heapify, heappop

import numpy as np
from numpy.typing import NDArray

from engine.fleet.bits import mask_of, members
from engine.fleet.jobs import Column
from engine.fleet.node_scheduler import NodeScheduler

_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Eviction:
    """The window that costs least to clear: its nodes (a set), the victims and the GPU-ms they lose."""

    nodes: int
    victims: tuple[int, ...]
    lost: int


@dataclass(frozen=True, slots=True)
class Migration:
    """The window with the fewest jobs, and where each job goes: (row, from node, to node), in order."""

    nodes: int
    moves: tuple[tuple[int, int, int], ...]


def cheapest_eviction(fleet: NodeScheduler, row: int, now: int) -> Eviction | None:
    """Choose the window for a blocked job that loses the least work, or None if no window may be cleared.

    Cost of a window = Σ over its jobs, each once, of GPUs × (now − start): they have no checkpoints. Ties
    go to the lowest start. Windows that hold a job of the same or a higher priority are not considered.
    """
    rows = fleet.running_rows()
    gpus, start, priority = (
        np.frombuffer(column, np.int64) for column in (fleet.gpus, fleet.start, fleet.priority)
    )
    cost = gpus[rows] * (now - start[rows])
    windows = _Windows(fleet, fleet.nodes_needed(row))
    nodes = windows.least(rows, cost, forbidden=priority[rows] >= priority[row])
    if not nodes:
        return None
    hit = [fleet.nodes_of(job) & nodes > 0 for job in rows.tolist()]
    return Eviction(nodes, tuple(sorted(rows[hit].tolist())), int(cost[hit].sum()))


def plan_migration(fleet: NodeScheduler, row: int) -> Migration | None:
    """Choose the window with the fewest jobs and a new node for each, or None if they do not all fit.

    Movers go by size descending, then node, then row, each by best fit outside the window. Where one does
    not fit, an outside node that holds only smaller jobs is cleared first: the one with the least GPU time
    left by the estimates, since the tax is a share of it (ties: lowest index). Its jobs become movers.
    Jobs of more than one node are not moved.
    """
    rows = fleet.running_rows()
    wide = np.isin(rows, list(fleet.held))
    nodes = _Windows(fleet, fleet.nodes_needed(row)).least(rows, np.ones_like(rows), forbidden=wide)
    return _Refit(fleet, nodes).migration() if nodes else None


class _Windows:
    """A cost for every window of `length` healthy nodes, summed job by job."""

    def __init__(self, fleet: NodeScheduler, length: int) -> None:
        self._fleet = fleet
        self._length = length
        self._healthy = fleet.fleet.healthy()
        self._position = np.zeros(fleet.fleet.nodes, np.int64)
        self._position[self._healthy] = np.arange(len(self._healthy))

    def least(self, rows: Column, cost: Column, forbidden: NDArray[np.bool_]) -> int:
        """Return the nodes of the cheapest window without a forbidden job as a set, or 0 if there is none."""
        count = len(self._healthy) - self._length + 1
        if count < 1:
            return 0
        total = self._over_windows(rows[~forbidden], cost[~forbidden])[:count]
        total[self._over_windows(rows[forbidden], np.ones_like(rows[forbidden]))[:count] > 0] = _NEVER
        start = int(np.argmin(total))
        return 0 if total[start] == _NEVER else mask_of(self._healthy[start : start + self._length])

    def _over_windows(self, rows: Column, cost: Column) -> Column:
        """Return Σ cost over the jobs of each window, by its start: each job once, wherever it has nodes."""
        place = np.frombuffer(self._fleet.place, np.int64)[rows]
        steps = np.zeros(len(self._healthy) + 1, np.int64)
        single = place >= 0
        at = self._position[place[single] >> 8]
        np.add.at(steps, np.maximum(at - self._length + 1, 0), cost[single])
        np.subtract.at(steps, at + 1, cost[single])
        for row, amount in zip(rows[~single].tolist(), cost[~single].tolist(), strict=True):
            reached = -1  # windows up to here already have this job
            for node in members(self._fleet.held[row]):
                position = self._position[node]
                steps[max(position - self._length + 1, reached + 1, 0)] += amount
                steps[position + 1] -= amount
                reached = position
        return np.cumsum(steps)


class _Refit:
    """Finds new nodes for the jobs of a window, on a copy of the free counts."""

    def __init__(self, fleet: NodeScheduler, window: int) -> None:
        self._fleet = fleet
        self._window = window
        self._boards = [board & ~window for board in fleet.fleet.boards]
        self._free = [fleet.fleet.free_of[busy] for busy in fleet.fleet.busy]
        self._jobs: dict[int, list[int]] = {}  # of the outside nodes that may be cleared
        self._movers: list[tuple[int, int, int]] = []  # (−size, node, row), sorted
        self._clearable: dict[int, list[tuple[int, int]]] = {}  # by the mover's size: (GPU time left, node)
        rows = fleet.running_rows()
        place = np.frombuffer(fleet.place, np.int64)[rows]
        single = place >= 0
        for job, node in zip(rows[single].tolist(), (place[single] >> 8).tolist(), strict=True):
            if window >> node & 1:
                self._movers.append((-fleet.size[job], node, job))
            else:
                self._jobs.setdefault(node, []).append(job)
        self._movers.sort()

    def migration(self) -> Migration | None:
        """Return the moves, or None as soon as one job has nowhere to go."""
        moves: list[tuple[int, int, int]] = []
        while self._movers:
            minus_size, node, job = self._movers.pop(0)
            target = self._best_fit(-minus_size)
            if target < 0:
                target = self._clear(-minus_size)
            if target < 0:
                return None
            self._change(target, minus_size)
            self._jobs.setdefault(target, []).append(job)
            moves.append((job, node, target))
        return Migration(self._window, tuple(moves))

    def _best_fit(self, size: int) -> int:
        for board in self._boards[size:]:
            if board:
                return (board & -board).bit_length() - 1
        return -1

    def _clear(self, size: int) -> int:
        """Empty the outside node of smaller jobs with the least GPU time left, or return -1.

        While movers of one size go, a node changes only by taking one in, which rules it out: so the nodes
        are ordered once for each size.
        """
        if size not in self._clearable:
            found = [node for node in self._jobs if self._only_smaller(node, size)]
            self._clearable[size] = [(sum(map(self._left, self._jobs[node])), node) for node in found]
            heapify(self._clearable[size])
        while self._clearable[size]:
            _, node = heappop(self._clearable[size])
            if self._only_smaller(node, size):
                for job in self._jobs.pop(node):
                    insort(self._movers, (-self._fleet.size[job], node, job))
                    self._change(node, self._fleet.size[job])
                return node
        return -1

    def _only_smaller(self, node: int, size: int) -> bool:
        jobs = self._jobs.get(node)
        return bool(jobs) and all(self._fleet.size[job] < size for job in jobs or ())

    def _left(self, job: int) -> int:
        return self._fleet.size[job] * (self._fleet.limit[job] - self._fleet.now)

    def _change(self, node: int, freed: int) -> None:
        bit, free = self._fleet.fleet.bit[node], self._free[node]
        self._boards[free] ^= bit
        self._boards[free + freed] ^= bit
        self._free[node] = free + freed
