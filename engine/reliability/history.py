"""One run played through given failures, in whole milliseconds: work, write, lost, wait and restart."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Literal, NamedTuple

StretchKind = Literal["work", "write", "lost", "wait", "restart"]


class Stretch(NamedTuple):
    """What the job does from `start` to `end`, in milliseconds."""

    kind: StretchKind
    start: int
    end: int


class Pace(NamedTuple):
    """The job's times in milliseconds: work between writes, a write, and downtime and restart on failure."""

    work: int
    write: int
    downtime: int
    restart: int


class History(NamedTuple):
    """What the job did up to each of the moments `ends`, from 0 on and without gaps."""

    kinds: list[StretchKind]
    ends: list[int]

    def add(self, kind: StretchKind, end: int) -> None:
        """Append a stretch that lasts to `end`, unless it has no length."""
        if end > (self.ends[-1] if self.ends else 0):
            self.kinds.append(kind)
            self.ends.append(end)

    def until(self, window: int) -> History:
        """Return the history with what lies beyond `window` cut off."""
        inside = bisect_left(self.ends, window)
        return History(self.kinds[: inside + 1], [*self.ends[:inside], window])


def play(pace: Pace, failures: Sequence[int], window: int) -> History:
    """Return what the job does from 0 to `window` when failures strike at the given moments.

    A segment that a failure ends is `lost` from its start, the begun write included. A failure during the
    downtime changes nothing; one during the restart starts the downtime anew. What the window cuts off in the
    middle counts as what it would have become.

    Parameters
    ----------
    pace: the times of the job; work and write must be above 0.
    failures: moments in milliseconds, ascending.
    window: where the history ends, above 0.
    """
    history, clock, down = History([], []), 0, False
    for failure in [*failures, max(window, failures[-1] if failures else 0) + pace.work + pace.write + 1]:
        if failure <= clock or clock >= window:
            continue
        if down and failure < clock + pace.restart:
            history.add("restart", failure)
        else:
            if down:
                clock += pace.restart
                history.add("restart", clock)
            _work(history, pace, clock, failure)
        clock, down = failure + pace.downtime, True
        history.add("wait", clock)
    return history.until(window)


def _work(history: History, pace: Pace, clock: int, failure: int) -> None:
    """Append whole periods of work and write from `clock`, and what the failure takes."""
    period = pace.work + pace.write
    whole = (failure - clock) // period
    ends = [0] * (2 * whole)
    ends[::2] = range(clock + pace.work, clock + pace.work + whole * period, period)
    ends[1::2] = range(clock + period, clock + period + whole * period, period)
    history.kinds.extend(("work", "write") * whole)
    history.ends.extend(ends)
    history.add("lost", failure)
