"""The synthetic students of the labs: thousands of small jobs, from a seed.

Uniforms come from `random.Random(seed).randbytes`, the same on every platform; what is computed from them
is rounded to the millisecond, so that the last digit of a logarithm does not matter.
"""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from engine.facts import fact
from engine.model import Frozen
from engine.units import Fraction, PositiveTime

Floats = NDArray[np.float64]
HOUR_MS = 3_600_000


def _of(name: str) -> Any:
    return Field(default_factory=lambda: fact(name).quantity)


class StudentLoad(Frozen):
    """How students load a fleet. Every default is an assumption of the lab, kept in `facts/fleet.toml`.

    Run times are log-normal and clipped at `longest`; an estimate is the run time × uniform(1, 3), clipped
    too. Arrivals are Poisson with rate λ(t) = λ₀ (1 + swing · cos(2π (t − peak) / 24 h)), where λ₀ loads
    the fleet to `mean_load`: λ₀ = mean_load · GPUs / (E[GPUs of a job] · E[run]).
    """

    sizes: tuple[int, ...] = (1, 2, 4)
    shares: tuple[float, ...] = (0.5, 0.3, 0.2)
    run_median: PositiveTime = _of("fleet.student_run_median")
    run_sigma: float = Field(default_factory=lambda: fact("fleet.student_run_sigma").value, gt=0)
    longest: PositiveTime = Field(default="24 h")
    overestimate: float = Field(default=3.0, ge=1)
    mean_load: Fraction = _of("fleet.mean_load")
    daily_swing: Fraction = _of("fleet.daily_swing")
    peak: PositiveTime = Field(default="12 h")
    users: int = Field(default=400, ge=1)

    def mean_run_s(self) -> float:
        """Return E[min(X, longest)] of the log-normal X, in seconds.

        e^(μ + σ²/2) Φ((ln L − μ − σ²)/σ) + L (1 − Φ((ln L − μ)/σ))
        """
        mu, sigma = math.log(self.run_median.to("s").magnitude), self.run_sigma
        longest = self.longest.to("s").magnitude
        z = (math.log(longest) - mu) / sigma
        return math.exp(mu + sigma**2 / 2) * _phi(z - sigma) + longest * (1 - _phi(z))

    def mean_rate_per_ms(self, gpus: int) -> float:
        """Return λ₀ in jobs per millisecond on a fleet of `gpus`."""
        mean_size = sum(size * share for size, share in zip(self.sizes, self.shares, strict=True))
        return float(self.mean_load.magnitude) * gpus / (mean_size * self.mean_run_s() * 1000)


class Students:
    """The jobs of one seed, sorted by submit time; those of the first rows already run when the books open.

    Attributes
    ----------
    submit_ms, run_ms, estimate_ms, size, user: int64 arrays of shape (jobs,).
    already_running: how many rows at the start are running at time 0 with what is left of their run.
    """

    def __init__(self, load: StudentLoad, gpus: int, *, opens_ms: int, span_ms: int, seed: int) -> None:
        rate = load.mean_rate_per_ms(gpus)
        rng = random.Random(seed)
        stationary = _stationary(load, rate, rng)
        count = int(rate * span_ms * (1 + float(load.daily_swing.magnitude)) * 1.05) + 1000
        gaps = -np.log1p(-_uniforms(rng, count))
        submit = _warp(load, rate, np.cumsum(gaps), opens_ms, span_ms)
        submit = submit[submit < span_ms]
        run = _runs(load, rng, submit.size)
        estimate = np.minimum(run * (1 + (load.overestimate - 1) * _uniforms(rng, submit.size)), load_ms(load))
        self.already_running = stationary[0].size
        self.submit_ms = np.concatenate([np.zeros(self.already_running, np.int64), _ms(submit)])
        self.run_ms = np.concatenate([stationary[0], np.maximum(1, _ms(run))])
        self.estimate_ms = np.maximum(self.run_ms, np.concatenate([stationary[1], _ms(estimate)]))
        total = self.submit_ms.size
        self.size = _choose(load.sizes, load.shares, _uniforms(rng, total))
        self.user = (_uniforms(rng, total) ** 2 * load.users).astype(np.int64)


def load_ms(load: StudentLoad) -> float:
    """Return the longest run in milliseconds."""
    return float(load.longest.to("s").magnitude) * 1000


def _stationary(load: StudentLoad, rate: float, rng: random.Random) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return what is left, really and by the estimates, of the jobs that a mean day before left running.

    On a fleet without queues the jobs that arrived within the longest run before time 0 and have not ended
    are the stationary set, with their residual run times.
    """
    longest = load_ms(load)
    expected = rate * longest
    count = int(expected + 6 * math.sqrt(expected)) + 10
    age = np.cumsum(-np.log1p(-_uniforms(rng, count))) / rate
    run = _runs(load, rng, count)
    estimate = np.minimum(run * (1 + (load.overestimate - 1) * _uniforms(rng, count)), longest)
    left = (age < longest) & (run > age)
    return np.maximum(1, _ms((run - age)[left])), np.maximum(1, _ms((estimate - age)[left]))


def _runs(load: StudentLoad, rng: random.Random, count: int) -> Floats:
    """Log-normal run times in ms, from pairs of uniforms (Box and Muller), clipped at the longest."""
    pairs = (count + 1) // 2
    radius = np.sqrt(-2 * np.log1p(-_uniforms(rng, pairs)))
    angle = 2 * math.pi * _uniforms(rng, pairs)
    normal = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[:count]
    median = float(load.run_median.to("s").magnitude) * 1000
    return np.minimum(median * np.exp(load.run_sigma * normal), load_ms(load))


def _warp(load: StudentLoad, rate: float, unit_times: Floats, opens_ms: int, span_ms: int) -> Floats:
    """Map arrivals of unit rate to the daily rate by inverting its integral on a grid of one minute."""
    grid = np.arange(0, span_ms * 1.1 + 60_000, 60_000.0)
    swing, day = float(load.daily_swing.magnitude), 24 * HOUR_MS
    phase = 2 * math.pi * (grid + opens_ms - load.peak.to("s").magnitude * 1000) / day
    integral = rate * (grid + swing * day / (2 * math.pi) * (np.sin(phase) - math.sin(phase[0])))
    inside = unit_times[unit_times < integral[-1]]
    return np.interp(inside, integral, grid)


def _choose(values: tuple[int, ...], shares: tuple[float, ...], uniforms: Floats) -> NDArray[np.int64]:
    return np.array(values, np.int64)[np.searchsorted(np.cumsum(shares)[:-1], uniforms, side="right")]


def _uniforms(rng: random.Random, count: int) -> Floats:
    """Return uniforms in [0, 1) with 53 bits, the same on every platform."""
    words = np.frombuffer(rng.randbytes(8 * count), dtype="<u8")
    return (words >> np.uint64(11)) * 2.0**-53


def _ms(times: Floats) -> NDArray[np.int64]:
    return np.rint(times).astype(np.int64)


def _phi(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2))
