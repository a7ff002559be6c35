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
        cells=_packed(run.snapshots, run.scenario.shape.gpus_per_node),
    )


def _packed(shots: list[Snapshot], gpus_per_node: int) -> bytes:
    """Return the frames one after the other, two bits a GPU, each frame filled up to a whole byte."""
    busy = np.array([np.frombuffer(shot.busy, dtype=np.uint8) for shot in shots])
    state = np.unpackbits(busy[:, :, None], axis=2, count=gpus_per_node, bitorder="little")
    for frame, shot in zip(state, shots, strict=True):
        frame[list(shot.failed)] = FAILED
        frame[list(members(shot.gang_nodes))] *= GANG
    gpus = busy.shape[1] * gpus_per_node
    cells = np.zeros((len(shots), -(-gpus // 4), 4), np.uint8)
    cells.reshape(len(shots), -1)[:, :gpus] = state.reshape(len(shots), gpus)
    packed = cells[:, :, 0] | cells[:, :, 1] << 2 | cells[:, :, 2] << 4 | cells[:, :, 3] << 6
    return bytes(packed.tobytes())
