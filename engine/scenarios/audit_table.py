"""Who held which GPU when, and how the groups of jobs fared: what is too long for an outcome's JSON."""

from __future__ import annotations

import numpy as np

from engine.fleet.fairness import GroupFairness, fairness, size_classes
from engine.fleet.node_scheduler import schedule_of
from engine.scenarios.audit_outcome import FairnessGroup, Occupant
from engine.scenarios.audit_run import AuditRun
from engine.units import Quantity


class JobTable:
    """One row for each stay of a job on its nodes, and the schedule that came of it."""

    def __init__(self, run: AuditRun) -> None:
        fleet = run.fleet
        self._at = [shot.at for shot in run.snapshots]
        self._per_node = run.scenario.shape.gpus_per_node
        self._gang, self._owner = run.gang, run.people.owner
        self._jobs, self._first_start, self._impossible = fleet.jobs, fleet.starts(), fleet.impossible
        self._crisis, self._end = run.crisis, run.end
        self._since, self._until, self._place = (
            np.array(column, np.int64) for column in (fleet.start, fleet.due, fleet.place)
        )
        self._past: list[tuple[int, int, int, int, int]] = []  # row, since, until, end, place
        self._past += [(a.row, a.start, a.end, a.end, a.place) for a in fleet.attempts]
        for row, at, place in fleet.moved:
            self._split(row, at, place)
        self._wide = [(a.row, a.start, a.end, a.nodes) for a in fleet.attempts if a.nodes]
        self._wide += [(row, fleet.start[row], fleet.due[row], nodes) for row, nodes in fleet.span.items()]

    def _split(self, row: int, at: int, place: int) -> None:
        """Cut the stay of a moved job at the move: before it the job was at another place."""
        if self._since[row] <= at < self._until[row]:
            since, end = int(self._since[row]), int(self._until[row])
            self._since[row] = at
        else:  # it was cut since, and runs again or waits
            mine = next(i for i, past in enumerate(self._past) if past[0] == row and past[1] <= at < past[2])
            _, since, end, _, now_at = self._past[mine]
            self._past[mine] = row, at, end, end, now_at
        self._past.append((row, since, at, end, place))

    def at(self, frame: int, gpu: int) -> Occupant | None:
        """Return who holds a GPU at a frame."""
        now = self._at[frame]
        node, slot = divmod(gpu, self._per_node)
        for row, start, end, nodes in self._wide:
            if start <= now < end and nodes >> node & 1:
                return self._occupant(row, end - now)
        for row, since, until, end, place in self._past:
            if since <= now < until and place >= 0 and place >> 8 == node and place >> slot & 1:
                return self._occupant(row, end - now)
        there = (self._since <= now) & (now < self._until) & (self._place >= 0)
        there &= (self._place >> 8 == node) & (self._place >> slot & 1 == 1)
        found = np.flatnonzero(there)
        return self._occupant(int(found[0]), int(self._until[found[0]]) - now) if found.size else None

    def fairness(self, by: FairnessGroup) -> dict[str, GroupFairness]:
        """Return how each group of small jobs that were submitted from the crisis on fared."""
        jobs = self._jobs
        schedule = schedule_of(jobs, self._first_start, self._until, self._impossible, self._end)
        groups = np.array(size_classes(jobs) if by == "size" else self._owners(), dtype=object)
        groups[(jobs.submit_ms < self._crisis) | (jobs.ids == jobs.ids[self._gang])] = ""
        found = fairness(schedule, groups.astype(str), horizon=Quantity(self._end, "ms"))
        return {name: group for name, group in found.items() if name}

    def _owners(self) -> list[str]:
        rows = range(len(self._jobs))
        return [self._owner(row - (row > self._gang)) if row != self._gang else "" for row in rows]

    def _occupant(self, row: int, remaining_ms: int) -> Occupant:
        left = Quantity(remaining_ms / 1000, "s")
        if row == self._gang:
            return Occupant(job=row + 1, user="research", gpus=int(self._jobs.size[row]), remaining=left)
        owner = self._owner(row - (row > self._gang))
        return Occupant(job=row + 1, user=owner, gpus=int(self._jobs.size[row]), remaining=left)
