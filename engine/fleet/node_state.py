"""A fleet with jobs on it: who runs where since when, and how a job starts and leaves.

Rows of the job table are taken in queue order (submit, id), so a row number is a place in the queue. Times
are integer milliseconds. What is held grows with the jobs in flight. Beside the table and its timetable 32
bytes a job are recorded, a set of nodes for a job on several, and what was cut, moved or started again.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from heapq import heappush
from typing import cast, get_args

import numpy as np

from engine.errors import InvalidInput
from engine.fleet.bits import LOWEST, members
from engine.fleet.jobs import NEVER, Column, Jobs
from engine.fleet.node_easy import EasyLine
from engine.fleet.node_lines import BackfillLine, FirstComeLine
from engine.fleet.node_parts import FOREVER, Attempt, Line, NodePolicy, as_array
from engine.fleet.occupancy import Occupancy
from engine.fleet.placement import Placement, free_orders, picker, whole_node_gpus, whole_nodes
from engine.fleet.timetable import Timetable


class NodeState:
    """A fleet, its jobs and its waiting line at one moment.

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
        count, top = len(jobs), fleet.gpus_per_node
        self.fleet, self.jobs, self.order = fleet, jobs, order
        submit, size, estimate = jobs.submit_ms[order], jobs.size[order], jobs.estimate_ms[order]
        run = jobs.length_ms(kill_at_limit)[order]
        self.submit = submit
        self.size: list[int] = size.tolist()
        self.gpus = as_array(whole_node_gpus(size, top))  # that a job holds, on one node or on whole ones
        self.estimate, self.run = as_array(estimate), as_array(run)
        self.priority = as_array(jobs.priority[order])
        self.kill_at_limit = kill_at_limit
        self.contiguous = frozenset(contiguous)
        self.start = array("q", [NEVER]) * count
        self.due = array("q", [NEVER]) * count
        self.limit = array("q", [NEVER]) * count  # estimated end of a running job
        # node << 8 | slots of a job on one node, from its start on; NEVER while it waits, or on several
        self.place = array("q", [NEVER]) * count
        self.held: dict[int, int] = {}  # the nodes of a running job that has more than one, as a set
        self.span: dict[int, int] = {}  # the same, kept after the job has ended
        self.first_start: dict[int, int] = {}  # of jobs that started more than once
        self.attempts: list[Attempt] = []
        self.moved: list[tuple[int, int, int]] = []  # (row, when, the place it left)
        self.impossible = frozenset(np.flatnonzero(-(-size // top) > fleet.nodes).tolist())  # never enqueued
        self.next = 0
        self.now = 0
        plain = (size <= top) & (run > 0)
        self.timetable = Timetable(submit, run, plain)
        self.shift = self.timetable.shift
        # the GPUs of a job that the loop starts by itself; too many for a node if it is no such job
        alone = np.diff(submit, prepend=-1, append=FOREVER) > 0
        self.asked: list[int] = np.where(plain & alone[:-1] & alone[1:], size, top + 1).tolist()
        self.at = 0  # the first planned end in the timetable that is still to come
        self.late: set[int] = set()  # running rows whose end is in the heap, and not in the timetable:
        self.ends: list[int] = [FOREVER << self.shift]
        self._noted = 0  # rows before it have their times, unless they are in:
        self.started: list[int] = []  # rows that started late: due and limit are still to be noted
        self.pick, self.orders = picker(fleet, placement, seed), free_orders(fleet, placement)
        self.most_free_first = placement == "spread"
        # under easy: the row that took a slot, by node << 3 | the lowest slot that it took
        self.owner = array("q", [NEVER]) * (fleet.nodes << 3) if policy == "easy" else None
        self.line: Line = _line(policy, self)
        self.patient = self.line if isinstance(self.line, FirstComeLine) else None
        self.easy = self.line if isinstance(self.line, EasyLine) else None

    # ---- times ----

    def note(self, row: int) -> None:
        """Write down the times of the jobs before `row` that run or ran, as far as that was put off.

        Those that started the moment they arrived have only their place; under easy they also get their
        slots.
        """
        since, self._noted = self._noted, row
        start, place = (np.frombuffer(column, np.int64) for column in (self.start, self.place))
        rows = since + np.flatnonzero((start[since:row] == NEVER) & (place[since:row] >= 0))
        start[rows] = self.submit[rows]
        if self.owner is not None:
            lowest = np.frombuffer(LOWEST, np.uint8)
            # of rows that had the same slots one after the other the last one stays
            np.frombuffer(self.owner, np.int64)[(place[rows] >> 8 << 3) + lowest[place[rows] & 255]] = rows
        self.note_started(rows)

    def note_started(self, more: Column | tuple[()] = ()) -> None:
        """Write down the ends of those that started late, and of `more` rows whose start is known."""
        rows = np.concatenate([np.array(self.started, np.int64), np.array(more, np.int64)])
        self.started.clear()
        start, due, limit, run, estimate = (
            np.frombuffer(column, np.int64)
            for column in (self.start, self.due, self.limit, self.run, self.estimate)
        )
        due[rows], limit[rows] = start[rows] + run[rows], start[rows] + estimate[rows]

    # ---- starts and ends ----

    def nodes_needed(self, row: int) -> int:
        """Return on how many nodes a job runs."""
        return max(1, -(-self.size[row] // self.fleet.gpus_per_node))

    def try_start(self, row: int, now: int, allowed: int = -1, *, on_arrival: bool = False) -> bool:
        """Start a job on the allowed nodes if it fits there now; the line keeps its own count.

        `on_arrival` says that it starts the moment it arrived, so that its end is in the timetable.
        """
        if self.size[row] > self.fleet.gpus_per_node:
            nodes = whole_nodes(self.fleet, self.nodes_needed(row), row in self.contiguous, allowed)
            if nodes:
                self.start_on(row, now, nodes)
            return bool(nodes)
        node = self.pick(self.size[row], allowed)
        if node < 0:
            return False
        self.start_one(row, now, node, on_arrival=on_arrival)
        return True

    def start_one(self, row: int, now: int, node: int, *, on_arrival: bool = False) -> None:
        """Start a job of one node there, where it must fit."""
        slots = self.fleet.take(node, self.size[row])
        self.place[row] = node << 8 | slots
        if self.owner is not None:
            self.owner[node << 3 | LOWEST[slots]] = row
        self._times(row, now)
        if not (on_arrival and self.run[row]):
            self.late.add(row)
            heappush(self.ends, self.due[row] << self.shift | row)

    def start_on(self, row: int, now: int, nodes: int) -> None:
        """Start a job on exactly these wholly free nodes, given as a set."""
        self.fleet.take_nodes(nodes)
        self.held[row] = self.span[row] = nodes
        if self.owner is not None:
            for node in members(nodes):
                self.owner[node << 3] = row
        self._times(row, now)
        self.late.add(row)
        heappush(self.ends, self.due[row] << self.shift | row)

    def _times(self, row: int, now: int) -> None:
        if self.start[row] != NEVER:
            self.first_start.setdefault(row, self.start[row])
        self.start[row] = now
        self.due[row] = now + self.run[row]
        self.limit[row] = now + self.estimate[row]

    def leave(self, row: int) -> None:
        """Take a running job off its nodes."""
        nodes = self.held.pop(row, 0)
        if nodes:
            self.fleet.release_nodes(nodes)
        else:
            node = self.place[row] >> 8
            self.fleet.release(node, self.place[row] & 255)
            nodes = self.fleet.bit[node]
        if self.easy and self.line.count:
            self.easy.ended(row, members(nodes))

    # ---- looking ----

    def running_rows(self) -> Column:
        """Return the rows of the running jobs, in no particular order."""
        planned = self.timetable.rows_by_end[self.at :]
        on_time = planned[np.frombuffer(self.place, np.int64)[planned] >= 0]
        if not self.late:
            return cast(Column, on_time)
        late = np.fromiter(self.late, np.int64, len(self.late))
        others = np.ones(len(self.size), bool)
        others[late] = False
        return np.concatenate([late, on_time[others[on_time]]])

    def running(self) -> list[int]:
        """Return the same as a list."""
        return cast(list[int], self.running_rows().tolist())

    def nodes_of(self, row: int) -> int:
        """Return the nodes of a running job as a set."""
        return self.held.get(row) or 1 << (self.place[row] >> 8)

    def rows_on(self, node: int) -> list[int]:
        """Return the rows of the jobs that run on a node; only under easy."""
        assert self.owner is not None
        rows, busy = [], self.fleet.busy[node]
        while busy:
            row = self.owner[node << 3 | LOWEST[busy]]
            rows.append(row)
            busy &= ~self.place[row]  # all of them if it has the whole node
        return rows


def _line(policy: str, state: NodeState) -> FirstComeLine | BackfillLine:
    match policy:
        case "fcfs":
            return FirstComeLine(state)
        case "easy":
            return EasyLine(state)
        case "skip" | "priority":
            return BackfillLine(state, by_priority=policy == "priority")
        case _:
            raise InvalidInput("policy", policy, "one of " + ", ".join(get_args(NodePolicy)))
