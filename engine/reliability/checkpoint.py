"""How often to write a checkpoint: the classical intervals, the exact optimum and what each one keeps.

Failures are exponential with mean M and strike during work, write and restart alike. τ is the useful work
between two writes, so the period of writes is τ + δ. Every function takes quantities, whose magnitudes may be
numpy arrays that broadcast, and returns a quantity or, for a share, a number or an array.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pint

from engine.model import Frozen
from engine.reliability import exponential
from engine.reliability.arrays import seconds, shaped, times
from engine.reliability.lambert import Floats
from engine.units import Quantity, Time, number, si

Duration = pint.Quantity[Any]
Settings = tuple[Floats, Floats, Floats, Floats, Floats]
NO_TIME = (0.0, "s")


def young_interval(write_time: Any, mtbf: Any) -> Duration:
    """Return Young's interval τ = √(2δM).

    Parameters
    ----------
    write_time: δ, above 0.
    mtbf: M, above 0.

    Raises
    ------
    InvalidInput: naming the parameter that is not a time above 0.

    Source: Young, "A first order approximation to the optimum checkpoint interval", 1974.
    """
    return times(exponential.young(*_pair(write_time, mtbf)))


def daly_first_interval(write_time: Any, mtbf: Any) -> Duration:
    """Return Daly's first-order interval τ = √(2δM) − δ, which is negative beyond δ = 2M.

    Parameters and errors are those of `young_interval`. Source: Daly 2006.
    """
    return times(exponential.daly_first(*_pair(write_time, mtbf)))


def daly_interval(write_time: Any, mtbf: Any) -> Duration:
    """Return Daly's higher-order interval, √(2δM)·[1 + √(δ/2M)/3 + (δ/2M)/9] − δ if δ < 2M, else M.

    Parameters and errors are those of `young_interval`. Source: Daly 2006, equation 37.
    """
    return times(exponential.daly_higher(*_pair(write_time, mtbf)))


def optimal_interval(write_time: Any, mtbf: Any) -> Duration:
    """Return the exact optimum τ* = M·(1 + W₀(−e^(−1−δ/M))); restart and downtime do not move it.

    Parameters and errors are those of `young_interval`. Source: setting dg/dτ = 0 in `goodput`.
    """
    return times(exponential.optimum(*_pair(write_time, mtbf)))


def goodput(
    interval: Any, write_time: Any, mtbf: Any, restart_time: Any = NO_TIME, downtime: Any = NO_TIME
) -> Any:
    """Return the exact goodput g = τ / ((M + D)·e^(R/M)·(e^((τ+δ)/M) − 1)).

    Parameters
    ----------
    interval: τ, above 0.
    write_time, mtbf: δ and M, above 0.
    restart_time: R, 0 or more; a failure may strike it too.
    downtime: D, 0 or more; the failure-free wait before each restart attempt.

    Returns
    -------
    A share between 0 and 1 of held time that became retained work. Far beyond δ = M it underflows to 0;
    `log_goodput` does not.

    Raises
    ------
    InvalidInput: naming the parameter.
    """
    return shaped(exponential.goodput(*_settings(interval, write_time, mtbf, restart_time, downtime)))


def log_goodput(
    interval: Any, write_time: Any, mtbf: Any, restart_time: Any = NO_TIME, downtime: Any = NO_TIME
) -> Any:
    """Return the natural logarithm of `goodput`, finite where the goodput is below the least float."""
    return shaped(exponential.log_goodput(*_settings(interval, write_time, mtbf, restart_time, downtime)))


def best_goodput(write_time: Any, mtbf: Any, restart_time: Any = NO_TIME, downtime: Any = NO_TIME) -> Any:
    """Return the goodput at the optimum, g* = −W₀(−e^(−1−δ/M))·e^(−R/M) / (1 + D/M).

    Parameters and errors are those of `goodput`.
    """
    rest = seconds(restart_time, "restart_time"), seconds(downtime, "downtime")
    return shaped(exponential.best_goodput(*_pair(write_time, mtbf), *rest))


def first_order_goodput(interval: Any, write_time: Any, mtbf: Any, restart_time: Any = NO_TIME) -> Any:
    """Return the first-order goodput 1 − δ/τ − τ/2M − R/M, which may be negative and then means nothing.

    Parameters and errors are those of `goodput`.
    """
    return shaped(exponential.first_order_goodput(*_settings(interval, write_time, mtbf, restart_time)[:4]))


def flat_region(write_time: Any, mtbf: Any, share: float = 0.99) -> tuple[Duration, Duration]:
    """Return the shortest and the longest interval that keep at least `share` of the best goodput.

    Parameters
    ----------
    write_time, mtbf: δ and M, single times above 0.
    share: above 0 and below 1.

    Raises
    ------
    InvalidInput: naming the parameter.
    """
    part = number(share, "share", low=1e-3, high=1 - 1e-9)
    delta, m = (si(x, "s", name, low_open=True) for x, name in ((write_time, "write_time"), (mtbf, "mtbf")))
    low, high = exponential.flat_region(delta, m, part)
    return Quantity(low, "s"), Quantity(high, "s")


def segments(work: Any, interval: Any) -> int:
    """Return n = max(1, round(W/τ)), the number of equal segments into which a run of work W is cut."""
    total = si(work, "s", "work", low_open=True)
    return max(1, round(total / si(interval, "s", "interval", low_open=True, infinite=True)))


def expected_time(
    work: Any,
    interval: Any,
    write_time: Any,
    mtbf: Any,
    restart_time: Any = NO_TIME,
    downtime: Any = NO_TIME,
    *,
    final_write: bool = True,
) -> Duration:
    """Return the expected time of a whole run of work W, cut into n = max(1, round(W/τ)) equal segments.

    E[T] = n·E(W/n, δ) with a write after every segment, or (n−1)·E(W/n, δ) + E(W/n, 0) without the last one,
    with E(τ, δ) = (M + D)·e^(R/M)·(e^((τ+δ)/M) − 1). One segment without a final write is a run without any
    checkpoint.

    Parameters
    ----------
    work: W, above 0.
    interval: τ, above 0; infinite is accepted and means no checkpoint on the way.
    final_write: whether the last segment ends with a write.

    Returns
    -------
    A time; infinite where it overflows (see `log_expected_time`).

    Raises
    ------
    InvalidInput: naming the parameter.
    """
    parts, with_write, last = _run(work, interval, write_time, mtbf, restart_time, downtime, final_write)
    before = (parts - 1) * exponential.expected_segment(*with_write) if parts > 1 else 0.0
    return times(np.asarray(before + exponential.expected_segment(*last)))


def log_expected_time(
    work: Any,
    interval: Any,
    write_time: Any,
    mtbf: Any,
    restart_time: Any = NO_TIME,
    downtime: Any = NO_TIME,
    *,
    final_write: bool = True,
) -> float:
    """Return the natural logarithm of `expected_time` in seconds, finite where the time itself overflows."""
    parts, with_write, last = _run(work, interval, write_time, mtbf, restart_time, downtime, final_write)
    end = exponential.log_expected_segment(*last)
    if parts == 1:
        return float(end)
    return float(np.logaddexp(np.log(parts - 1) + exponential.log_expected_segment(*with_write), end))


class WorkKept(Frozen):
    """What a failure leaves: the work that is safe on storage and the time that has to be repeated."""

    kept: Time
    lost: Time


def after_failure(elapsed: Any, interval: Any, write_time: Any) -> WorkKept:
    """Return what a failure keeps and loses that strikes `elapsed` after the last restart.

    A checkpoint counts once it is whole: with c = ⌊t/(τ+δ)⌋ finished periods, c·τ is kept and t − c·(τ+δ) is
    lost, the elapsed part of a half-written checkpoint included.

    Raises
    ------
    InvalidInput: naming the parameter.
    """
    struck = si(elapsed, "s", "elapsed")
    tau = si(interval, "s", "interval", low_open=True)
    period = tau + si(write_time, "s", "write_time")
    finished = math.floor(struck / period)
    return WorkKept(kept=(finished * tau, "s"), lost=(max(0.0, struck - finished * period), "s"))


def _pair(write_time: Any, mtbf: Any) -> tuple[Floats, Floats]:
    return seconds(write_time, "write_time", low_open=True), seconds(mtbf, "mtbf", low_open=True)


def _settings(
    interval: Any, write_time: Any, mtbf: Any, restart_time: Any, downtime: Any = NO_TIME
) -> Settings:
    return (
        seconds(interval, "interval", low_open=True),
        *_pair(write_time, mtbf),
        seconds(restart_time, "restart_time"),
        seconds(downtime, "downtime"),
    )


def _run(
    work: Any, interval: Any, write_time: Any, mtbf: Any, restart_time: Any, downtime: Any, final_write: bool
) -> tuple[int, Settings, Settings]:
    parts = segments(work, interval)
    length = (si(work, "s", "work", low_open=True) / parts, "s")
    tau, write, *others = _settings(length, write_time, mtbf, restart_time, downtime)
    m, restart, down = others
    last = write if final_write else np.zeros_like(write)
    return parts, (tau, write, m, restart, down), (tau, last, m, restart, down)
