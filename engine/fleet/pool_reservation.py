"""The reservation of a blocked head: when it can start by the estimates, and what is left over then."""

from __future__ import annotations

from bisect import bisect_left


class Reservation:
    """Estimated ends of the running jobs in order, and how many of them the head must wait for.

    Let A(t) be the units free at t if every running job ends at its estimated end. The shadow is the least
    t with A(t) ≥ need, and extra = A(shadow) − need. Both are recomputed at every event; but an event moves
    A by one job, so the end that opens the shadow is found by walking from where it was before.

    Parameters
    ----------
    units: units of the machine, all free at first.
    size: size of each job by its number.
    """

    def __init__(self, units: int, size: list[int]) -> None:
        self._size = size
        self._bits = max(1, len(size)).bit_length()
        self._mask = (1 << self._bits) - 1
        self._ends: list[int] = []
        self._needed = 0
        self._reached = units

    def start(self, job: int, estimated_end: int) -> None:
        """Hold the units of a job until its estimated end."""
        key = estimated_end << self._bits | job
        position = bisect_left(self._ends, key)
        self._ends.insert(position, key)
        if position < self._needed:
            self._needed += 1
        else:
            self._reached -= self._size[job]

    def end(self, job: int, estimated_end: int) -> None:
        """Give the units of a job back, be it before its estimated end or after."""
        position = bisect_left(self._ends, estimated_end << self._bits | job)
        del self._ends[position]
        if position < self._needed:
            self._needed -= 1
        else:
            self._reached += self._size[job]

    def shadow(self, need: int, now: int) -> tuple[int, int]:
        """Return the shadow time and the extra units of a head of `need` units that is blocked at `now`.

        The estimated end of a job that has outrun its estimate is now.
        """
        ends, size, mask = self._ends, self._size, self._mask
        needed, reached = self._needed, self._reached
        while reached < need:
            reached += size[ends[needed] & mask]
            needed += 1
        while needed and reached - size[ends[needed - 1] & mask] >= need:
            needed -= 1
            reached -= size[ends[needed] & mask]
        self._needed, self._reached = needed, reached
        shadow = max(now, ends[needed - 1] >> self._bits) if needed else now
        later = (shadow + 1) << self._bits
        while needed < len(ends) and ends[needed] < later:
            reached += size[ends[needed] & mask]
            needed += 1
        return shadow, reached - need


__all__ = ["Reservation"]
