"""Who held which GPU when, and how the groups of jobs fared: what is too long for an outcome's JSON."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.fleet.fairness import GroupFairness, fairness, size_classes
from engine.fleet.node_scheduler import schedule_of
from engine.scenarios.audit_outcome import FairnessGroup, Occupant
from engine.scenarios.audit_run import AuditRun
from engine.units import Quantity

Columns = NDArray[np.int64]


class JobTable:
    """One row for each stay of a job on its nodes, and the schedule that came of it."""

    def __init__(self, run: AuditRun) -> None:
        fleet = run.fleet
        self._at = [shot.at for shot in run.snapshots]
        self._per_node = run.scenario.shape.gpus_per_node
        self._size, self._gang, self._owner = fleet.size, run.gang, run.people.owner
        self._jobs, self._first_start, self._impossible = fleet.jobs, fleet.starts(), fleet.impossible
        self._crisis, self._end = run.crisis, run.end
        stays = np.array([range(len(fleet.size)), fleet.start, fleet.due, fleet.due, fleet.place], np.int64)
        cut = np.array([(a.row, a.start, a.end, a.end, a.place) for a in fleet.attempts], np.int64)
        stays = np.hstack([stays, cut.reshape(-1, 5).T])
        if fleet.moved:
            stays = np.hstack([stays, _before_moves(stays, np.array(fleet.moved, np.int64).T)])
        self._row, self._since, self._until, self._leaves, self._place = stays
        self._wide = [(a.row, a.start, a.end, a.nodes) for a in fleet.attempts if a.nodes]
        self._wide += [(row, fleet.start[row], fleet.due[row], nodes) for row, nodes in fleet.span.items()]

    def at(self, frame: int, gpu: int) -> Occupant | None:
        """Return who holds a GPU at a frame."""
        now = self._at[frame]
        node, slot = divmod(gpu, self._per_node)
        for row, start, end, nodes in self._wide:
            if start <= now < end and nodes >> node & 1:
                return self._occupant(row, end - now)
        there = (self._since <= now) & (now < self._until) & (self._place >= 0)
        there &= (self._place >> 8 == node) & (self._place >> slot & 1 == 1)
        found = np.flatnonzero(there)
        if not found.size:
            return None
        return self._occupant(int(self._row[found[0]]), int(self._leaves[found[0]]) - now)

    def fairness(self, by: FairnessGroup) -> dict[str, GroupFairness]:
        """Return how each group of small jobs that were submitted from the crisis on fared."""
        jobs, last_end = self._jobs, self._until[: len(self._jobs)]
        schedule = schedule_of(jobs, self._first_start, last_end, self._impossible, self._end)
        groups = np.array(size_classes(jobs) if by == "size" else self._owners(), dtype=object)
        groups[(jobs.submit_ms < self._crisis) | (jobs.ids == jobs.ids[self._gang])] = ""
        found = fairness(schedule, groups.astype(str), horizon=Quantity(self._end, "ms"))
        return {name: group for name, group in found.items() if name}

    def _owners(self) -> list[str]:
        rows = range(len(self._size))
        return [self._owner(row - (row > self._gang)) if row != self._gang else "" for row in rows]

    def _occupant(self, row: int, remaining_ms: int) -> Occupant:
        left = Quantity(remaining_ms / 1000, "s")
        if row == self._gang:
            return Occupant(job=row + 1, user="research", gpus=self._size[row], remaining=left)
        owner = self._owner(row - (row > self._gang))
        return Occupant(job=row + 1, user=owner, gpus=self._size[row], remaining=left)


def _before_moves(stays: Columns, moved: Columns) -> Columns:
    """Cut the stays of moved jobs at the move, in place, and return the parts before it.

    Columns of `stays` are (row, since, until, end, place), of `moved` (row, when, place that was left).
    """
    rows, at, places = moved
    there = np.flatnonzero((stays[1] <= at[0]) & (at[0] < stays[2]) & np.isin(stays[0], rows))
    there = there[np.argsort(stays[0, there])]
    order = np.argsort(rows)
    before = stays[:, there].copy()
    before[2], before[4] = at[order], places[order]
    stays[1, there] = at[order]
    return before
