"""The map of Act I: the state of every GPU at each moment."""

from __future__ import annotations

import numpy as np

from engine.fleet.bits import members
from engine.fleet.workload import HOUR_MS
from engine.scenarios.audit_log import clock
from engine.scenarios.audit_outcome import FleetMap
from engine.scenarios.audit_parts import Snapshot
from engine.scenarios.audit_run import AuditRun

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
