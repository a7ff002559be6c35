"""The waiting lines of a fleet with nodes: first come first served, and backfill with or without EASY."""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

import numpy as np

from engine.errors import InvalidInput
from engine.fleet.node_parts import Line, NodePolicy
from engine.fleet.node_reservation import Reservation
from engine.fleet.placement import EVERYWHERE, whole_nodes

if TYPE_CHECKING:
    from engine.fleet.node_loop import NodeLoop

NOBODY = (-1, 0)


def line_for(policy: str, scheduler: NodeLoop) -> Line:
    """Return the waiting line of a policy.

    Raises
    ------
    InvalidInput: for an unknown policy.
    """
    if policy not in get_args(NodePolicy):
        raise InvalidInput("policy", policy, "one of " + ", ".join(get_args(NodePolicy)))
    if policy == "fcfs":
        return FirstComeLine(scheduler)
    return BackfillLine(scheduler, reserve=policy == "easy", by_priority=policy == "priority")


class FirstComeLine:
    """First come, first served: the head starts when it fits, and nobody passes a blocked head."""

    def __init__(self, scheduler: NodeLoop) -> None:
        self._run = scheduler
        self._rows: deque[int] = deque()
        self.count = 0
        self.greedy = False
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

    def remove(self, row: int) -> None:
        """Take a job out of the line."""
        self._rows.remove(row)
        self.count -= 1
        self.wants = 0

    def arrive(self, row: int, now: int) -> None:
        """Queue behind the blocked head."""
        self._rows.append(row)
        self.count += 1

    def serve(self, now: int) -> None:
        """Start heads while they fit."""
        rows, run = self._rows, self._run
        size, pick, top = run.size, run.pick, run.fleet.gpus_per_node
        while rows:
            head = rows[0]
            if size[head] > top:
                if not run.try_start(head, now):
                    break
            elif (node := pick(size[head], EVERYWHERE)) < 0:
                break
            else:
                run.start_one(head, now, node)
            rows.popleft()
        self.count = len(rows)
        self.wants = min(size[rows[0]], top) if rows else 0

    def ended(self, row: int, nodes: int) -> None:
        """Nothing to learn: the line looks at the fleet when it serves."""

    def fleet_changed(self) -> None:
        """Nothing to learn."""


