"""The event loop of a fleet with nodes: arrivals, ends, queues and placement, on integer milliseconds.

At one instant ends release first, then arrivals enqueue, then the queue is served. Rows of the job table
are taken in queue order (submit, id), so a row number is a place in the queue. What the loop holds grows
with the jobs in flight; what it records is 32 bytes a job.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from heapq import heappop, heappush

import numpy as np

from engine.fleet.bits import members
from engine.fleet.jobs import NEVER, Jobs
from engine.fleet.node_lines import line_for
from engine.fleet.node_parts import FOREVER, Attempt, Line, NodePolicy
from engine.fleet.occupancy import Occupancy
from engine.fleet.placement import Placement, picker, whole_node_gpus, whole_nodes


class NodeLoop:
    """A fleet, its jobs, and the loop that runs them up to a moment.

    Parameters
    ----------
    fleet: the occupancy, empty or already partly taken by nobody.
    jobs: the table; taken in queue order. A size up to `gpus_per_node` goes on one node, a larger one on
        ⌈size / gpus_per_node⌉ whole nodes.
    policy: `fcfs`, `skip`, `easy` or `priority` (larger priority first, blocked jobs are passed over).
    placement: on which node a job of one node goes.
    contiguous: rows (of the queue order) that need neighbouring nodes.
    kill_at_limit: whether a job is stopped at its estimate. When not, the estimated end of an overrun job
        is now.
    seed: of random placement.
    """

    def __init__(
        self,
        fleet: Occupancy,
        jobs: Jobs,
        *,
        policy: NodePolicy = "fcfs",
        placement: Placement = "spread",
        contiguous: Iterable[int] = (),
        kill_at_limit: bool = True,
        seed: int = 0,
    ) -> None:
        order = jobs.queue_order()
        count = len(jobs)
        self.fleet, self.jobs, self.order = fleet, jobs, order
        self.submit: list[int] = [*jobs.submit_ms[order].tolist(), FOREVER]
        self.size: list[int] = jobs.size[order].tolist()
        held = whole_node_gpus(jobs.size[order], fleet.gpus_per_node)
        self.gpus: list[int] = held.tolist()  # that a job holds, on one node or on whole ones
        self.estimate: list[int] = jobs.estimate_ms[order].tolist()
        run = np.minimum(jobs.run_ms, jobs.estimate_ms) if kill_at_limit else jobs.run_ms
        self.run: list[int] = run[order].tolist()
        self.priority: list[int] = jobs.priority[order].tolist()
        self.kill_at_limit = kill_at_limit
        self.contiguous = frozenset(contiguous)
        self.start = array("q", [NEVER]) * count
        self.due = array("q", [NEVER]) * count
        self.place = array("q", [NEVER]) * count  # node << 8 | slots, for a job on one node
        self.held: dict[int, int] = {}  # the nodes of a running job that has more than one, as a set
        self.span: dict[int, int] = {}  # the same, kept after the job has ended
        self.first_start: dict[int, int] = {}  # of jobs that started more than once
        self.attempts: list[Attempt] = []
        self.moved: list[tuple[int, int, int]] = []  # (row, when, the place it left)
        self.limit = array("q", [NEVER]) * count  # estimated end of a running job
        nodes_needed = -(-jobs.size[order] // fleet.gpus_per_node)
        self.impossible = frozenset(np.flatnonzero(nodes_needed > fleet.nodes).tolist())  # never enqueued
        self.next = 0
        self.now = 0
        self.shift = max(20, count.bit_length())
        self.ends: list[int] = [FOREVER << self.shift]
        self.pick = picker(fleet, placement, seed)
        self.on_node: list[list[int]] | None = [[] for _ in range(fleet.nodes)] if policy == "easy" else None
        self.line: Line = line_for(policy, self)

    # ---- the loop ----

    def advance(self, until: int) -> None:
        """Run all events up to and including the moment `until`.

        The one long function of the fleet: what `_finish` and `try_start` do for a job on one node is
        written out here, because 150,000 calls fewer is a third of the time of a history.
        """
        ends, submit, shift, line, fleet = self.ends, self.submit, self.shift, self.line, self.fleet
        size, run, estimate, pick, top = self.size, self.run, self.estimate, self.pick, fleet.gpus_per_node
        boards, busy, bit = fleet.boards, fleet.busy, fleet.bit
        free_of, slots_of, on_node = fleet.free_of, fleet.slots_of, self.on_node
        place, start, due, limit = self.place, self.start, self.due, self.limit
        greedy, row, row_mask = line.greedy, self.next, (1 << shift) - 1
        while True:
            coming = submit[row]
            if ends[0] >> shift <= coming:
                now = ends[0] >> shift
                if now > until:
                    break
                after, room = (now + 1) << shift, 0
                while ends[0] < after:
                    gone = heappop(ends) & row_mask
                    spot = place[gone]
                    if spot < 0:
                        self.leave(gone)
                        room = top
                        continue
                    node = spot >> 8
                    was = busy[node]
                    left = was ^ spot & 255
                    free = free_of[left]
                    boards[free_of[was]] ^= bit[node]
                    boards[free] ^= bit[node]
                    busy[node] = left
                    if free > room:
                        room = free
                    if on_node is not None:
                        on_node[node].remove(gone)
                        if line.count:
                            line.ended(gone, bit[node])
                if line.count:
                    while submit[row] == now:
                        self._enqueue(row)
                        row, room = row + 1, top
                    if room >= line.wants:
                        line.serve(now)
                continue
            if coming > until:
                break
            if submit[row + 1] == coming:
                while submit[row] == coming:
                    self._enqueue(row)
                    row += 1
                line.serve(coming)
                continue
            gpus = size[row]
            if line.count and not greedy:
                if row not in self.impossible:
                    line.arrive(row, coming)
            elif gpus > top:
                if not self.try_start(row, coming):
                    self._enqueue(row)
            elif (node := pick(gpus, -1)) < 0:
                line.add(row)
            else:
                was = busy[node]
                slots = slots_of[gpus][was]
                free = free_of[was]
                boards[free] ^= bit[node]
                boards[free - gpus] ^= bit[node]
                busy[node] = was | slots
                place[row] = node << 8 | slots
                start[row] = coming
                due[row] = ending = coming + run[row]
                limit[row] = coming + estimate[row]
                heappush(ends, ending << shift | row)
                if on_node is not None:
                    on_node[node].append(row)
            row += 1
        self.next = row
        self.now = max(self.now, until)

    def hold(self, until: int) -> None:
        """Let jobs arrive up to and including `until`, but start none: the world stands still."""
        while self.submit[self.next] <= until:
            self._enqueue(self.next)
            self.next += 1
        self.now = max(self.now, until)

    def serve(self, now: int) -> None:
        """Let the queue start what it can at this moment, after something outside the loop changed."""
        if self.line.count:
            self.line.serve(now)

    def _enqueue(self, row: int) -> None:
        if row not in self.impossible:
            self.line.add(row)

    # ---- starts and ends ----

    def nodes_needed(self, row: int) -> int:
        """Return on how many nodes a job runs."""
        return max(1, -(-self.size[row] // self.fleet.gpus_per_node))

    def try_start(self, row: int, now: int, allowed: int = -1) -> bool:
        """Start a job on the allowed nodes if it fits there now; the line keeps its own count."""
        if self.size[row] > self.fleet.gpus_per_node:
            nodes = whole_nodes(self.fleet, self.nodes_needed(row), row in self.contiguous, allowed)
            if nodes:
                self.start_on(row, now, nodes)
            return bool(nodes)
        node = self.pick(self.size[row], allowed)
        if node < 0:
            return False
        self.start_one(row, now, node)
        return True

    def start_one(self, row: int, now: int, node: int) -> None:
        """Start a job of one node there, where it must fit."""
        self.place[row] = node << 8 | self.fleet.take(node, self.size[row])
        if self.on_node is not None:
            self.on_node[node].append(row)
        if self.start[row] != NEVER:
            self.first_start.setdefault(row, self.start[row])
        self.start[row] = now
        self.due[row] = due = now + self.run[row]
        self.limit[row] = now + self.estimate[row]
        heappush(self.ends, due << self.shift | row)

    def start_on(self, row: int, now: int, nodes: int) -> None:
        """Start a job on exactly these wholly free nodes, given as a set."""
        self.fleet.take_nodes(nodes)
        self.held[row] = self.span[row] = nodes
        if self.on_node is not None:
            for node in members(nodes):
                self.on_node[node].append(row)
        self._run(row, now)

    def _run(self, row: int, now: int) -> None:
        if self.start[row] != NEVER:
            self.first_start.setdefault(row, self.start[row])
        self.start[row] = now
        self.due[row] = due = now + self.run[row]
        self.limit[row] = now + self.estimate[row]
        heappush(self.ends, due << self.shift | row)

    def leave(self, row: int) -> None:
        """Take a running job off its nodes."""
        nodes = self.held.pop(row, 0)
        if nodes:
            self.fleet.release_nodes(nodes)
        else:
            node = self.place[row] >> 8
            self.fleet.release(node, self.place[row] & 255)
            nodes = self.fleet.bit[node]
        if self.on_node is not None:
            for node in members(nodes):
                self.on_node[node].remove(row)
            if self.line.count:
                self.line.ended(row, nodes)

    # ---- looking ----

    def running(self) -> list[int]:
        """Return the rows of the running jobs, in no particular order."""
        mask = (1 << self.shift) - 1
        return [key & mask for key in self.ends if key >> self.shift < FOREVER]

    def nodes_of(self, row: int) -> int:
        """Return the nodes of a running job as a set."""
        return self.held.get(row) or 1 << (self.place[row] >> 8)
