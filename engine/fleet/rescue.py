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
from engine.fleet.node_scheduler import NodeScheduler


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
    windows = _Windows(fleet, fleet.nodes_needed(row))
    priority = fleet.priority[row]
    for job in fleet.running():
        if fleet.priority[job] >= priority:
            windows.forbid(job)
        else:
            windows.add(job, fleet.gpus[job] * (now - fleet.start[job]))
    nodes = windows.least()
    if not nodes:
        return None
    victims = tuple(sorted(job for job in fleet.running() if fleet.nodes_of(job) & nodes))
    return Eviction(nodes, victims, sum(fleet.gpus[job] * (now - fleet.start[job]) for job in victims))


def plan_migration(fleet: NodeScheduler, row: int) -> Migration | None:
    """Choose the window with the fewest jobs and a new node for each, or None if they do not all fit.

    Movers go by size descending, then node, then row, each by best fit outside the window. Where one does
    not fit, an outside node that holds only smaller jobs is cleared first: the one with the least GPU time
    left by the estimates, since the tax is a share of it (ties: lowest index). Its jobs become movers.
    Jobs of more than one node are not moved.
    """
    windows = _Windows(fleet, fleet.nodes_needed(row))
    for job in fleet.running():
        if job in fleet.held:
            windows.forbid(job)
        else:
            windows.add(job, 1)
    nodes = windows.least()
    return _Refit(fleet, nodes).migration() if nodes else None


class _Windows:
    """A cost for every window of `length` healthy nodes, summed job by job."""

    def __init__(self, fleet: NodeScheduler, length: int) -> None:
        self._fleet = fleet
        self._length = length
        self._healthy = fleet.fleet.healthy()
        self._position = {node: i for i, node in enumerate(self._healthy)}
        self._cost = [0] * (len(self._healthy) + 1)
        self._forbidden = [0] * (len(self._healthy) + 1)

    def add(self, job: int, cost: int) -> None:
        """Add the cost of a job to every window that holds one of its nodes, once."""
        self._spread(self._cost, job, cost)

    def forbid(self, job: int) -> None:
        """Leave out every window that holds one of the job's nodes."""
        self._spread(self._forbidden, job, 1)

    def least(self) -> int:
        """Return the nodes of the cheapest allowed window as a set, or 0 if there is none."""
        count = len(self._healthy) - self._length + 1
        if count < 1:
            return 0
        cost: NDArray[np.int64] = np.cumsum(self._cost[:count], dtype=np.int64)
        cost[np.cumsum(self._forbidden[:count]) > 0] = np.iinfo(np.int64).max
        start = int(np.argmin(cost))
        if cost[start] == np.iinfo(np.int64).max:
            return 0
        return mask_of(self._healthy[start : start + self._length])

    def _spread(self, steps: list[int], job: int, amount: int) -> None:
        reached = -1  # windows up to here already have this job
        for node in members(self._fleet.nodes_of(job)):
            at = self._position[node]
            first = max(at - self._length + 1, reached + 1, 0)
            steps[first] += amount
            steps[at + 1] -= amount
            reached = at


class _Refit:
    """Finds new nodes for the jobs of a window, on a copy of the free counts."""

    def __init__(self, fleet: NodeScheduler, window: int) -> None:
        self._fleet = fleet
        self._window = window
        self._boards = [board & ~window for board in fleet.fleet.boards]
        self._jobs: dict[int, list[int]] = {}  # of the outside nodes that may be cleared
        self._movers: list[tuple[int, int, int]] = []  # (−size, node, row), sorted
        self._clearable: dict[int, list[tuple[int, int]]] = {}  # by the mover's size: (GPU time left, node)
        for job in fleet.running():
            node = fleet.place[job] >> 8
            if job in fleet.held:
                continue
            if window >> node & 1:
                insort(self._movers, (-fleet.size[job], node, job))
            else:
                self._jobs.setdefault(node, []).append(job)

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
        bit = self._fleet.fleet.bit[node]
        free = next(f for f, board in enumerate(self._boards) if board & bit)
        self._boards[free] ^= bit
        self._boards[free + freed] ^= bit
