"""The map of Act I: the state of every GPU at each moment, and who held it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.fleet.bits import members
from engine.fleet.workload import HOUR_MS
from engine.scenarios.audit_log import clock
from engine.scenarios.audit_outcome import FleetMap, Occupant
from engine.scenarios.audit_run import AuditRun, Snapshot
from engine.units import Quantity

FAILED, GANG = 2, 3
Columns = NDArray[np.int64]


def fleet_map(run: AuditRun) -> FleetMap:
    """Return the frames of a history."""
    crisis = run.snapshots.index(run.found)
    acted = bool(run.act.eviction or run.act.migration)
    labels = [clock(run, shot.at) for shot in run.snapshots]
    labels[crisis] = f"{clock(run, run.crisis)}, as found"
    if acted:
        labels[crisis + 1] += ", after the act"
    return FleetMap(
        shape=run.scenario.shape,
        hours=tuple(shot.at / HOUR_MS for shot in run.snapshots),
        labels=tuple(labels),
        crisis=crisis,
        after_act=crisis + 1,
        cells=b"".join(_pack(shot, run.scenario.shape.gpus_per_node) for shot in run.snapshots),
    )


def _pack(shot: Snapshot, gpus_per_node: int) -> bytes:
    """Return one frame, two bits a GPU."""
    rows = np.frombuffer(shot.busy, dtype=np.uint8)[:, None]
    state = np.unpackbits(rows, axis=1, count=gpus_per_node, bitorder="little")
    state[list(shot.failed)] = FAILED
    state[list(members(shot.gang_nodes))] *= GANG
    flat = np.zeros(-(-state.size // 4) * 4, np.uint8)
    flat[: state.size] = state.ravel()
    return (flat.reshape(-1, 4) @ np.array([1, 4, 16, 64], np.uint8)).tobytes()


class Occupants:
    """Who was where when: one row for each stay of a job on its nodes."""

    def __init__(self, run: AuditRun) -> None:
        fleet = run.fleet
        self._at = [shot.at for shot in run.snapshots]
        self._per_node = run.scenario.shape.gpus_per_node
        self._size, self._gang, self._owner = fleet.size, run.gang, run.people.owner
        stays = np.array([range(len(fleet.size)), fleet.start, fleet.due, fleet.due, fleet.place], np.int64)
        cut = np.array([(a.row, a.start, a.end, a.end, a.place) for a in fleet.attempts], np.int64)
        stays = np.hstack([stays, cut.reshape(-1, 5).T])
        if fleet.moved:
            stays = np.hstack([stays, _before_moves(stays, np.array(fleet.moved, np.int64).T)])
        self._row, self._since, self._until, self._end, self._place = stays
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
        return self._occupant(int(self._row[found[0]]), int(self._end[found[0]]) - now)

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
