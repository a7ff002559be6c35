"""The jobs behind a blocked head, kept so that the first that may pass it is found without reading them all.

They lie in bands of like size (1, 2–3, 4–7, …), each in the order of the queue. A band whose smallest job
does not fit, or whose shortest is too long, holds no candidate and is not read. What a band yields is a job
that could start; the first of all bands starts, and since units only get scarcer within a pass, whoever was
passed over stays passed over.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush, heapreplace

import numpy as np
from numpy.typing import NDArray

from engine.fleet.jobs import UNLIMITED

_GONE = 2 * UNLIMITED - 1
_CHUNK = 2048
_NONE = -1


class Band:
    """Waiting jobs of like size in the order of the queue: arrays with holes where jobs have left.

    A job that leaves is overwritten with values that never pass; the holes are closed when there is no more
    room at the end.

    Parameters
    ----------
    smallest, largest: bounds on the sizes of its jobs.
    waiting: by job number, whether it waits; kept by the backlog.
    """

    def __init__(self, smallest: int, largest: int, waiting: bytearray) -> None:
        self.smallest, self.largest, self.count = smallest, largest, 0
        self._waiting = waiting
        self._bits = len(waiting).bit_length()
        self._mask = (1 << self._bits) - 1
        self._shortest: list[int] = []
        self._jobs, self._sizes, self._estimates = np.full((3, _CHUNK), _GONE, np.int64)
        self._first = self._last = 0

    def job(self, position: int) -> int:
        """Return the number of the job at a position."""
        return int(self._jobs[position])

    def add(self, job: int, size: int, estimate: int) -> None:
        """Put a job at the end."""
        if self._last == self._jobs.size:
            self._close_holes()
        last = self._last
        self._jobs[last], self._sizes[last], self._estimates[last] = job, size, estimate
        heappush(self._shortest, estimate << self._bits | job)
        self._last += 1
        self.count += 1

    def remove(self, position: int) -> None:
        """Take out the job at a position."""
        self._sizes[position] = self._estimates[position] = _GONE
        self.count -= 1

    def front(self) -> int:
        """Return the position of the first job; there must be one."""
        while self._sizes[self._first] == _GONE:
            self._first += 1
        return self._first

    def find(self, free: int, window: int, extra: int, since: int = 0) -> int:
        """Return the first position from `since` on of a job that may start, or −1.

        Parameters
        ----------
        free: units that a job may take now.
        window: a job of at most this estimate ends before the head needs its units.
        extra: units that the head will not need; a job of at most this size may run longer.
        """
        shortest, mask = self._shortest, self._mask
        while shortest and not self._waiting[shortest[0] & mask]:
            heappop(shortest)
        short = bool(shortest) and shortest[0] >> self._bits <= window
        if not shortest or not (short or self.smallest <= extra):
            return _NONE
        if self.largest <= extra and self.largest <= free:
            return self.front()  # everybody may, and so nobody was passed over before
        low, step = max(since, self._first), _CHUNK
        while low < self._last:
            part = slice(low, min(low + step, self._last))
            may = (
                self._short_ones(part, free, window, extra)
                if short
                else self._sizes[part] <= min(free, extra)
            )
            position = int(may.argmax())
            if may[position]:
                return low + position
            low, step = part.stop, 4 * step
        return _NONE

    def _short_ones(self, part: slice, free: int, window: int, extra: int) -> NDArray[np.bool_]:
        """Return which jobs of a part may start, when some of the band end within the window."""
        may = self._estimates[part] <= window
        if self.smallest <= extra:
            may |= self._sizes[part] <= extra
        if self.largest > free:
            may &= self._sizes[part] <= free
        return may

    def _close_holes(self) -> None:
        live = np.flatnonzero(self._sizes != _GONE)
        columns = np.full((3, max(_CHUNK, 2 * live.size)), _GONE, np.int64)
        for new, old in zip(columns, (self._jobs, self._sizes, self._estimates), strict=True):
            new[: live.size] = old[live]
        self._jobs, self._sizes, self._estimates = columns
        self._first, self._last = 0, live.size


class Backlog:
    """All waiting jobs, the head included.

    Parameters
    ----------
    size, estimate: of every job by its number; numbers follow the order of the queue.

    Attributes
    ----------
    count: how many jobs wait.
    head: the first of them, if there is one.
    """

    def __init__(self, size: list[int], estimate: list[int]) -> None:
        self.count = self.head = 0
        self._size, self._estimate = size, estimate
        self._waiting = bytearray(len(size))
        limits: dict[int, list[int]] = {}
        for distinct in sorted(set(size)):
            limits.setdefault(distinct.bit_length(), []).append(distinct)
        self._band = {bits: Band(sizes[0], sizes[-1], self._waiting) for bits, sizes in limits.items()}
        self._bands = list(self._band.values())

    def add(self, job: int) -> None:
        """Put a job at the end of the queue."""
        if not self.count:
            self.head = job
        self.count += 1
        self._waiting[job] = 1
        size = self._size[job]
        self._band[size.bit_length()].add(job, size, self._estimate[job])

    def pop_head(self) -> int:
        """Take out the first waiting job, which is also the first of its band."""
        head = self.head
        band = self._band[self._size[head].bit_length()]
        self._take(band, band.front(), head)
        self.head = self._waiting.find(1, head)
        return head

    def take(self, free: int, window: int, extra: int) -> list[int]:
        """Take out, in the order of the queue, every job behind the head that may start; see `Band.find`.

        Each start uses up free units, and extra units too if the job is longer than the window. The head
        must not fit.
        """
        taken: list[int] = []
        first = self._candidates(free, window, extra)
        while first:
            job, position, number = first[0]
            size, short = self._size[job], self._estimate[job] <= window
            band = self._bands[number]
            if size <= free and (short or size <= extra):
                free -= size
                extra -= 0 if short else size
                self._take(band, position, job)
                taken.append(job)
            after = band.find(free, window, extra, position + 1) if band.smallest <= free else _NONE
            if after == _NONE:
                heappop(first)
            else:
                heapreplace(first, (band.job(after), after, number))
        return taken

    def _candidates(self, free: int, window: int, extra: int) -> list[tuple[int, int, int]]:
        """Return a heap of (job, position, band) with the first candidate of each band."""
        found: list[tuple[int, int, int]] = []
        for number, band in enumerate(self._bands):
            if band.smallest > free:
                break
            if band.count and (position := band.find(free, window, extra)) != _NONE:
                found.append((band.job(position), position, number))
        heapify(found)
        return found

    def _take(self, band: Band, position: int, job: int) -> None:
        band.remove(position)
        self._waiting[job] = 0
        self.count -= 1


__all__ = ["Backlog"]
