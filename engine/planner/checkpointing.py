"""How often a plan saves its state, and the goodput that is left.

Until the write time and the failure rate are known the interval is a static default and there is no
goodput. Once they are, it is the interval that loses least, τ = M(1 + W₀(−e^(−1−δ/M))), for exponential
failures with M the mean time to failure of one GPU divided by the GPUs of the job.
"""

from __future__ import annotations

from engine.planner.catalog import assumed
from engine.planner.protocol import Measured
from engine.planner.report import CheckpointPolicy, Estimate


def checkpoint_policy(gpus: int, measured: Measured | None) -> CheckpointPolicy:
    """Return the interval of useful work between two checkpoints of a job on `gpus` GPUs."""
    if measured is None or measured.checkpoint_write is None or measured.gpu_mttf is None:
        return CheckpointPolicy(
            interval_seconds=assumed().checkpoint_interval,
            note="static default; the write time and the failure rate would give the optimum",
        )
    from engine.reliability.checkpoint import optimal_interval

    mtbf = measured.gpu_mttf / gpus
    best = optimal_interval(measured.checkpoint_write, mtbf)
    write = measured.checkpoint_write.to("s").magnitude
    return CheckpointPolicy(
        interval_seconds=round(float(best.to("s").magnitude), 3),
        basis=measured.basis,
        note=f"optimum for a write of {write:.4g} s and a failure every {mtbf.to('h').magnitude:.4g} h",
    )


def plan_goodput(gpus: int, measured: Measured | None) -> Estimate | None:
    """Return the share of held time that becomes retained progress at the best interval; none if unknown."""
    if measured is None or measured.checkpoint_write is None or measured.gpu_mttf is None:
        return None
    from engine.reliability.checkpoint import best_goodput

    share = best_goodput(measured.checkpoint_write, measured.gpu_mttf / gpus, measured.restart)
    restart = measured.restart.to("s").magnitude
    return Estimate(
        value=round(float(share), 6),
        unit="",
        basis=measured.basis,
        note=f"exponential failures at the best interval, {restart:.4g} s to restart",
    )
