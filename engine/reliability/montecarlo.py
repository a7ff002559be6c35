"""A run played out attempt by attempt: an independent check of the closed forms, with an honest band.

An attempt is one segment of work and its write. A failure that strikes before the write is whole ends it;
then come the downtime and a restart, which a failure may strike too. Attempts are independent, so the goodput
is a ratio of two means, retained work by elapsed time. Times are whole ticks of M/2³⁶, which add up exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from engine.errors import InvalidInput, NoAnswer
from engine.model import Frozen
from engine.reliability.checkpoint import NO_TIME, segments
from engine.reliability.draws import Draws, settled
from engine.reliability.fields import Count, CountOrZero
from engine.units import Time, number, si, whole

Ticks = NDArray[np.int64]
_PER_MTBF = 2.0**36
_CHUNK = 1 << 16
_ENOUGH = 100
_LONGEST = 5.0


class MonteCarloGoodput(Frozen):
    """A simulated goodput with its standard error and band, and why the simulation stopped.

    The band holds the true value with the asked confidence. It is not trusted, and the run goes on to its
    budget, before 100 failures and 100 finished segments were seen.
    """

    goodput: float
    standard_error: float
    low: float
    high: float
    confidence: float
    attempts: Count
    segments: CountOrZero
    failures: CountOrZero
    stopped: Literal["narrow", "budget"]


class RunTimes(Frozen):
    """How long whole runs took: mean with standard error, and the spread from run to run."""

    runs: Count
    mean: Time
    standard_error: Time
    p05: Time
    p50: Time
    p95: Time


@dataclass(frozen=True, slots=True)
class Process:
    """What happens between failures, in ticks of M/2³⁶: the restart R, the downtime D, and M in seconds."""

    mtbf: float
    restart: int
    downtime: int

    def ticks(self, time: float) -> int:
        """Return a time in seconds as ticks."""
        return round(time / self.mtbf * _PER_MTBF)

    def attempts(self, draws: Draws, count: int) -> tuple[Ticks, Ticks]:
        """Return when a failure would strike each of `count` attempts, and how long the job is then down."""
        strikes, down = _exponential(draws, count), np.full(count, self.downtime, dtype=np.int64)
        pending = np.arange(count)
        while self.restart and pending.size:
            strike = _exponential(draws, pending.size)
            down[pending] += np.minimum(strike, self.restart)
            pending = pending[strike < self.restart]
            down[pending] += self.downtime
        return strikes, down


class Tally:
    """Sums over attempts, from which the ratio and its standard error follow."""

    def __init__(self) -> None:
        self.attempts = self.kept = self.elapsed = 0
        self.squares = self.length = 0.0

    def add(self, strikes: Ticks, down: Ticks, length: int) -> None:
        """Count attempts of one length in ticks."""
        fails = strikes < length
        wasted = strikes[fails] + down[fails]
        kept = len(strikes) - len(wasted)
        self.attempts += len(strikes)
        self.kept += kept
        self.elapsed += kept * length + int(wasted.sum())
        self.squares += kept * float(length) ** 2 + float(np.square(wasted, dtype=np.float64).sum())
        self.length = float(length)

    def ratio(self, work: float) -> tuple[float, float]:
        """Return the goodput and its standard error for `work` retained by a kept attempt, in ticks.

        With retained w·Sᵢ and elapsed Tᵢ, g = wΣS/ΣT and se² = Σ(w·Sᵢ − g·Tᵢ)² / (ΣT)².
        """
        g = work * self.kept / self.elapsed
        spread = work * self.kept * (work - 2 * g * self.length) + g * g * self.squares
        return g, settled(math.sqrt(max(0.0, spread)) / self.elapsed)


def simulate_goodput(
    interval: Any,
    write_time: Any,
    mtbf: Any,
    restart_time: Any = NO_TIME,
    downtime: Any = NO_TIME,
    *,
    seed: int,
    tolerance: float = 0.001,
    budget: int = 1_000_000,
    confidence: float = 0.95,
) -> MonteCarloGoodput:
    """Return the goodput of a simulated run, by default to ± 0.001 or for a million attempts.

    Parameters
    ----------
    interval, write_time, mtbf: τ, δ and M, times above 0.
    restart_time, downtime: R and D, each of at most 5·M, since longer ones practically never end.
    seed: of the draws; the same seed gives the same result everywhere.
    tolerance: the run stops when half the band is at most this wide.
    budget: the run stops after this many attempts.
    confidence: of the band, between 0 and 1.

    Raises
    ------
    InvalidInput: naming the parameter.
    NoAnswer: if R or D is more than 5·M.
    """
    process, work, length = _process(interval, write_time, mtbf, restart_time, downtime)
    limit, most = number(tolerance, "tolerance", low=0.0), whole(budget, "budget", low=1)
    width = NormalDist().inv_cdf(0.5 + _open_share(confidence) / 2)
    draws, tally = Draws(whole(seed, "seed")), Tally()
    narrow = False
    while tally.attempts < most and not narrow:
        tally.add(*process.attempts(draws, min(_CHUNK, most - tally.attempts)), length)
        goodput, error = tally.ratio(work)
        seen = min(tally.kept, tally.attempts - tally.kept)
        narrow = seen >= _ENOUGH and width * error <= limit
    return MonteCarloGoodput(
        goodput=goodput,
        standard_error=error,
        low=max(0.0, goodput - width * error),
        high=min(1.0, goodput + width * error),
        confidence=confidence,
        attempts=tally.attempts,
        segments=tally.kept,
        failures=tally.attempts - tally.kept,
        stopped="narrow" if narrow else "budget",
    )


def simulate_runs(
    work: Any,
    interval: Any,
    write_time: Any,
    mtbf: Any,
    restart_time: Any = NO_TIME,
    downtime: Any = NO_TIME,
    *,
    seed: int,
    runs: int = 200,
    budget: int = 4_000_000,
) -> RunTimes:
    """Return how long `runs` whole runs of work W take, each cut into n = max(1, round(W/τ)) equal segments.

    Every segment ends with a write. Parameters and errors are those of `simulate_goodput`.

    Raises
    ------
    NoAnswer: if the runs are not finished after `budget` attempts.
    """
    parts = segments(work, interval)
    segment = (si(work, "s", "work", low_open=True) / parts, "s")
    process, _, length = _process(segment, write_time, mtbf, restart_time, downtime)
    wanted, most = whole(runs, "runs", low=2) * parts, whole(budget, "budget", low=1)
    draws, done, clock = Draws(whole(seed, "seed")), 0, 0
    ends: list[int] = []
    for _ in range(0, most, _CHUNK):
        strikes, down = process.attempts(draws, _CHUNK)
        kept = strikes >= length
        elapsed = np.cumsum(np.where(kept, length, strikes + down))
        ends += [clock + int(end) for end in elapsed[kept][(-done - 1) % parts :: parts]]
        done, clock = done + int(np.count_nonzero(kept)), clock + int(elapsed[-1])
        if done >= wanted:
            return _run_times(ends[:runs], process.mtbf / _PER_MTBF)
    raise NoAnswer(
        f"{done // parts} of {runs} runs were finished after {most} attempts.",
        hint="Give a larger budget, fewer runs or less work.",
    )


def goodput_points(
    intervals: list[float],
    write: float,
    mtbf: float,
    restart: float,
    downtime: float,
    *,
    seed: int,
    attempts: int,
) -> list[tuple[float, float]]:
    """Return the simulated goodput and its standard error at each interval, from one set of failures.

    All times are plain seconds; the limits are those of `simulate_goodput`. Common failures make the points
    comparable with each other and cost one set of draws.
    """
    process = Process(mtbf, round(restart / mtbf * _PER_MTBF), round(downtime / mtbf * _PER_MTBF))
    strikes, down = process.attempts(Draws(seed), attempts)
    points = []
    for interval in intervals:
        tally = Tally()
        tally.add(strikes, down, process.ticks(interval + write))
        points.append(tally.ratio(interval / mtbf * _PER_MTBF))
    return points


def _run_times(ends: list[int], tick: float) -> RunTimes:
    lengths = sorted(end - start for start, end in pairwise([0, *ends]))
    mean, count = sum(lengths) / len(lengths), len(lengths)
    error = math.sqrt(math.fsum((x - mean) ** 2 for x in lengths) / (count - 1) / count)
    p05, p50, p95 = (lengths[max(0, math.ceil(p * count) - 1)] for p in (0.05, 0.5, 0.95))
    names = ("mean", "standard_error", "p05", "p50", "p95")
    values = zip(names, (mean, error, p05, p50, p95), strict=True)
    return RunTimes(runs=count, **{name: (float(ticks) * tick, "s") for name, ticks in values})


def _process(
    interval: Any, write_time: Any, mtbf: Any, restart_time: Any, downtime: Any
) -> tuple[Process, float, int]:
    m = si(mtbf, "s", "mtbf", low_open=True)
    tau = si(interval, "s", "interval", low_open=True)
    length = (tau + si(write_time, "s", "write_time", low_open=True)) / m
    restart, down = si(restart_time, "s", "restart_time") / m, si(downtime, "s", "downtime") / m
    if max(restart, down) > _LONGEST:
        raise NoAnswer(
            "A restart or downtime of more than 5 mean times between failures practically never ends.",
            hint="The closed form still gives the goodput.",
        )
    return (
        Process(mtbf=m, restart=round(restart * _PER_MTBF), downtime=round(down * _PER_MTBF)),
        tau / m * _PER_MTBF,
        round(min(length, 1e6) * _PER_MTBF),
    )


def _exponential(draws: Draws, count: int) -> Ticks:
    return np.asarray(np.rint(draws.exponentials(count) * _PER_MTBF), dtype=np.int64)


def _open_share(confidence: float) -> float:
    share = number(confidence, "confidence", low=0.0, high=1.0, low_open=True)
    if share == 1:
        raise InvalidInput("confidence", confidence, "a number above 0 and below 1")
    return share
