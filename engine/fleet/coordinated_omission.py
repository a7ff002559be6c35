"""How a load test lies: latency timed from the send leaves out the requests that could not be sent.

One server freezes for a while. An open loop sends on schedule: every request meant for the freeze waits in
the queue, and its latency counts from the time for which it was meant. A closed loop sends the next request
when the last has come back and times it from then. The server does the same work at the same times; one slow
request is seen instead of a hundred.

Source: Schroeder, Wierman and Harchol-Balter, Open Versus Closed, NSDI 2006; the name is Gil Tene's.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pint

from engine.errors import InvalidInput
from engine.units import Quantity, si, whole


class Latencies(NamedTuple):
    """Latencies of the same requests, timed in two ways; shape `(requests,)`, in ms."""

    from_intended: pint.Quantity[Any]
    from_send: pint.Quantity[Any]


def latencies_around_a_freeze(requests: int, gap: Any, service: Any, freeze: tuple[Any, Any]) -> Latencies:
    """Return the latencies at one server that stands still from `freeze[0]` to `freeze[1]`.

    Request i is meant for i · gap and is served when the one before it is done, in the open loop because it
    queues, in the closed loop because it is sent only then.

    Parameters
    ----------
    requests: how many.
    gap: time between intended sends.
    service: time that the server works on a request; what is begun before the freeze is finished after it.
    freeze: begin and end, as times from the first request.

    Raises
    ------
    InvalidInput: for a time that is none, or a freeze that ends before it begins.
    """
    count = whole(requests, "requests", low=1)
    step, work = round(si(gap, "ms", "gap")), round(si(service, "ms", "service"))
    begin, end = (round(si(time, "ms", "freeze")) for time in freeze)
    if end < begin:
        raise InvalidInput("freeze", freeze, "a begin and a later end")
    intended = np.arange(count, dtype=np.int64) * step
    sent, done = np.empty((2, count), np.int64)
    free_at = 0
    for i, time in enumerate(intended.tolist()):
        sent[i] = start = max(time, free_at)
        done[i] = free_at = _finish(start, work, begin, end)
    return Latencies(Quantity(done - intended, "ms"), Quantity(done - sent, "ms"))


def _finish(start: int, work: int, begin: int, end: int) -> int:
    if start + work <= begin or start >= end:
        return start + work
    return end + work - max(0, begin - start)


__all__ = ["Latencies", "latencies_around_a_freeze"]
