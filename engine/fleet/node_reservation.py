"""EASY's reservation on nodes: when the blocked head can start by the estimates, and on which nodes.

One node: the earliest node with room, ties to the lowest index. k whole nodes: the time by which k are
clear, then the lowest k that are. k neighbouring nodes: the window of healthy nodes whose latest estimated
end is least, ties to the lowest start.

Estimates never run out unnoticed when limits are enforced, so a reservation only ever moves earlier, and
only when the job that ends was in its way: it is kept until then.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from engine.fleet.bits import members

if TYPE_CHECKING:
    from engine.fleet.node_loop import NodeLoop

NEVER_CLEAR = 2**62


class Reservation:
    """The reservation of the head of the line, made when asked for and kept while it holds."""

    def __init__(self, scheduler: NodeLoop) -> None:
        self._run = scheduler
        self._row = -1
        self._shadow = 0
        self._nodes = 0
        self._outside = -1
        self._by_end: list[int] | None = None  # estimated end << shift | row of every running job, sorted
        self._clear: array[int] | None = None  # latest estimated end on each node, 0 on an empty one

    def bounds(self, row: int, now: int) -> tuple[int, int]:
        """Return (shadow time, the nodes outside the reservation) for a blocked head."""
        if row != self._row or not self._run.kill_at_limit:
            self._row = row
            self._make(now)
            self._outside = ~self._nodes
        return self._shadow, self._outside

    def blocks(self, row: int, now: int) -> bool:
        """Return whether the reservation at hand already says that this head cannot start now."""
        return row == self._row and self._shadow > now and self._run.kill_at_limit

    def forget(self) -> None:
        """Another job leads the line now."""
        self._row = -1

    def drop(self) -> None:
        """Forget all: the line is empty, or running jobs changed in another way than by ending."""
        self._row, self._by_end, self._clear = -1, None, None

    def started(self, row: int) -> None:
        """Learn of a job that started; it was chosen so that the reservation holds."""
        limit = self._run.limit[row]
        if self._by_end is not None:
            insort(self._by_end, limit << self._run.shift | row)
        clear = self._clear
        if clear is not None:
            for node in self._nodes_of(row):
                if limit > clear[node]:
                    clear[node] = limit

    def ended(self, row: int, nodes: int) -> None:
        """Learn of a job that ended, and move the reservation if it can come sooner."""
        run = self._run
        if self._by_end is not None:
            del self._by_end[bisect_left(self._by_end, run.limit[row] << run.shift | row)]
        if self._clear is not None:
            self._cleared(row, nodes)
        if self._row >= 0 and run.size[self._row] <= run.fleet.gpus_per_node:
            for node in members(nodes):
                time = self._room_time(node, run.size[self._row])
                if (time, node) < (self._shadow, self._nodes.bit_length() - 1):
                    self._shadow, self._nodes = time, run.fleet.bit[node]
                    self._outside = ~self._nodes

    def _nodes_of(self, row: int) -> Iterable[int]:
        nodes = self._run.held.get(row)
        return members(nodes) if nodes else (self._run.place[row] >> 8,)

    def _cleared(self, row: int, nodes: int) -> None:
        run, clear = self._run, self._clear
        assert run.on_node is not None and clear is not None
        if nodes & nodes - 1 == 0 and run.limit[row] < clear[nodes.bit_length() - 1]:
            return  # one node, and a later job still runs there
        for node in members(nodes):
            before = clear[node]
            clear[node] = max((run.limit[r] for r in run.on_node[node]), default=0)
            if before >= self._shadow >= clear[node] and run.size[self._row] > run.fleet.gpus_per_node:
                self._row = -1

    def _make(self, now: int) -> None:
        size, whole = self._run.size[self._row], self._run.fleet.gpus_per_node
        if size <= whole:
            self._make_one(size, now)
        else:
            self._make_whole(-(-size // whole), now)

    def _make_whole(self, count: int, now: int) -> None:
        run = self._run
        assert run.on_node is not None
        if self._clear is None:
            late = (max((run.limit[r] for r in rows), default=0) for rows in run.on_node)
            self._clear = array("q", late)
        clear = np.frombuffer(self._clear, dtype=np.int64)
        healthy = np.array(run.fleet.healthy()) if run.fleet.failed else np.arange(run.fleet.nodes)
        times = clear[healthy]
        times = np.where(times > 0, np.maximum(times, now), 0)
        self._shadow, self._nodes = NEVER_CLEAR, 0
        if count > healthy.size:
            return
        if self._row in run.contiguous:
            latest = window_max(times, count)
            start = int(np.argmin(latest))
            self._shadow, chosen = int(latest[start]), healthy[start : start + count]
        else:
            self._shadow = int(np.partition(times, count - 1)[count - 1])
            chosen = healthy[times <= self._shadow][:count]
        self._nodes = sum(1 << node for node in chosen.tolist())

    def _make_one(self, size: int, now: int) -> None:
        """Walk the estimated ends in order until a node has room; ties go to the lowest index."""
        run, fleet = self._run, self._run.fleet
        if self._by_end is None:
            self._by_end = sorted(run.limit[r] << run.shift | r for r in run.running())
        room: dict[int, int] = {}
        best, best_time = -1, NEVER_CLEAR
        for key in self._by_end:
            time = max(key >> run.shift, now)
            if time > best_time:
                break
            row = key & (1 << run.shift) - 1
            nodes = run.nodes_of(row)
            node = (nodes & -nodes).bit_length() - 1
            freed = fleet.gpus_per_node if row in run.held else run.size[row]
            room[node] = room.get(node, fleet.free_of[fleet.busy[node]]) + freed
            if room[node] >= size and (best < 0 or node < best):
                best, best_time = node, time
        self._shadow, self._nodes = best_time, fleet.bit[best] if best >= 0 else 0

    def _room_time(self, node: int, size: int) -> int:
        """Return when, by the estimates, a node has room for `size` GPUs; 0 if it has now."""
        run = self._run
        assert run.on_node is not None
        free = run.fleet.free_of[run.fleet.busy[node]]
        for limit, row in sorted((run.limit[r], r) for r in run.on_node[node]):
            if free >= size:
                return 0
            free += min(run.size[row], run.fleet.gpus_per_node)
            if free >= size:
                return limit
        return 0


def window_max(
    values: np.ndarray[tuple[int], np.dtype[np.int64]], width: int
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the maximum over every window of `width` neighbours, shape `(n − width + 1,)`."""
    have, top = 1, values
    while have < width:
        step = min(have, width - have)
        top = np.maximum(top[:-step], top[step:])
        have += step
    return top
