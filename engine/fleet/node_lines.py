"""The waiting lines of a fleet with nodes: first come first served, and plain backfill."""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Iterable, Sequence
from heapq import heappush
from typing import TYPE_CHECKING

import numpy as np

from engine.fleet.jobs import NEVER
from engine.fleet.node_parts import as_array
from engine.fleet.placement import EVERYWHERE, whole_nodes

if TYPE_CHECKING:
    from engine.fleet.node_state import NodeState

NOTED_AT_ONCE = 4096  # more would only be memory


class FirstComeLine:
    """First come, first served: the head starts when it fits, and nobody passes a blocked head.

    Who comes while others wait need not be looked at before the head starts: the loop queues such jobs in
    bulk.
    """

    def __init__(self, state: NodeState) -> None:
        self._run = state
        self._rows: deque[int] = deque()
        self.count = 0
        self.wants = 0

    def add(self, row: int) -> None:
        """Put a job at its place: at the end, or further ahead if it comes back."""
        rows = self._rows
        if rows and row < rows[-1]:
            insort(rows, row)
        else:
            rows.append(row)
        self.count += 1
        self.wants = min(self._run.size[rows[0]], self._run.fleet.gpus_per_node)

    def queue(self, rows: Iterable[int]) -> None:
        """Put jobs behind the blocked head, in order."""
        self._rows.extend(rows)
        self.count = len(self._rows)

    def remove(self, row: int) -> None:
        """Take a job out of the line."""
        self._rows.remove(row)
        self.count -= 1
        self.wants = 0

    def holds(self, row: int) -> bool:
        """Return whether a job is in the line."""
        return row in self._rows

    def serve(self, now: int) -> None:
        """Start heads while they fit.

        As in the loop, what `start_one` does is written out: it is done by the thousand.
        """
        rows, run, fleet = self._rows, self._run, self._run.fleet
        size, length, start, place = run.size, run.run, run.start, run.place
        boards, busy, bit, slots_of = fleet.boards, fleet.busy, fleet.bit, fleet.slots_of
        started, most, top = [], fleet.gpus_per_node, fleet.gpus_per_node
        while rows:
            head = rows[0]
            gpus = size[head]
            if gpus > top:
                self.count = len(rows)
                if not run.try_start(head, now):
                    break
                rows.popleft()
                continue
            if run.most_free_first:
                while most >= gpus and not boards[most]:  # it only falls while jobs start
                    most -= 1
                if most < gpus:
                    break
                free, node = most, (boards[most] & -boards[most]).bit_length() - 1
            else:
                node = run.pick(gpus, EVERYWHERE)
                if node < 0:
                    break
                free = fleet.free_on(node)
            was = busy[node]
            slots = slots_of[gpus][was]
            boards[free] ^= bit[node]
            boards[free - gpus] ^= bit[node]
            busy[node] = was | slots
            place[head] = node << 8 | slots
            if start[head] != NEVER:
                run.first_start.setdefault(head, start[head])
            start[head] = now
            heappush(run.ends, now + length[head] << run.shift | head)
            started.append(head)
            rows.popleft()
        run.late.update(started)
        run.started += started
        if len(run.started) > NOTED_AT_ONCE:
            run.note_started()
        self.count = len(rows)
        self.wants = min(size[rows[0]], top) if rows else 0

    def ordered(self, rows: range) -> range:
        """They start in the order in which they came."""
        return rows

    def fleet_changed(self) -> None:
        """Nothing to learn: the line looks at the fleet when it serves."""


class BackfillLine:
    """Jobs of a kind (size, contiguous or not) wait in one lane; the earliest that fits goes first.

    Starting one job only takes room away, so taking the earliest eligible job again and again is the same
    as one scan of the whole queue in order.
    """

    def __init__(self, state: NodeState, *, by_priority: bool) -> None:
        self._run = state
        self._fleet = state.fleet
        self._lanes: dict[int, list[int]] = {}
        self.count = 0
        self.wants = 0
        self._row_at: Sequence[int] = range(len(state.size))
        self._rank: Sequence[int] = self._row_at
        if by_priority:
            order = np.argsort(-np.array(state.priority, np.int64), kind="stable")
            rank = np.empty_like(order)
            rank[order] = np.arange(order.size)
            self._row_at, self._rank = as_array(order), as_array(rank)

    def add(self, row: int) -> None:
        """Put a job into its lane."""
        kind = self._kind(row)
        insort(self._lanes.setdefault(kind, []), self._rank[row])
        self.count += 1
        self._weigh()

    def remove(self, row: int) -> None:
        """Take a job out of the line."""
        self._forget(self._rank[row])
        self.fleet_changed()

    def holds(self, row: int) -> bool:
        """Return whether a job is in the line."""
        return self._rank[row] in self._lanes.get(self._kind(row), ())

    def ordered(self, rows: range) -> Iterable[int]:
        """Return the rows by rank."""
        return sorted(rows, key=self._rank.__getitem__)

    def serve(self, now: int) -> None:
        """Start the earliest that fits, until none does."""
        while (rank := self._next()) >= 0:
            self._run.try_start(self._row_at[rank], now)
            self._forget(rank)

    def fleet_changed(self) -> None:
        """Nothing to learn."""

    def _next(self) -> int:
        """Return the earliest rank that fits, or -1."""
        room, best = self._room(), -1
        for kind, lane in self._lanes.items():
            if lane and not 0 <= best < lane[0] and (0 < kind <= room or self._block_fits(kind, EVERYWHERE)):
                best = lane[0]
        return best

    def _room(self) -> int:
        """Return the largest number of free GPUs on one node."""
        boards = self._fleet.boards
        return next((free for free in range(self._fleet.gpus_per_node, 0, -1) if boards[free]), 0)

    def _block_fits(self, kind: int, allowed: int) -> bool:
        if 0 < kind <= self._fleet.gpus_per_node:
            return False
        count = -(-abs(kind) // self._fleet.gpus_per_node)
        return bool(whole_nodes(self._fleet, count, kind < 0, allowed))

    def _forget(self, rank: int) -> None:
        self._lanes[self._kind(self._row_at[rank])].remove(rank)
        self.count -= 1
        self._weigh()

    def _weigh(self) -> None:
        """Find `wants`: nobody can start where fewer GPUs are free than the smallest job needs."""
        self.wants = self._smallest()

    def _smallest(self) -> int:
        top = self._fleet.gpus_per_node
        return min((min(abs(kind), top) for kind, lane in self._lanes.items() if lane), default=0)

    def _kind(self, row: int) -> int:
        size = self._run.size[row]
        return -size if size > self._fleet.gpus_per_node and row in self._run.contiguous else size
