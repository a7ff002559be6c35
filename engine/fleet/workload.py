"""The synthetic students of the labs: thousands of small jobs, from a seed.

Uniforms are the words of `random.Random(seed)`, drawn by numpy's Mersenne Twister from the state of that
generator, and what is made of them is made by `engine.elementary`: a seed has the same jobs, to the
millisecond, on every platform where it was compared.
"""

from __future__ import annotations

import math
import random
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from engine.elementary import Floats, cosine_and_sine, exponential, logarithm
from engine.errors import InvalidInput
from engine.facts import fact
from engine.model import Frozen
from engine.units import Fraction, PositiveTime

HOUR_MS = 3_600_000
_STEP_MS = 60_000.0


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

    @model_validator(mode="after")
    def _shares_of_sizes(self) -> Self:
        if not self.sizes or min(self.sizes) < 1:
            raise InvalidInput("sizes", self.sizes, "sizes of at least 1 GPU")
        total = math.fsum(self.shares)
        if len(self.shares) != len(self.sizes) or min(self.shares) < 0 or not math.isclose(total, 1):
            raise InvalidInput("shares", self.shares, "one share of at least 0 for each size, 1 in all")
        return self

    def mean_run_s(self) -> float:
        """Return E[min(X, longest)] of the log-normal X, in seconds.

        e^(μ + σ²/2) Φ((ln L − μ − σ²)/σ) + L (1 − Φ((ln L − μ)/σ))
        """
        mu, sigma = math.log(float(self.run_median.to("s").magnitude)), self.run_sigma
        longest = float(self.longest.to("s").magnitude)
        z = (math.log(longest) - mu) / sigma
        return math.exp(mu + sigma**2 / 2) * _phi(z - sigma) + longest * (1 - _phi(z))

    def mean_rate_per_ms(self, gpus: int) -> float:
        """Return λ₀ in jobs per millisecond on a fleet of `gpus`."""
        mean_size = math.fsum(size * share for size, share in zip(self.sizes, self.shares, strict=True))
        return float(self.mean_load.magnitude) * gpus / (mean_size * self.mean_run_s() * 1000)


class Students:
    """The jobs of one seed, sorted by submit time; those of the first rows already run when the books open.

    Arrivals begin one longest run before the books open. On a fleet without queues, those that have not
    ended by then are the stationary set at that hour; they are taken over with what is left of their run.

    Attributes
    ----------
    submit_ms, run_ms, estimate_ms, size: int64 arrays of shape (jobs,).
    already_running: how many rows at the start are running at time 0 with what is left of their run.
    """

    noun = "small student job"

    def __init__(self, load: StudentLoad, gpus: int, *, opens_ms: int, span_ms: int, seed: int) -> None:
        longest = round(load.longest.to("s").magnitude * 1000)
        rng = _Uniforms(seed)
        arrival = _arrivals(load, rng, gpus, opens_ms - longest, span_ms + longest) - longest
        run = np.minimum(_log_normal(load, rng, arrival.size), longest)
        factor = 1 + (load.overestimate - 1) * rng.take(arrival.size)
        estimate = np.minimum(run * factor, longest)
        size = _choose(load.sizes, load.shares, rng.take(arrival.size))
        user = (rng.take(arrival.size) ** 2 * load.users).astype(np.int64)
        before = np.minimum(arrival, 0.0)  # minus the part of the run that lies before the books
        kept = run + before > 0
        self.already_running = int(np.count_nonzero(kept & (arrival < 0)))
        self.submit_ms = _ms(np.maximum(arrival, 0.0)[kept])
        self.run_ms = np.maximum(1, _ms((run + before)[kept]))
        self.estimate_ms = np.maximum(self.run_ms, _ms((estimate + before)[kept]))
        self.size, self._user = size[kept], user[kept]

    def owner(self, row: int) -> str:
        """Return whose job it is."""
        return f"student {self._user[row] + 1}"


def _arrivals(load: StudentLoad, rng: _Uniforms, gpus: int, opens_ms: int, span_ms: int) -> Floats:
    """Return Poisson arrivals at the daily rate: unit-rate ones, mapped by the inverse of its integral."""
    rate, swing = load.mean_rate_per_ms(gpus), float(load.daily_swing.magnitude)
    grid = np.arange(0, span_ms + _STEP_MS, _STEP_MS)
    day = 24.0 * HOUR_MS
    _, sine = cosine_and_sine((grid + opens_ms - load.peak.to("s").magnitude * 1000) / day)
    integral = rate * (grid + swing * day / (2 * math.pi) * (sine - sine[0]))
    most = integral[-1]
    gaps = -logarithm(1 - rng.take(int(most + 8 * math.sqrt(most)) + 20))
    unit = np.cumsum(gaps)
    times = _interpolated(unit[unit < most], integral, grid)
    return times[times < span_ms]


def _interpolated(x: Floats, nodes: Floats, values: Floats) -> Floats:
    # Not np.interp, which a compiler may build with multiplications and additions fused.
    after = np.searchsorted(nodes, x, side="right")
    before = after - 1
    share = (x - nodes[before]) / (nodes[after] - nodes[before])
    return np.asarray(values[before] + share * (values[after] - values[before]))


def _log_normal(load: StudentLoad, rng: _Uniforms, count: int) -> Floats:
    """Return log-normal run times in ms, from pairs of uniforms by the method of Box and Muller."""
    pairs = (count + 1) // 2
    radius = np.sqrt(-2 * logarithm(1 - rng.take(pairs)))
    cosine, sine = cosine_and_sine(rng.take(pairs))
    normal = np.concatenate([radius * cosine, radius * sine])[:count]
    median = float(load.run_median.to("s").magnitude) * 1000
    return median * exponential(load.run_sigma * normal)


def _choose(values: tuple[int, ...], shares: tuple[float, ...], uniforms: Floats) -> NDArray[np.int64]:
    return np.array(values, np.int64)[np.searchsorted(np.cumsum(shares)[:-1], uniforms, side="right")]


class _Uniforms:
    """Uniforms in [0, 1) with 53 bits, the same on every platform: the Mersenne Twister of `random.Random`.

    numpy's copy of it draws the same words in a fraction of the time.
    """

    def __init__(self, seed: int) -> None:
        *key, position = random.Random(seed).getstate()[1]
        self._words = np.random.MT19937(0)  # its state is replaced
        self._words.state = {
            "bit_generator": "MT19937",
            "state": {"key": np.array(key, np.uint32), "pos": position},
        }

    def take(self, count: int) -> Floats:
        """Return the next `count` of them."""
        words = self._words.random_raw(2 * count).astype("<u4").view("<u8")
        return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _ms(times: Floats) -> NDArray[np.int64]:
    return np.rint(times).astype(np.int64)


def _phi(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2))
