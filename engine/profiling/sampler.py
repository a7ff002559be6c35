"""The memory that a process and its children hold for themselves, sampled while they run."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from engine.errors import InvalidInput, NoAnswer
from engine.units import number, whole

_PROC = Path("/proc")


class MemorySampler:
    """Follows the anonymous memory of a process tree; a `with` block brackets what is measured.

    Anonymous memory is what a program allocated, without the files and libraries it has mapped: what a
    container cannot give back under pressure. Pages that a fork shares are counted in each process, so the
    sum is an upper bound for forked workers. A peak between two samples is missed.

    Parameters
    ----------
    pid: the root of the tree; this process if none is given.
    every_s: seconds between two samples.

    Raises
    ------
    NoAnswer: where there is no /proc with the numbers, which only Linux has.
    InvalidInput: for a process that does not run, or an interval that is not positive.

    Examples
    --------
    >>> with MemorySampler() as sampler:
    ...     block = bytearray(100_000_000)
    >>> sampler.peak_gb > 0.1
    True
    """

    def __init__(self, pid: int | None = None, every_s: float = 0.05) -> None:
        self.pid = os.getpid() if pid is None else whole(pid, "pid", low=1)
        self._every_s = number(every_s, "every_s", low=0.0, low_open=True)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="memory-sampler", daemon=True)
        self._peak_bytes = anonymous_bytes(self.pid)
        self.samples = 1

    @property
    def peak_gb(self) -> float:
        """The most the tree held at a sample so far, in GB of 10⁹ bytes."""
        return self._peak_bytes / 1e9

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        self._sample()

    def _follow(self) -> None:
        while not self._stop.wait(self._every_s) and self._sample():
            pass

    def _sample(self) -> bool:
        """Take a sample; return False once the process has ended."""
        try:
            self._peak_bytes = max(self._peak_bytes, anonymous_bytes(self.pid))
        except InvalidInput:
            return False
        self.samples += 1
        return True


def anonymous_bytes(pid: int) -> int:
    """Return the anonymous memory of a process and all its descendants, in bytes.

    Raises
    ------
    NoAnswer: where the system does not tell.
    InvalidInput: if there is no such process.
    """
    own = _process_bytes(pid)
    if own is None:
        if _process_bytes(os.getpid()) is None:
            raise NoAnswer("The memory of a process tree is read from /proc, which only Linux has.")
        raise InvalidInput("pid", pid, "the id of a process that runs")
    return own + sum(_process_bytes(child) or 0 for child in _descendants(pid))


def _process_bytes(pid: int) -> int | None:
    """Return `RssAnon` of one process, none when it is gone; a process without memory of its own has 0."""
    try:
        status = (_PROC / str(pid) / "status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    lines = (line.split() for line in status.splitlines() if line.startswith("RssAnon:"))
    return next((int(words[1]) * 1024 for words in lines), 0)


def _descendants(pid: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for path in _PROC.glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The name in parentheses may itself hold spaces and parentheses; the parent is second after it.
            parent = int(path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(path.parent.name))
    found, queue = [], [pid]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += below
    return found
