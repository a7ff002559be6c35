"""A fleet with nodes, its jobs and its queue: run it to a moment, break it, step in, and read its records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import heapify
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from engine.errors import InvalidInput
from engine.fleet.bits import LOWEST
from engine.fleet.jobs import NEVER, Column, Jobs, Schedule
from engine.fleet.node_loop import NodeLoop
from engine.fleet.node_parts import FOREVER, Attempt


class NodeScheduler(NodeLoop):
    """The loop of a fleet, with what hardware and operators do between its events, and its records.

    Parameters are those of `NodeState`.
    """

    def cut(self, rows: Iterable[int], now: int, cause: Literal["failure", "eviction"]) -> None:
        """Stop running jobs and put them back into the queue at their original place, to run from zero."""
        gone = sorted(set(rows))
        keys = {self.due[row] << self.shift | row for row in gone}
        for row in gone:
            nodes = self.held.get(row, 0)
            self.attempts.append(Attempt(row, self.start[row], now, self.place[row], nodes, cause))
            self.leave(row)
            self.due[row] = self.place[row] = NEVER
            self.line.add(row)
        if not self.late.isdisjoint(gone):
            self.late.difference_update(gone)
            self.ends[:] = [key for key in self.ends if key not in keys]
            heapify(self.ends)
        self.line.fleet_changed()

    def fail(self, node: int, now: int) -> list[int]:
        """Fail a node: its jobs are cut, and the node is out of service. Returns the rows that were hit."""
        hit = [row for row, nodes in self.held.items() if nodes >> node & 1]
        to_come = self.timetable.ends[self.at]
        for row in np.flatnonzero(np.frombuffer(self.place, np.int64) >> 8 == node).tolist():
            if row in self.late or self.due[row] << self.shift | row >= to_come:
                hit.append(row)
        self.cut(hit, now, "failure")
        self.fleet.fail(node)
        self.line.fleet_changed()
        return hit

    def repair(self, node: int) -> None:
        """Put a node back into service."""
        self.fleet.repair(node)
        self.line.fleet_changed()

    def move(self, row: int, node: int) -> None:
        """Put a job that just left its node onto another one with room."""
        self.moved.append((row, self.now, self.place[row]))
        slots = self.fleet.take(node, self.size[row])
        self.place[row] = node << 8 | slots
        if self.owner is not None:
            self.owner[node << 3 | LOWEST[slots]] = row

    def delay(self, by: int, more: Mapping[int, tuple[int, int]]) -> None:
        """Let every running job end later by `by` ms, and some rows by `more[row]` = (real, estimated) ms."""
        rows = self.running_rows()
        due, limit = np.frombuffer(self.due, np.int64), np.frombuffer(self.limit, np.int64)
        due[rows] += by
        limit[rows] += by
        for row, (real, estimated) in more.items():
            due[row] += real
            limit[row] += estimated
        self.late.update(rows.tolist())
        self.ends[:] = [self.due[row] << self.shift | row for row in rows.tolist()]
        self.ends.append(FOREVER << self.shift)
        heapify(self.ends)
        self.line.fleet_changed()

    # ---- what it recorded ----

    def schedule(self, horizon: int) -> Schedule:
        """Return first starts and last ends up to now, rows in queue order; see `schedule_of`."""
        rows = self.order
        jobs = self.jobs
        if np.any(np.diff(rows) < 0):
            columns = (jobs.ids, jobs.submit_ms, jobs.size, jobs.estimate_ms, jobs.run_ms, jobs.priority)
            jobs = Jobs(*(column[rows] for column in columns))
        return schedule_of(jobs, self.starts(), np.array(self.due, np.int64), self.impossible, horizon)

    def starts(self) -> NDArray[np.int64]:
        """Return the first start of every row in queue order; `NEVER` where it has not started."""
        first = np.array(self.start, np.int64)
        for row, start in self.first_start.items():
            first[row] = start
        return first


def schedule_of(
    jobs: Jobs, first_start: Column, last_end: Column, impossible: Iterable[int], horizon: int
) -> Schedule:
    """Return a schedule in which what has not started, or was cut and waits, comes after the horizon."""
    start, end = first_start.copy(), last_end.copy()
    rejected = np.zeros(start.size, bool)
    rejected[list(impossible)] = True
    start[(start == NEVER) & ~rejected] = horizon + 1
    end[(end == NEVER) & ~rejected] = horizon + 1
    able = np.flatnonzero(~rejected)
    return Schedule(jobs, start, end, rejected, able[np.argsort(start[able], kind="stable")])


def run_to_end(scheduler: NodeScheduler) -> NodeScheduler:
    """Run a scheduler until nothing is left to happen, and return it.

    Raises
    ------
    InvalidInput: if jobs still wait that can never start.
    """
    scheduler.advance(FOREVER - 1)
    if scheduler.line.count:
        raise InvalidInput("jobs", scheduler.line.count, "jobs that can start once the fleet is empty")
    return scheduler
