"""EASY backfill on nodes: the blocked head has a reservation, and who passes it must not be in its way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from engine.fleet.node_lines import BackfillLine
from engine.fleet.node_reservation import Reservation
from engine.fleet.placement import EVERYWHERE

if TYPE_CHECKING:
    from engine.fleet.node_state import NodeState

NOBODY = (-1, 0)


class EasyLine(BackfillLine):
    """A job may pass the head anywhere if it ends, by its estimate, before the head's shadow time.

    Else it may start only outside the nodes that are reserved for the head.
    """

    def __init__(self, state: NodeState) -> None:
        super().__init__(state, by_priority=False)
        self._reservation = Reservation(state)
        self._shortest: dict[int, int] = {}  # a lower bound of the estimates in a lane
        self._first = -1  # the row of the head, or -1 when not known
        self._blocked = NOBODY  # a head of whole nodes that did not fit, and the free nodes it found
        self._downward = range(state.fleet.gpus_per_node, 0, -1)

    def add(self, row: int) -> None:
        """Put a job into its lane."""
        kind, estimate = self._kind(row), self._run.estimate[row]
        self._shortest[kind] = min(self._shortest.get(kind, estimate), estimate)
        if row < self._first:
            self._first = row
        super().add(row)

    def arrive(self, row: int, now: int) -> None:
        """Start a newcomer if it may pass; nobody else can start because of an arrival."""
        run = self._run
        if not run.kill_at_limit:
            self.add(row)
            self.serve(now)
            return
        shadow, outside = self._reservation.bounds(self._head(), now)
        allowed = EVERYWHERE if now + run.estimate[row] <= shadow else outside
        if run.try_start(row, now, allowed, on_arrival=True):
            self._reservation.started(row)
        else:
            self.add(row)

    def serve(self, now: int) -> None:
        """Start heads while they fit, then whatever may pass the blocked head."""
        while self.count and self._start_head(now):
            pass
        if self.count > 1:
            self._pass_head(now)
        elif not self.count:
            self._reservation.drop()

    def ended(self, row: int, nodes: Iterable[int]) -> None:
        """Learn that a job has left these nodes while others wait."""
        self._reservation.ended(row, nodes)

    def fleet_changed(self) -> None:
        """Make the reservation anew."""
        self._blocked = NOBODY
        self._reservation.drop()

    def _start_head(self, now: int) -> bool:
        head, whole = self._head(), self._fleet.whole_free
        if self._reservation.blocks(head, now):
            return False
        if (head, whole) == self._blocked:  # it wants whole nodes, and no other ones are free than before
            return False
        if self._start(head, now, EVERYWHERE):
            return True
        big = self._run.size[head] > self._fleet.gpus_per_node
        self._blocked = (head, whole) if big else NOBODY
        return False

    def _pass_head(self, now: int) -> None:
        shadow, outside = self._reservation.bounds(self._head(), now)
        while (row := self._who_may_pass(shadow - now, outside)) >= 0:
            soon = now + self._run.estimate[row] <= shadow
            self._start(row, now, EVERYWHERE if soon else outside)

    def _who_may_pass(self, budget: int, outside: int) -> int:
        """Return the earliest row that may start now, or -1; `budget` is the time up to the shadow."""
        room = room_outside = 0
        boards = self._fleet.boards
        for free in self._downward:
            if boards[free]:
                room = room or free
                if boards[free] & outside:
                    room_outside = free
                    break
        if not room:
            return -1
        best = -1
        for kind, lane in self._lanes.items():
            if not lane or 0 <= best < lane[0]:
                continue
            if 0 < kind <= room_outside or self._block_fits(kind, outside):
                best = lane[0]
            elif 0 < kind <= room or self._block_fits(kind, EVERYWHERE):
                row = self._first_short(kind, lane, budget)
                if row >= 0 and (best < 0 or row < best):
                    best = row
        return best

    def _first_short(self, kind: int, lane: list[int], budget: int) -> int:
        if self._shortest[kind] > budget:
            return -1
        estimate = self._run.estimate
        for row in lane:
            if estimate[row] <= budget:
                return row
        self._shortest[kind] = min(estimate[row] for row in lane)
        return -1

    def _start(self, row: int, now: int, allowed: int) -> bool:
        if not self._run.try_start(row, now, allowed):
            return False
        self._forget(row)
        self._reservation.started(row)
        return True

    def _forget(self, rank: int) -> None:
        if rank == self._first:
            self._first = -1
        super()._forget(rank)

    def _weigh(self) -> None:
        """Find `wants`. A reservation may move at any end, unless a job of whole nodes waits alone."""
        top = self._fleet.gpus_per_node
        alone = self.count == 1 and self._run.kill_at_limit
        self.wants = top if alone and self._smallest() == top else 0

    def _head(self) -> int:
        if self._first < 0:
            self._first = min(lane[0] for lane in self._lanes.values() if lane)
        return self._first
