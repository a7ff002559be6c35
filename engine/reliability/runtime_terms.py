"""Runtime goodput of a job, first order and exact, for one fleet size or thousands at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.reliability.lambert import Floats


@dataclass(frozen=True, slots=True)
class GoodputInputs:
    """The inputs of `runtime_terms` in seconds, per second and shares."""

    write: float
    detection: float
    restart: float
    warmup: float
    input_wait: float
    window: float
    lost_work: float
    preemption_rate: float
    interval: float | None = None


def checkpoint_terms(inputs: GoodputInputs, rate: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the interval τ and the shares δ/τ and τ/2M at failure rate 1/M, all first order.

    Without a chosen interval, τ = √(2δM), where both shares equal √(δ/2M).
    """
    if inputs.interval is None:
        with np.errstate(divide="ignore"):
            tau = np.sqrt(2 * inputs.write / rate)
        share = np.sqrt(inputs.write * rate / 2)
        return tau, share, share
    tau = np.full_like(rate, inputs.interval)
    return tau, inputs.write / tau, tau * rate / 2


def runtime_terms(inputs: GoodputInputs, rate: Floats) -> dict[str, Floats | float]:
    """Return every term of the runtime goodput at failure rates 1/M (per second), by the name of the result.

    loss = startup + a + checkpoint + recovery + preemption, each of first order, and the exact goodput
    (1−a)·(1−startup)·g/(1+f(L+r+δ+w)) with g that of `exponential.goodput` at τ for R = d+r+δ+w. A factor
    that would be negative counts as 0.
    """
    i = inputs
    startup_time = i.restart + i.write + i.warmup
    recovery_time = i.detection + startup_time
    tau, write_share, rework_share = checkpoint_terms(i, rate)
    startup, preemption_cost = startup_time / i.window, i.lost_work + startup_time
    checkpoint, recovery = write_share + rework_share, recovery_time * rate
    preemption = i.preemption_rate * preemption_cost
    loss = startup + i.input_wait + checkpoint + recovery + preemption
    with np.errstate(divide="ignore"):
        mtbf, interruptions = 1 / rate, 1 / (rate + i.preemption_rate)
    outside = max(0.0, 1 - i.input_wait) * max(0.0, 1 - startup) / (1 + preemption)
    return {
        "mtbf": mtbf,
        "write_time": i.write,
        "interval": tau,
        "write_share": write_share,
        "rework_share": rework_share,
        "checkpoint_share": checkpoint,
        "recovery_time": recovery_time,
        "recovery_share": recovery,
        "startup_time": startup_time,
        "startup_share": startup,
        "input_wait_share": i.input_wait,
        "preemption_cost": preemption_cost,
        "preemption_share": preemption,
        "failure_side": checkpoint + recovery,
        "runtime_loss": loss,
        "runtime_goodput": 1 - loss,
        "interruption_interval": interruptions,
        "interruption_checkpoint_interval": np.sqrt(2 * i.write * interruptions),
        "exact_goodput": outside * _exact(tau, i.write, recovery_time, rate),
    }


def _exact(tau: Floats, write: float, restart: float, rate: Floats) -> Floats:
    """Return τ·λ·e^(−Rλ)/(e^((τ+δ)λ) − 1), which tends to τ/(τ+δ) as λ → 0."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        share = tau * rate * np.exp(-restart * rate) / np.expm1((tau + write) * rate)
        calm = 1 / (1 + write / tau)
    return np.where(rate > 0, share, calm)


def failure_side(inputs: GoodputInputs, rate: float) -> float:
    """Return checkpoint + recovery, the waste on the side of failures, at one failure rate per second."""
    _, write_share, rework_share = checkpoint_terms(inputs, np.asarray(rate))
    recovery = inputs.detection + inputs.restart + inputs.write + inputs.warmup
    return float(write_share + rework_share + recovery * rate)


def crossing_rate(inputs: GoodputInputs) -> float:
    """Return the failure rate (per second) at which the failure side equals the input waits a.

    With C = d+r+δ+w and Young's interval, C·λ + √(2δλ) = a is a quadratic in √λ; with a chosen τ,
    δ/τ + λ(τ/2 + C) = a is linear, and where δ/τ alone is a or more the rate is 0.
    """
    i = inputs
    cost = i.detection + i.restart + i.write + i.warmup
    if i.interval is not None:
        return max(0.0, (i.input_wait - i.write / i.interval) / (i.interval / 2 + cost))
    root = 2 * i.input_wait / (np.sqrt(2 * i.write) + np.sqrt(2 * i.write + 4 * cost * i.input_wait))
    return float(root * root)
