"""Arrivals: when each job or request is meant to arrive, fixed before the run.

A schedule does not look at the system under load. A slow system builds a queue; it does not slow the
traffic down. That is what makes the loop open; in a closed loop the next request is sent when one
returns, so there is no schedule.

Source: Schroeder, Wierman and Harchol-Balter, "Open versus closed", NSDI 2006.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_left
from collections.abc import Iterator
from itertools import chain, islice, repeat
from itertools import count as count_up
from typing import Any

from engine.errors import InvalidInput
from engine.fleet.arrival_spec import OWN_FIELDS, ArrivalSpec
from engine.fleet.arrival_trace import ArrivalTrace, load_arrival_trace, real
from engine.units import whole

MAX_ARRIVALS = 1_000_000
"""The longest schedule; a longer one is more likely a slip in a rate than a wish."""


def arrival_offsets(
    spec: ArrivalSpec, *, count: int | None = None, duration_seconds: float | None = None, seed: int = 0
) -> list[float]:
    """Return the seconds from the start at which arrivals are due, in ascending order, the first at 0.

    - fixed rate r: tᵢ = i / r
    - Poisson, rate r: t₀ = 0, tᵢ₊₁ = tᵢ + gap, each gap from `random.Random(seed).expovariate(r)`
    - bursts of n every d seconds: tᵢ = ⌊i / n⌋ · d
    - replay: the offsets of the trace

    Parameters
    ----------
    spec: the mode and its fields.
    count: keep at most so many arrivals.
    duration_seconds: keep what is strictly before a window of this length closes.
    seed: a whole number of at least 0; only Poisson arrivals depend on it.

    Raises
    ------
    InvalidInput: for a closed loop; for an open one with neither count nor duration (a replay may have
        neither); for a count, duration or seed out of range; for more than 1,000,000 arrivals.
    """
    limits = _limits(spec, count, duration_seconds)
    seed = whole(seed, "seed")
    if not spec.open_loop:
        raise InvalidInput("mode", spec.mode, "an open-loop mode; a closed loop has no schedule")
    if spec.mode == "poisson":
        offsets = looped_offsets(spec, *limits, seed)
    elif spec.trace is not None:
        offsets = _replayed(spec.trace, *limits)
    else:
        offsets = _on_grid(spec, *limits)
    if len(offsets) > MAX_ARRIVALS:
        raise _too_many(spec, *limits)
    if offsets:
        _finite(spec, offsets[-1])
    return offsets


def scheduled_endpoint(
    spec: ArrivalSpec, *, count: int | None = None, duration_seconds: float | None = None, seed: int = 0
) -> float | None:
    """Return the second at which the schedule ends, or None if it has no end of its own.

    A schedule that its duration cuts ends at the duration. One that its count cuts ends at the first
    offset of the unbounded schedule strictly after its last arrival, so that N arrivals at rate r span
    N / r: two requests at 10/s are 10/s, not 20/s. Of two limits the one reached first holds. A replay
    ends only at a duration; a closed loop and a schedule of count 0 have no end.

    Parameters and errors are those of `arrival_offsets`, except that a closed loop is no error.
    """
    count, duration = _limits(spec, count, duration_seconds)
    if not spec.open_loop or count == 0:
        return None
    offsets = arrival_offsets(spec, count=count, duration_seconds=duration, seed=seed)
    if spec.mode == "replay" or len(offsets) != count:
        return duration
    following = next(offset for offset in _unbounded(spec, seed) if offset > offsets[-1])
    return _finite(spec, following if duration is None else min(following, duration))


def looped_offsets(spec: ArrivalSpec, count: int | None, duration: float | None, seed: int) -> list[float]:
    """Return the offsets made one by one: the definition that a faster way must reproduce bit for bit.

    Stops one past `MAX_ARRIVALS`. Inputs are taken as checked; see `arrival_offsets`.
    """
    offsets: list[float] = []
    for offset in islice(_unbounded(spec, seed), _most(count)):
        if duration is not None and offset >= duration:
            break
        offsets.append(offset)
    return offsets


def _unbounded(spec: ArrivalSpec, seed: int) -> Iterator[float]:
    rate: Any = spec.rate_per_second
    interval: Any = spec.burst_interval_seconds
    if spec.mode == "poisson":
        return _poisson(rate, seed)
    if spec.mode == "burst":
        return chain.from_iterable(repeat(burst * interval, spec.burst_size or 1) for burst in count_up())
    if spec.mode == "fixed-rate":
        return (arrival / rate for arrival in count_up())
    return iter(spec.trace.offsets_seconds if spec.trace is not None else ())


def _poisson(rate: float, seed: int) -> Iterator[float]:
    # Not numpy: the last bit of its logarithm differs between builds.
    draw = random.Random(seed).expovariate
    offset = 0.0
    while True:
        yield offset
        offset += draw(rate)


def _on_grid(spec: ArrivalSpec, count: int | None, duration: float | None) -> list[float]:
    import numpy as np

    most, size = _most(count), spec.burst_size or 1
    rate: Any = spec.rate_per_second
    interval = spec.burst_interval_seconds or 1 / rate
    steps = -(-most // size)
    if duration is not None:
        # The quotient is off by less than one step, so two more steps cover the window.
        steps = min(steps, int(min(duration / interval, MAX_ARRIVALS)) + 2)
    with np.errstate(over="ignore"):
        numbers = np.arange(steps, dtype=np.float64)
        grid = numbers * interval if spec.mode == "burst" else numbers / rate
    if duration is not None:
        grid = grid[: np.searchsorted(grid, duration, side="left")]
    offsets: list[float] = np.repeat(grid, min(size, most))[:most].tolist()
    return offsets


def _replayed(trace: ArrivalTrace, count: int | None, duration: float | None) -> list[float]:
    offsets = trace.offsets_seconds
    end = len(offsets) if duration is None else bisect_left(offsets, duration)
    return list(offsets[: end if count is None else min(end, count)])


def _limits(spec: ArrivalSpec, count: Any, duration: Any) -> tuple[int | None, float | None]:
    if count is None and duration is None and spec.mode not in ("closed", "replay"):
        raise InvalidInput("count", None, "a count, a duration_seconds or both; open arrivals never end")
    count = None if count is None else whole(count, "count")
    if duration is not None:
        duration = real(duration, "duration_seconds", "a finite number of seconds of at least 0")
    return count, duration


def _most(count: int | None) -> int:
    return MAX_ARRIVALS + 1 if count is None else min(count, MAX_ARRIVALS + 1)


def _too_many(spec: ArrivalSpec, count: int | None, duration: float | None) -> InvalidInput:
    limits = {"count": count, "duration_seconds": duration}
    inputs = [name for name, limit in limits.items() if limit is not None] + list(OWN_FIELDS[spec.mode])
    first = limits.get(inputs[0], f"{spec.mode} arrivals")
    accepted = f"inputs that make at most {MAX_ARRIVALS:,} arrivals"
    return InvalidInput(inputs[0], first, accepted, hint=f"Check {', '.join(inputs)}.")


def _finite(spec: ArrivalSpec, offset: float) -> float:
    if math.isinf(offset):
        name = OWN_FIELDS[spec.mode][-1]
        raise InvalidInput(name, getattr(spec, name), "a value that puts arrivals at finite times")
    return offset


__all__ = [
    "MAX_ARRIVALS",
    "ArrivalSpec",
    "ArrivalTrace",
    "arrival_offsets",
    "load_arrival_trace",
    "looped_offsets",
    "scheduled_endpoint",
]