class BackfillLine:
    """Jobs of a kind (size, contiguous or not) wait in one lane; the earliest that may start goes first.

    Starting one job only takes room away, so taking the earliest eligible job again and again is the same
    as one scan of the whole queue in order. With a reservation (EASY) a job may start anywhere if it ends,
    by its estimate, before the shadow time of the blocked head, else only outside the reserved nodes.
    """

    def __init__(self, scheduler: NodeLoop, reserve: bool, by_priority: bool) -> None:
        self._run = scheduler
        self._fleet = scheduler.fleet
        self._reservation = Reservation(scheduler) if reserve else None
        self._lanes: dict[int, list[int]] = {}
        self._shortest: dict[int, int] = {}  # a lower bound of the estimates in a lane
        self.count = 0
        self.greedy = not reserve
        self.wants = 0
        self._first = -1  # the rank of the head, or -1 when not known
        self._blocked = NOBODY  # a head of whole nodes that did not fit, and the free nodes it found
        self._row_at: Sequence[int] = range(len(scheduler.size))
        self._rank: Sequence[int] = self._row_at
        if by_priority:
            order = np.argsort(-np.array(scheduler.priority, np.int64), kind="stable")
            rank = np.empty_like(order)
            rank[order] = np.arange(order.size)
            self._row_at, self._rank = order.tolist(), rank.tolist()

    def add(self, row: int) -> None:
        """Put a job into its lane."""
        kind = self._kind(row)
        lane = self._lanes.setdefault(kind, [])
        insort(lane, self._rank[row])
        self._shortest[kind] = min(self._shortest.get(kind, self._run.estimate[row]), self._run.estimate[row])
        self.count += 1
        if self._rank[row] < self._first:
            self._first = self._rank[row]
        self._weigh()

    def remove(self, row: int) -> None:
        """Take a job out of the line."""
        self._forget(self._rank[row], row)
        self.fleet_changed()

    def arrive(self, row: int, now: int) -> None:
        """Start the newcomer if it may pass; nobody else can start because of an arrival."""
        run, reservation = self._run, self._reservation
        assert reservation is not None  # without one the line is greedy
        if not run.kill_at_limit:
            self.add(row)
            self.serve(now)
            return
        shadow, outside = self._bounds(now)
        if run.try_start(row, now, EVERYWHERE if now + run.estimate[row] <= shadow else outside):
            reservation.started(row)
        else:
            self.add(row)

    def serve(self, now: int) -> None:
        """Start heads while they fit, then whatever may pass the blocked head."""
        while self.count:
            head = self._first if self._first >= 0 else self._head()
            if self._reservation and self._reservation.blocks(self._row_at[head], now):
                break
            whole = self._fleet.whole_free
            if (head, whole) == self._blocked:  # it wants whole nodes, and no other ones are free than before
                break
            if not self._start(head, now, EVERYWHERE):
                big = self._run.size[self._row_at[head]] > self._fleet.gpus_per_node
                self._blocked = (head, whole) if big else NOBODY
                break
        if self.count > 1:
            self._fill(now)
        elif not self.count and self._reservation:
            self._reservation.drop()

    def ended(self, row: int, nodes: int) -> None:
        """Tell the reservation: its time may come sooner."""
        if self._reservation:
            self._reservation.ended(row, nodes)

    def fleet_changed(self) -> None:
        """Make the reservation anew."""
        self._blocked = NOBODY
        if self._reservation:
            self._reservation.drop()

    def _fill(self, now: int) -> None:
        shadow, outside = self._bounds(now)
        while (rank := self._next(now, shadow, outside)) >= 0:
            soon = now + self._run.estimate[self._row_at[rank]] <= shadow
            self._start(rank, now, EVERYWHERE if soon else outside)

    def _bounds(self, now: int) -> tuple[int, int]:
        if self._reservation is None:
            return 1 << 62, EVERYWHERE
        head = self._first if self._first >= 0 else self._head()
        return self._reservation.bounds(self._row_at[head], now)

    def _next(self, now: int, shadow: int, outside: int) -> int:
        """Return the earliest rank that may start now, or -1."""
        room_outside, best = self._room(outside), -1
        room = max(room_outside, self._room(~outside))
        for kind, lane in self._lanes.items():
            if not lane or (0 <= best < lane[0]):
                continue
            if 0 < kind <= room_outside or self._block_fits(kind, outside):
                rank = lane[0]
            elif 0 < kind <= room or self._block_fits(kind, EVERYWHERE):
                rank = self._first_short(kind, lane, shadow - now)
            else:
                continue
            if rank >= 0 and (best < 0 or rank < best):
                best = rank
        return best

    def _block_fits(self, kind: int, allowed: int) -> bool:
        if 0 < kind <= self._fleet.gpus_per_node:
            return False
        count = -(-abs(kind) // self._fleet.gpus_per_node)
        return bool(whole_nodes(self._fleet, count, kind < 0, allowed))

    def _room(self, allowed: int) -> int:
        """Return the largest number of free GPUs on one allowed node."""
        boards = self._fleet.boards
        for free in range(self._fleet.gpus_per_node, 0, -1):
            if boards[free] & allowed:
                return free
        return 0

    def _first_short(self, kind: int, lane: list[int], budget: int) -> int:
        if self._shortest[kind] > budget:
            return -1
        estimates = [self._run.estimate[self._row_at[rank]] for rank in lane]
        for rank, estimate in zip(lane, estimates, strict=True):
            if estimate <= budget:
                return rank
        self._shortest[kind] = min(estimates)
        return -1

    def _start(self, rank: int, now: int, allowed: int) -> bool:
        row = self._row_at[rank]
        if not self._run.try_start(row, now, allowed):
            return False
        self._forget(rank, row)
        if self._reservation:
            self._reservation.started(row)
        return True

    def _forget(self, rank: int, row: int) -> None:
        self._lanes[self._kind(row)].remove(rank)
        self.count -= 1
        if rank == self._first:
            self._first = -1
        self._weigh()

    def _weigh(self) -> None:
        """Find `wants`. A reservation may move at any end, unless a job of whole nodes waits alone."""
        self.wants = 0
        if self._reservation is not None and (self.count != 1 or not self._run.kill_at_limit):
            return
        top = self._fleet.gpus_per_node
        smallest = min((min(abs(kind), top) for kind, lane in self._lanes.items() if lane), default=0)
        if self._reservation is None or smallest == top:
            self.wants = smallest

    def _head(self) -> int:
        self._first = min(lane[0] for lane in self._lanes.values() if lane)
        return self._first

    def _kind(self, row: int) -> int:
        size = self._run.size[row]
        return -size if size > self._fleet.gpus_per_node and row in self._run.contiguous else size
