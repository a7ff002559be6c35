"""Conservative backfilling: nobody may delay anybody who came before.

Source: Mu'alem and Feitelson, IEEE TPDS 12(6), 2001, section 2.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from engine.fleet.pool import Workload

Window = tuple[int, int, int]
"""Planned maintenance: start and end in ms, and how many units no job may hold meanwhile."""


class Profile:
    """Free units as a step function of time: `free[i]` from `times[i]` on, the last one for ever.

    Parameters
    ----------
    now: where the profile begins.
    free: units free now.
    releases: (time, units) that become free later; those due by now are free now.
    """

    def __init__(self, now: int, free: int, releases: Iterable[tuple[int, int]]) -> None:
        self._times, self._free = [now], [free]
        for time, units in sorted(releases):
            if time > self._times[-1]:
                self._times.append(time)
                self._free.append(self._free[-1])
            self._free[-1] += units

    def earliest(self, size: int, length: int) -> int:
        """Return the least s such that `size` units are free during [s, s + length).

        For a length of 0 they must be free at s.
        """
        times, free = self._times, self._free
        slot = position = 0
        while position == slot or (position < len(times) and times[position] < times[slot] + length):
            position += 1
            if free[position - 1] < size:
                slot = position
        return times[slot]

    def reserve(self, start: int, end: int, size: int) -> None:
        """Take `size` units during [start, end); what lies before the profile is cut off."""
        start = max(start, self._times[0])
        if start < end:
            for index in range(self._step(start), self._step(end)):
                self._free[index] -= size

    def _step(self, time: int) -> int:
        """Return the index of the step that begins at `time`, which is made if there is none."""
        index = bisect_left(self._times, time)
        if index == len(self._times) or self._times[index] != time:
            self._times.insert(index, time)
            self._free.insert(index, self._free[index - 1])
        return index


class Conservative:
    """At every event, plan the whole queue afresh in the order of arrival.

    Each job gets the earliest slot of its estimated length that fits beside the running jobs and all
    reservations made before it; those whose slot is now start. A job that has outrun its estimate ends now
    as far as the plan goes, but its units are free only when it has ended.

    Parameters
    ----------
    maintenance: windows in which some units may not be held; a job is not started if its estimate reaches
        into one that leaves it no room.
    """

    def __init__(self, work: Workload, maintenance: Iterable[Window] = ()) -> None:
        self._size, self._estimate = work.size, work.estimate
        self._maintenance = list(maintenance)
        self._waiting: list[int] = []
        self._planned_end: dict[int, int] = {}

    def pick(self, now: int, free: int, arrived: range, ended: list[int]) -> list[int]:
        """Return the jobs whose slot is now."""
        for job in ended:
            del self._planned_end[job]
        self._waiting += arrived
        profile = self._profile(now, free)
        free -= sum(units for start, end, units in self._maintenance if start <= now < end)
        started: list[int] = []
        for job in self._waiting:
            if free <= 0:
                break
            slot = profile.earliest(self._size[job], self._estimate[job])
            profile.reserve(slot, slot + self._estimate[job], self._size[job])
            if slot == now and self._size[job] <= free:
                free -= self._size[job]
                started.append(job)
        self._planned_end.update((job, now + self._estimate[job]) for job in started)
        self._waiting = [job for job in self._waiting if job not in self._planned_end]
        return started

    def _profile(self, now: int, free: int) -> Profile:
        profile = Profile(now, free, ((end, self._size[job]) for job, end in self._planned_end.items()))
        for start, end, units in self._maintenance:
            profile.reserve(start, end, units)
        return profile


__all__ = ["Conservative", "Profile", "Window"]
