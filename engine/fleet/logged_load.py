"""The jobs of a real log in place of the synthetic students, on a fleet that fits the log."""

from __future__ import annotations

import hashlib
import math
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from engine.errors import NoAnswer
from engine.fleet.job_log import UNKNOWN, UNLIMITED, JobLog
from engine.fleet.placement import whole_node_gpus
from engine.fleet.topology import MapShape
from engine.fleet.workload import HOUR_MS
from engine.model import Frozen, Packed

Integers = NDArray[np.int64]
GPUS_PER_NODE = 8
LEAST_NODES = 10
BUSY_AT_CRISIS = 0.80
MOST_HOURS = 12
MOST_GPUS = 100_000


class LoggedLoad(Frozen):
    """A window of a job log: what ran when it opens, and what was submitted in it.

    Parameters
    ----------
    source: the name of the log.
    opens_ms: the start of the window, on the clock of the log.
    busy_at_crisis: GPUs that the log's jobs hold at the crisis when none of them has to wait.
    jobs: four little-endian int64 columns (submit, run, estimate, GPUs), one after the other; times in ms
        from `opens_ms`, sorted by submit.
    users: the owner of each job.
    already_running: how many rows at the start run when the window opens, with what is left of their run.
    """

    source: str
    opens_ms: int
    busy_at_crisis: int
    jobs: Packed
    users: tuple[str, ...]
    already_running: int

    @classmethod
    def from_log(cls, log: JobLog, source: str, crisis_ms: int, *, before_ms: int, after_ms: int) -> Self:
        """Take the window round a crisis.

        Parameters
        ----------
        log: the job log.
        source: its name.
        crisis_ms: the moment, on the clock of `log.submit_ms`; see `busiest_hours`.
        before_ms, after_ms: how long the window is before and after it.
        """
        opens = crisis_ms - before_ms
        arrival = log.submit_ms - opens
        before = np.minimum(arrival, 0)
        kept = (log.run_ms + before > 0) & (arrival < before_ms + after_ms)
        estimate = np.where(log.estimate_ms == UNKNOWN, UNLIMITED, log.estimate_ms)
        estimate = np.maximum(estimate, log.run_ms)  # a job that ran on past its limit was let
        estimate = np.where(estimate < UNLIMITED, estimate + before, estimate)
        columns = [np.maximum(arrival, 0), log.run_ms + before, estimate, log.gpus]
        return cls(
            source=source,
            opens_ms=log.first_submit_ms + opens,
            busy_at_crisis=int(_busy(log, np.array([crisis_ms]))[0]),
            jobs=np.concatenate([column[kept] for column in columns]).astype("<i8").tobytes(),
            users=tuple(log.users[row] or "unknown user" for row in np.flatnonzero(kept)),
            already_running=int(np.count_nonzero(kept & (arrival < 0))),
        )

    @cached_property
    def digest(self) -> str:
        """A name of the content, for caches and records."""
        return hashlib.sha256(self.jobs + "\n".join(self.users).encode()).hexdigest()[:16]

    @property
    def shape(self) -> MapShape:
        """A fleet that these jobs fill to 80 % at the crisis, drawn nearly square."""
        nodes = math.ceil(self.busy_at_crisis / BUSY_AT_CRISIS / GPUS_PER_NODE)
        racks = -(-nodes // 5)
        return MapShape(
            nodes=nodes, gpus_per_node=GPUS_PER_NODE, racks_per_row=max(1, round(math.sqrt(2.5 * racks)))
        )

    @cached_property
    def _people(self) -> LoggedJobs:
        return LoggedJobs(self)

    def people(self) -> LoggedJobs:
        """Return the jobs as the simulation reads them, the same object each time."""
        return self._people


class LoggedJobs:
    """The columns of a logged load; the same names as those of `engine.fleet.workload.Students`."""

    noun = "logged job"

    def __init__(self, load: LoggedLoad) -> None:
        columns: Any = np.frombuffer(load.jobs, dtype="<i8").reshape(4, -1).astype(np.int64)
        self.submit_ms, self.run_ms, self.estimate_ms, self.size = columns
        self.already_running = load.already_running
        self._users = load.users

    def owner(self, row: int) -> str:
        """Return whose job it is."""
        return self._users[row]


def busiest_hours(log: JobLog, source: str, *, before_ms: int, after_ms: int) -> list[int]:
    """Return full hours at which the log's jobs would hold most GPUs if nobody waited, the fullest first.

    They follow a submission, lie at least 6 h apart, and have `before_ms` of the log before them and
    `after_ms` after them.

    Raises
    ------
    NoAnswer: if the log is too short, or its jobs never hold between `LEAST_NODES` nodes and `MOST_GPUS`.
    """
    last = int(log.submit_ms[-1]) if len(log) else 0
    hours = np.unique(-(-log.submit_ms // HOUR_MS)) * HOUR_MS  # not all hours: a log may span ages
    hours = hours[(hours >= before_ms) & (hours <= last - after_ms)]
    if not hours.size:
        raise NoAnswer(
            f"{source} spans {last / HOUR_MS:,.0f} h of submissions; "
            f"the act needs {(before_ms + after_ms) / HOUR_MS:g} h.",
            hint="Choose a longer log.",
        )
    busy = _busy(log, hours)
    hours, busy = hours[busy <= MOST_GPUS], busy[busy <= MOST_GPUS]
    if not hours.size:
        raise NoAnswer(f"The jobs of {source} hold more than {MOST_GPUS:,} GPUs at every hour of the log.")
    most = int(busy.max())
    if most < BUSY_AT_CRISIS * GPUS_PER_NODE * LEAST_NODES:
        raise NoAnswer(
            f"The jobs of {source} hold at most {most:,} GPUs; they must fill {LEAST_NODES} nodes.",
            hint="Choose a log of a larger machine.",
        )
    chosen: list[int] = []
    for hour in hours[np.argsort(-busy, kind="stable")].tolist():
        if all(abs(hour - other) >= 6 * HOUR_MS for other in chosen):
            chosen.append(hour)
        if len(chosen) == MOST_HOURS:
            break
    return chosen


def _busy(log: JobLog, moments: Integers) -> Integers:
    held = whole_node_gpus(log.gpus, GPUS_PER_NODE)
    begun = _sum_until(log.submit_ms, held, moments)
    return begun - _sum_until(log.submit_ms + log.run_ms, held, moments)


def _sum_until(times: Integers, gpus: Integers, moments: Integers) -> Integers:
    order = np.argsort(times, kind="stable")
    total = np.concatenate([[0], np.cumsum(gpus[order])])
    return total[np.searchsorted(times[order], moments, side="right")]
