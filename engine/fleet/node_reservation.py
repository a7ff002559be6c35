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
from engine.fleet.node_parts import FOREVER

if TYPE_CHECKING:
    from engine.fleet.node_state import NodeState

NEVER_CLEAR = 2**62
FIRST_LOOK = 100
"""Of how many running jobs the estimated ends are sorted at first."""


class Reservation:
    """The reservation of the head of the line, made when asked for and kept while it holds."""

    def __init__(self, state: NodeState) -> None:
        self._run = state
        self._row = -1
        self._shadow = 0
        self._nodes = 0
        self._outside = -1
        self._soonest: list[int] = []  # estimated end << shift | row of running jobs, sorted, up to this key:
        self._known = -1
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

    def drop(self) -> None:
        """Forget all: the line is empty, or running jobs changed in another way than by ending."""
        self._row, self._soonest, self._known, self._clear = -1, [], -1, None

    def started(self, row: int) -> None:
        """Learn of a job that started; it was chosen so that the reservation holds."""
        limit = self._run.limit[row]
        key = limit << self._run.shift | row
        if key <= self._known:
            insort(self._soonest, key)
        clear = self._clear
        if clear is not None:
            for node in self._nodes_of(row):
                if limit > clear[node]:
                    clear[node] = limit

    def ended(self, row: int, nodes: Iterable[int]) -> None:
        """Learn of a job that ended, and move the reservation if it can come sooner."""
        run = self._run
        key = run.limit[row] << run.shift | row
        if key <= self._known:
            del self._soonest[bisect_left(self._soonest, key)]
        if self._row < 0 and self._clear is None:
            return
        whole = self._row < 0 or run.size[self._row] > run.fleet.gpus_per_node
        for node in nodes:
            if self._clear is not None and run.limit[row] >= self._clear[node]:
                self._cleared(node)
            if not whole:
                time = self._room_time(node, run.size[self._row])
                if (time, node) < (self._shadow, self._nodes.bit_length() - 1):
                    self._shadow, self._nodes = time, run.fleet.bit[node]
                    self._outside = ~self._nodes

    def _nodes_of(self, row: int) -> Iterable[int]:
        nodes = self._run.held.get(row)
        return members(nodes) if nodes else (self._run.place[row] >> 8,)

    def _cleared(self, node: int) -> None:
        """Learn that the job that was to be the last of a node has left it."""
        run, clear = self._run, self._clear
        assert clear is not None
        before = clear[node]
        clear[node] = max((run.limit[r] for r in run.rows_on(node)), default=0)
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
        if self._clear is None:
            self._clear = array("q", bytes(8 * run.fleet.nodes))
            rows = run.running_rows()
            rows = rows[np.frombuffer(run.place, np.int64)[rows] >= 0]
            nodes, limits = (np.frombuffer(column, np.int64)[rows] for column in (run.place, run.limit))
            np.maximum.at(np.frombuffer(self._clear, np.int64), nodes >> 8, limits)
            for row, held in run.held.items():
                for node in members(held):
                    self._clear[node] = run.limit[row]
        clear = np.frombuffer(self._clear, dtype=np.int64)
        healthy = np.array(run.fleet.healthy(), np.int64) if run.fleet.failed else np.arange(run.fleet.nodes)
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
        place, shift, last_row = run.place, run.shift, run.timetable.last_row
        room: dict[int, int] = {}
        best, best_time, at = -1, NEVER_CLEAR, 0
        while True:
            if at == len(self._soonest):
                settled = best >= 0 and best_time <= self._known >> shift
                if settled or not self._look_further():
                    break
            key = self._soonest[at]
            time = max(key >> shift, now)
            if time > best_time:
                break
            at += 1
            row = key & last_row
            if place[row] >= 0:
                node, freed = place[row] >> 8, run.size[row]
            else:  # a job of whole nodes: its lowest one stands for all
                nodes = run.held[row]
                node, freed = (nodes & -nodes).bit_length() - 1, fleet.gpus_per_node
            room[node] = room.get(node, fleet.free_on(node)) + freed
            if room[node] >= size and (best < 0 or node < best):
                best, best_time = node, time
        self._shadow, self._nodes = best_time, fleet.bit[best] if best >= 0 else 0

    def _look_further(self) -> bool:
        """Take in more of the running jobs by their estimated ends, and return whether there were more.

        The room that is wanted is found among the first ends of thousands, so the others are not sorted.
        """
        run = self._run
        rows = run.running_rows()
        if rows.size <= len(self._soonest):
            return False
        limits = np.frombuffer(run.limit, np.int64)[rows]
        wanted = 2 * len(self._soonest) + FIRST_LOOK
        until = int(np.partition(limits, wanted)[wanted]) if wanted < rows.size else int(limits.max())
        near = limits <= until
        pairs = zip(limits[near].tolist(), rows[near].tolist(), strict=True)
        self._soonest = sorted(limit << run.shift | row for limit, row in pairs)
        self._known = (
            (until << run.shift | run.timetable.last_row) if wanted < rows.size else FOREVER << run.shift
        )
        return True

    def _room_time(self, node: int, size: int) -> int:
        """Return when, by the estimates, a node has room for `size` GPUs.

        0 if it has now, and `NEVER_CLEAR` if not before the shadow that is known.
        """
        run, fleet = self._run, self._run.fleet
        need = size - fleet.free_on(node)
        if need <= 0:
            return 0
        limit, shadow = run.limit, self._shadow
        soon = [(limit[row], row) for row in run.rows_on(node) if limit[row] <= shadow]
        for time, row in sorted(soon):
            need -= min(run.size[row], fleet.gpus_per_node)
            if need <= 0:
                return time
        return NEVER_CLEAR


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
