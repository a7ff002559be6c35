"""The map of Act I: the state of every GPU at each moment, and who held it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.fleet.bits import members
from engine.fleet.jobs import NEVER
from engine.fleet.workload import HOUR_MS
from engine.scenarios.audit_log import clock
from engine.scenarios.audit_outcome import FleetMap, Occupant
from engine.scenarios.audit_run import AuditRun, Snapshot
from engine.units import Quantity

FAILED, GANG = 2, 3


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
    """Who was where when: one row an attempt, looked up by node, slot and time."""

    def __init__(self, run: AuditRun) -> None:
        fleet, cut = run.fleet, run.fleet.attempts
        self._at = [shot.at for shot in run.snapshots]
        self._per_node = run.scenario.shape.gpus_per_node
        self._row = np.concatenate([np.arange(len(fleet.size)), [a.row for a in cut]]).astype(np.int64)
        self._start = _joined(fleet.start, [a.start for a in cut])
        self._end = _joined(fleet.due, [a.end for a in cut])
        self._place = _joined(fleet.place, [a.place for a in cut])
        self._spans = [(a.row, a.start, a.end, a.nodes) for a in cut if a.nodes]
        self._spans += [
            (r, fleet.start[r], fleet.due[r], n) for r, n in fleet.span.items() if fleet.due[r] != NEVER
        ]
        self._size = fleet.size
        self._gang = run.gang
        self._user = run.students.user

    def at(self, frame: int, gpu: int) -> Occupant | None:
        """Return who holds a GPU at a frame."""
        now = self._at[frame]
        node, slot = divmod(gpu, self._per_node)
        for row, start, end, nodes in self._spans:
            if start <= now < end and nodes >> node & 1:
                return self._occupant(row, end - now)
        there = (self._start <= now) & (now < self._end) & (self._start != NEVER)
        there &= (self._place >> 8 == node) & (self._place >> slot & 1 == 1) & (self._place >= 0)
        found = np.flatnonzero(there)
        if not found.size:
            return None
        return self._occupant(int(self._row[found[0]]), int(self._end[found[0]]) - now)

    def _occupant(self, row: int, remaining_ms: int) -> Occupant:
        left = Quantity(remaining_ms / 1000, "s")
        if row == self._gang:
            return Occupant(job=row + 1, user="research", gpus=self._size[row], remaining=left)
        student = int(self._user[row - (row > self._gang)])
        return Occupant(job=row + 1, user=f"student {student + 1}", gpus=self._size[row], remaining=left)


def _joined(column: object, more: list[int]) -> NDArray[np.int64]:
    return np.concatenate([np.array(column, np.int64), np.array(more, np.int64)])
