"""Checkpointing under exponential failures, in plain SI floats and arrays: what the public functions compute.

Throughout: `work` τ is the useful work between two writes (the write is not in it), `write` δ the time of a
write, `mtbf` M the mean time between failures, `restart` R the time of a restart, `downtime` D the
failure-free wait before each restart attempt. Failures strike at rate 1/M during work, write and restart; one
that strikes during the write loses the τ and the part of the write that was done. All arguments broadcast.

Source: the expected time follows Daly, "A higher order estimate of the optimum checkpoint interval for
restart dumps", 2006, with the downtime added; see `expected_segment`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from engine.reliability.lambert import Floats, minus_w0, work_share


def young(write: ArrayLike, mtbf: ArrayLike) -> Floats:
    """Return √(2δM), Young's interval of 1974."""
    return np.sqrt(2 * np.asarray(write, dtype=np.float64) * np.asarray(mtbf, dtype=np.float64))


def daly_first(write: ArrayLike, mtbf: ArrayLike) -> Floats:
    """Return √(2δM) − δ, which is negative beyond δ = 2M."""
    return np.asarray(young(write, mtbf) - np.asarray(write))


def daly_higher(write: ArrayLike, mtbf: ArrayLike) -> Floats:
    """Return √(2δM)·(1 + √(δ/2M)/3 + (δ/2M)/9) − δ where δ < 2M, else M."""
    delta, m = np.asarray(write, dtype=np.float64), np.asarray(mtbf, dtype=np.float64)
    half = delta / (2 * m)
    return np.asarray(np.where(half < 1, young(delta, m) * (1 + np.sqrt(half) / 3 + half / 9) - delta, m))


def optimum(write: ArrayLike, mtbf: ArrayLike) -> Floats:
    """Return the exact best interval τ* = M·(1 + W₀(−e^(−1−δ/M))); R and D do not move it."""
    m = np.asarray(mtbf, dtype=np.float64)
    return np.asarray(m * work_share(np.asarray(write, dtype=np.float64) / m))


def expected_segment(
    work: ArrayLike, write: ArrayLike, mtbf: ArrayLike, restart: ArrayLike, downtime: ArrayLike
) -> Floats:
    """Return E = (M + D)·e^(R/M)·(e^((τ+δ)/M) − 1), the expected time of one segment; ∞ on overflow."""
    m = np.asarray(mtbf, dtype=np.float64)
    with np.errstate(over="ignore"):
        tries = np.exp(np.asarray(restart) / m) * np.expm1((np.asarray(work) + np.asarray(write)) / m)
        return np.asarray((m + np.asarray(downtime)) * tries)


def log_expected_segment(
    work: ArrayLike, write: ArrayLike, mtbf: ArrayLike, restart: ArrayLike, downtime: ArrayLike
) -> Floats:
    """Return the natural logarithm of `expected_segment` in seconds, finite where that one overflows."""
    m = np.asarray(mtbf, dtype=np.float64)
    attempt = (np.asarray(work) + np.asarray(write)) / m
    return np.asarray(np.log(m + np.asarray(downtime)) + np.asarray(restart) / m + _log_expm1(attempt))


def goodput(
    work: ArrayLike, write: ArrayLike, mtbf: ArrayLike, restart: ArrayLike = 0.0, downtime: ArrayLike = 0.0
) -> Floats:
    """Return τ / E, the share of held time that becomes retained work: above 0, below 1."""
    return np.asarray(np.asarray(work) / expected_segment(work, write, mtbf, restart, downtime))


def log_goodput(
    work: ArrayLike, write: ArrayLike, mtbf: ArrayLike, restart: ArrayLike = 0.0, downtime: ArrayLike = 0.0
) -> Floats:
    """Return ln(τ / E), finite where the goodput itself underflows to 0."""
    return np.asarray(np.log(work) - log_expected_segment(work, write, mtbf, restart, downtime))


def best_goodput(
    write: ArrayLike, mtbf: ArrayLike, restart: ArrayLike = 0.0, downtime: ArrayLike = 0.0
) -> Floats:
    """Return the goodput at the best interval, −W₀(−e^(−1−δ/M))·e^(−R/M) / (1 + D/M)."""
    m = np.asarray(mtbf, dtype=np.float64)
    kept = minus_w0(np.asarray(write) / m)
    return np.asarray(kept * np.exp(-np.asarray(restart) / m) / (1 + np.asarray(downtime) / m))


def first_order_goodput(
    work: ArrayLike, write: ArrayLike, mtbf: ArrayLike, restart: ArrayLike = 0.0
) -> Floats:
    """Return 1 − δ/τ − τ/2M − R/M, which goes negative where failures are frequent; shown to teach that."""
    tau, m = np.asarray(work), np.asarray(mtbf)
    return np.asarray(1 - np.asarray(write) / tau - tau / (2 * m) - np.asarray(restart) / m)


def failures_per_segment(work: ArrayLike, write: ArrayLike, mtbf: ArrayLike) -> Floats:
    """Return e^((τ+δ)/M) − 1, the expected failures during the work and write of one segment."""
    return np.asarray(np.expm1((np.asarray(work) + np.asarray(write)) / np.asarray(mtbf)))


def flat_region(write: float, mtbf: float, share: float) -> tuple[float, float]:
    """Return the least and the greatest τ whose goodput is at least `share` of the best, by bisection.

    R and D scale the whole curve and do not move the region.
    """
    best = float(optimum(write, mtbf))
    level = math.log(share) + _log_shape(best, write, mtbf)

    def edge(outside: float, inside: float) -> float:
        for _ in range(100):
            middle = math.sqrt(outside * inside)
            above = _log_shape(middle, write, mtbf) >= level
            outside, inside = (outside, middle) if above else (middle, inside)
        return inside

    return edge(best * 1e-18, best), edge(best + 50 * mtbf, best)


def _log_shape(work: float, write: float, mtbf: float) -> float:
    attempt = (work + write) / mtbf
    tries = math.log(math.expm1(attempt)) if attempt < 1 else attempt + math.log1p(-math.exp(-attempt))
    return math.log(work) - tries


def _log_expm1(x: ArrayLike) -> Floats:
    a: Any = np.asarray(x, dtype=np.float64)
    small = np.log(np.expm1(np.minimum(a, 1.0)))
    return np.asarray(np.where(a < 1, small, a + np.log1p(-np.exp(-np.maximum(a, 1.0)))))
