"""Closed forms of queueing theory, against which the simulated pool is checked.

One queue, first come, first served; arrivals are Poisson but for bursts. With arrival rate λ, mean service
time s and c servers, the utilisation is ρ = λ s / c, and a queue with ρ ≥ 1 has no steady state.

Source: Kleinrock, Queueing Systems, volume 1, 1975, chapters 3 and 5.
"""

from __future__ import annotations

import math
from typing import Any

import pint

from engine.errors import NoAnswer
from engine.model import Frozen
from engine.units import Quantity, Time, number, si, whole


class QueueFigures(Frozen):
    """The steady state of a queue.

    Parameters
    ----------
    utilisation: share of the time that a server is busy.
    wait_probability: share of the customers that wait at all.
    mean_wait: mean time in the queue, before service.
    mean_response: mean time in the system, service included.
    mean_waiting: mean number of customers in the queue, λ · mean wait.
    """

    utilisation: float
    wait_probability: float
    mean_wait: Time
    mean_response: Time
    mean_waiting: float


class BurstFigures(Frozen):
    """Waits when customers come in bursts: utilisation, mean and longest wait."""

    utilisation: float
    mean_wait: Time
    max_wait: Time


def mg1(arrival_rate: Any, service: Any, squared_variation: Any) -> QueueFigures:
    """Return the steady state of one server with any distribution of service times.

    Wq = ρ s (1 + C²) / (2 (1 − ρ)), the formula of Pollaczek and Khinchine.

    Parameters
    ----------
    arrival_rate: λ, a quantity per time.
    service: s, the mean service time, above 0.
    squared_variation: C², variance of the service time over its squared mean.

    Raises
    ------
    InvalidInput: for a quantity that is none.
    NoAnswer: if ρ ≥ 1.
    """
    rate, mean = _inputs(arrival_rate, service)
    variation = number(squared_variation, "squared_variation", low=0.0)
    load = _load(rate * mean)
    return _figures(rate, mean, load, load, load * mean * (1 + variation) / (2 * (1 - load)))


def mm1(arrival_rate: Any, service: Any) -> QueueFigures:
    """Return the steady state of one server with exponential service times: Wq = ρ s / (1 − ρ).

    Parameters and errors as for `mg1`.
    """
    return mg1(arrival_rate, service, 1)


def md1(arrival_rate: Any, service: Any) -> QueueFigures:
    """Return the steady state of one server with constant service times: half the wait of `mm1`.

    Parameters and errors as for `mg1`.
    """
    return mg1(arrival_rate, service, 0)


def mmc(arrival_rate: Any, service: Any, servers: int) -> QueueFigures:
    """Return the steady state of `servers` equal servers with exponential service times.

    Wq = C s / (c (1 − ρ)), where C is Erlang's probability of waiting. It comes from Erlang's loss B by
    B(0) = 1, B(k) = a B(k−1) / (k + a B(k−1)) with a = λ s, and C = B(c) / (1 − ρ (1 − B(c))), which
    neither overflows nor cancels for thousands of servers.

    Parameters and errors as for `mg1`.
    """
    rate, mean = _inputs(arrival_rate, service)
    count = whole(servers, "servers", low=1)
    load = _load(rate * mean / count)
    loss = 1.0
    for k in range(1, count + 1):
        loss = rate * mean * loss / (k + rate * mean * loss)
    waits = loss / (1 - load * (1 - loss))
    return _figures(rate, mean, load, waits, waits * mean / (count * (1 - load)))


def mm1_response_quantile(arrival_rate: Any, service: Any, share: float) -> pint.Quantity[Any]:
    """Return the time within which `share` of the customers of `mm1` have left: −ln(1 − share) · s / (1 − ρ).

    Parameters
    ----------
    share: 0 … 1, without 1.
    """
    rate, mean = _inputs(arrival_rate, service)
    part = number(share, "share", low=0.0, high=math.nextafter(1.0, 0.0))
    return Quantity(-math.log1p(-part) * mean / (1 - _load(rate * mean)), "s")


def burst(size: int, interval: Any, service: Any, bursts: int | None = None) -> BurstFigures:
    """Return the waits at one server when `size` customers come at once, every `interval`.

    Within a burst customer i waits i · s. If a burst takes longer than the interval, each leaves b s − T to
    the next: mean (b − 1) s / 2 + (b s − T) (k − 1) / 2 over k bursts, longest (b − 1) s + (b s − T) (k − 1).

    Parameters
    ----------
    size: b, customers in a burst.
    interval, service: T and s, both above 0.
    bursts: k, how many bursts there are; needed only when they pile up.

    Raises
    ------
    NoAnswer: if bursts pile up without end.
    """
    count = whole(size, "size", low=1)
    period, time = si(interval, "s", "interval", low_open=True), si(service, "s", "service", low_open=True)
    left_over = max(0.0, count * time - period)
    if left_over and bursts is None:
        raise NoAnswer("Each burst takes longer than the interval.", hint="Say how many bursts there are.")
    piled = left_over * (whole(bursts, "bursts", low=1) - 1) if bursts is not None else 0.0
    longest = (count - 1) * time
    return BurstFigures(
        utilisation=min(1.0, count * time / period),
        mean_wait=Quantity((longest + piled) / 2, "s"),
        max_wait=Quantity(longest + piled, "s"),
    )


def _inputs(arrival_rate: Any, service: Any) -> tuple[float, float]:
    return si(arrival_rate, "1/s", "arrival_rate"), si(service, "s", "service", low_open=True)


def _load(load: float) -> float:
    if load >= 1:
        raise NoAnswer(
            f"The queue grows without end: its servers are wanted {load:.4g} times as much as they can give.",
            hint="Lower the arrival rate, shorten the service or add servers.",
            utilisation=load,
        )
    return load


def _figures(rate: float, mean: float, load: float, waits: float, wait: float) -> QueueFigures:
    return QueueFigures(
        utilisation=load,
        wait_probability=waits,
        mean_wait=Quantity(wait, "s"),
        mean_response=Quantity(wait + mean, "s"),
        mean_waiting=rate * wait,
    )


__all__ = ["BurstFigures", "QueueFigures", "burst", "md1", "mg1", "mm1", "mm1_response_quantile", "mmc"]
