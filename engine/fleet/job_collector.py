"""From the records of a log, one by one, to its columns: keeps the jobs that can be run, counts the rest."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from engine.fleet.job_log import UNKNOWN, UNLIMITED, BadLine, JobLog
from engine.fleet.jobs import Column

MISSING_SIZE = "size is missing"
NO_SIZE = "size is not above 0"
TOO_LARGE = "size is larger than the fleet"
MISSING_TIMES = "times are missing"
NO_RUN = "run time is not above 0"
UNREADABLE = "line cannot be read"

_SHOWN_LINES = 5
_LARGEST = 2**53
_DIGITS = re.compile(r"\d+")
_NOT_AS_DESCRIBED = (ValueError, OverflowError, TypeError, AttributeError, LookupError)
_Record = TypeVar("_Record")


class RawJob(NamedTuple):
    """One job as its log tells it; `None` where the log is silent. Times are in milliseconds."""

    id: str
    user: str
    state: str
    submit_ms: int | None
    run_ms: int | None
    gpus: int | None
    estimate_ms: int = UNKNOWN
    gpu_milli: int = UNKNOWN
    requested_memory_bytes: int = UNKNOWN
    used_memory_bytes: int = UNKNOWN


class LeftOut(Exception):
    """Raised by a reader for a sound record that is not a job to run; carries the reason."""


class Collector:
    """Takes the jobs of a log one by one; `notes` and `machine_gpus` are for its reader to fill."""

    def __init__(self, fleet_gpus: int | None = None) -> None:
        self.notes: list[str] = []
        self.machine_gpus = UNKNOWN
        self._fleet_gpus = fleet_gpus
        self._kept: list[RawJob] = []
        self._dropped: Counter[str] = Counter()
        self._bad_lines: list[BadLine] = []

    def parse(self, line: int, read: Callable[[_Record], RawJob], record: _Record) -> None:
        """Take the job that `read` makes of a record; one that is not as described counts as unreadable."""
        try:
            self._take(read(record))
        except LeftOut as reason:
            self.drop(str(reason))
        except _NOT_AS_DESCRIBED as error:
            self.unreadable(line, f"there is no {error}" if isinstance(error, KeyError) else str(error))

    def drop(self, reason: str) -> None:
        """Count one record under a reason."""
        self._dropped[reason] += 1

    def unreadable(self, line: int, why: str) -> None:
        """Count a line that cannot be read; the first few are kept with their numbers."""
        self.drop(UNREADABLE)
        if len(self._bad_lines) < _SHOWN_LINES:
            self._bad_lines.append(BadLine(line, why))

    def log(self, format: str, detected: str) -> JobLog:
        """Return the jobs taken so far as columns in the order of the queue."""
        kept = sorted(self._kept, key=lambda job: (job.submit_ms, _id_order(job.id)))
        values: list[tuple[Any, ...]] = list(zip(*kept, strict=True)) or [()] * len(RawJob._fields)
        of = dict(zip(RawJob._fields, values, strict=True))
        first = of["submit_ms"][0] if kept else 0
        return JobLog(
            ids=of["id"],
            users=of["user"],
            states=of["state"],
            submit_ms=column(submit - first for submit in of["submit_ms"]),
            run_ms=column(of["run_ms"]),
            estimate_ms=column(of["estimate_ms"]),
            gpus=column(of["gpus"]),
            gpu_milli=column(of["gpu_milli"]) if any(share != UNKNOWN for share in of["gpu_milli"]) else None,
            requested_memory_bytes=column(of["requested_memory_bytes"]),
            used_memory_bytes=column(of["used_memory_bytes"]),
            first_submit_ms=first,
            machine_gpus=self.machine_gpus,
            dropped=dict(self._dropped),
            bad_lines=tuple(self._bad_lines),
            format=format,
            detected=detected,
            notes=tuple(self.notes),
        )

    def _take(self, job: RawJob) -> None:
        reason = self._reason(job)
        if reason:
            self.drop(reason)
        elif any(number is not None and _LARGEST < abs(number) != UNLIMITED for number in job[3:]):
            raise ValueError("a number is too large")
        else:
            self._kept.append(job)

    def _reason(self, job: RawJob) -> str:
        if job.gpus is not None and job.gpus <= 0:
            return NO_SIZE
        if job.gpus is not None and self._fleet_gpus is not None and job.gpus > self._fleet_gpus:
            return TOO_LARGE
        if job.submit_ms is None or job.run_ms is None:
            return MISSING_TIMES
        if job.gpus is None:
            return MISSING_SIZE
        return NO_RUN if job.run_ms <= 0 else ""


def _id_order(id: str) -> str:
    """Return a key that sorts the numbers in an id by value: job 9 before 10, task 7_2 before 7_10."""
    return id.zfill(20) if id.isdigit() else _DIGITS.sub(lambda digits: digits[0].zfill(20), id)


def column(values: Iterable[int]) -> Column:
    """Return values as a read-only int64 array."""
    array = np.fromiter(values, np.int64)
    array.flags.writeable = False
    return array


__all__ = [
    "MISSING_SIZE",
    "MISSING_TIMES",
    "NO_RUN",
    "NO_SIZE",
    "TOO_LARGE",
    "UNREADABLE",
    "Collector",
    "LeftOut",
    "RawJob",
    "column",
]
