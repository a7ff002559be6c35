"""The event loop of a fleet with nodes: arrivals, ends, queues and placement.

At one instant ends release first, then arrivals enqueue, then the queue is served.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from heapq import heappop

from engine.fleet.node_state import NodeState


class NodeLoop(NodeState):
    """Runs a fleet and its jobs up to a moment.

    Parameters are those of `NodeState`.
    """

    def advance(self, until: int) -> None:
        """Run all events up to and including the moment `until`.

        The one long function of the fleet: what `leave` and `start_one` do for a job on one node is written
        out here, because 150,000 calls fewer is half the time of a history. A job that starts the moment it
        arrives only takes its slots: its times are those of the timetable, noted later for all at once.
        """
        arrivals, planned = self.timetable.arrivals, self.timetable.ends
        ends, late, line, fleet = self.ends, self.late, self.line, self.fleet
        asked, orders, top, shift = self.asked, self.orders, fleet.gpus_per_node, self.shift
        boards, busy, bit = fleet.boards, fleet.busy, fleet.bit
        free_of, slots_of, place = fleet.free_of, fleet.slots_of, self.place
        patient, easy = self.patient, self.easy
        row, at, last_row = self.next, self.at, self.timetable.last_row
        stop = until << shift | last_row
        while True:
            coming = arrivals[row]
            more = coming <= stop and not (patient and line.count)
            if not more:
                coming = stop
            while True:  # ends up to the next arrival
                key = planned[at]
                if key <= ends[0]:
                    if key > coming:
                        break
                    at += 1
                    gone = key & last_row
                    spot = place[gone]
                    if spot < 0 or gone in late:
                        continue
                else:
                    key = ends[0]
                    if key > coming:
                        break
                    heappop(ends)
                    gone = key & last_row
                    late.remove(gone)
                    spot = place[gone]
                if spot >= 0:
                    node = spot >> 8
                    was, here = busy[node], bit[node]
                    busy[node] = left = was ^ spot & 255
                    room = free_of[left]
                    boards[free_of[was]] ^= here
                    boards[room] ^= here
                    if easy and line.count:
                        easy.ended(gone, (node,))
                else:
                    self.leave(gone)
                    room = top
                if line.count and room >= line.wants:
                    after, self.at = (key | last_row) + 1, at
                    if planned[at] < after or ends[0] < after:
                        self._end_before(after)
                        at = self.at
                    if arrivals[row] < after or patient:
                        row = self._queue_up(row, after)
                    line.serve(key >> shift)
                    break
            if key <= coming:
                continue
            if not more:
                break
            gpus = asked[row]
            if gpus > top:
                self.at = at
                row = self._special(row, coming >> shift)
                continue
            if easy and line.count:
                self.at = at
                easy.arrive(row, coming >> shift)
            elif orders is None:
                if not self._start_at_once(row, coming >> shift):
                    self._wait(row)
            else:
                for free in orders[gpus]:
                    if nodes := boards[free]:
                        here = nodes & -nodes
                        node = here.bit_length() - 1
                        was = busy[node]
                        slots = slots_of[gpus][was]
                        boards[free] = nodes ^ here
                        boards[free - gpus] ^= here
                        busy[node] = was | slots
                        place[row] = node << 8 | slots
                        break
                else:
                    self._wait(row)
            row += 1
        if line.count and patient:
            row = self._queue_up(row, stop + 1)
        self.next, self.at = row, at
        self.note(row)
        self.now = max(self.now, until)

    def _end_before(self, after: int) -> None:
        """Release the jobs that end before a key."""
        planned, last_row = self.timetable.ends, self.timetable.last_row
        while min(planned[self.at], self.ends[0]) < after:
            if planned[self.at] <= self.ends[0]:
                gone = planned[self.at] & last_row
                self.at += 1
                if self.place[gone] < 0 or gone in self.late:
                    continue
            else:
                gone = heappop(self.ends) & last_row
                self.late.remove(gone)
            self.leave(gone)

    def _queue_up(self, row: int, before: int) -> int:
        """Let the jobs that arrive before a key wait, from `row` on; return the first row after them."""
        arrivals, after = self.timetable.arrivals, row
        while arrivals[after] < before:
            after += 1
        able: Iterable[int] = range(row, after)
        if self.impossible:
            able = [newcomer for newcomer in able if newcomer not in self.impossible]
        if self.patient:
            self.patient.queue(able)
        else:
            for newcomer in able:
                self.line.add(newcomer)
        return after

    def _special(self, row: int, now: int) -> int:
        """Take in jobs that are not alone in their instant, or not plain; return the first row after them.

        They start in the order of the line, as long as they fit and need not wait behind another.
        """
        after = bisect_left(self.timetable.arrivals, self.timetable.arrivals[row] + 1, row)
        strict = bool(self.patient or self.easy)
        behind = strict and self.line.count > 0
        if behind and self.easy and after - row == 1 and row not in self.impossible:
            self.easy.arrive(row, now)
            return after
        for newcomer in self.line.ordered(range(row, after)):
            if behind or not self._start_at_once(newcomer, now):
                self._wait(newcomer)
                behind = strict and self.line.count > 0
        if behind:
            self.line.serve(now)
        return after

    def _start_at_once(self, row: int, now: int) -> bool:
        """Start a job that arrives, if it fits, as `advance` does; return whether it fits."""
        gpus = self.size[row]
        if gpus > self.fleet.gpus_per_node or not self.run[row]:
            if self.easy:
                self.note(row)  # who had its slots before it
            return self.try_start(row, now)
        node = self.pick(gpus, -1)
        if node >= 0:
            self.place[row] = node << 8 | self.fleet.take(node, gpus)
        return node >= 0

    def hold(self, until: int) -> None:
        """Let jobs arrive up to and including `until`, but start none: the world stands still."""
        self.next = self._queue_up(self.next, until + 1 << self.shift)
        self.now = max(self.now, until)

    def serve(self, now: int) -> None:
        """Let the queue start what it can at this moment, after something outside the loop changed."""
        if self.line.count:
            self.line.serve(now)
            self.note(self.next)

    def _wait(self, row: int) -> None:
        """Put a job that arrived into the line, unless no fleet of this size can run it."""
        if row in self.impossible:
            return
        if self.easy and not self.line.count:
            self.note(row)  # a reservation asks for the times of all that runs
        self.line.add(row)
