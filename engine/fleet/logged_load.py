"""The jobs of a real log in place of the synthetic students, on a fleet that fits the log."""

from __future__ import annotations

import hashlib
import math
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from engine.errors import NoAnswer
from engine.fleet.job_log import UNKNOWN, UNLIMITED, JobLog
from engine.fleet.topology import MapShape
from engine.fleet.workload import HOUR_MS
from engine.model import Frozen, Packed

Integers = NDArray[np.int64]
GPUS_PER_NODE = 8
LEAST_NODES = 10
BUSY_AT_CRISIS = 0.80


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
    def from_log(cls, log: JobLog, source: str, *, before_ms: int, after_ms: int) -> Self:
        """Choose the window: the crisis is the full hour at which the log's jobs hold most GPUs.

        Parameters
        ----------
        log: the job log.
        source: its name.
        before_ms, after_ms: how much of the log must lie before and after the crisis.

        Raises
        ------
        NoAnswer: if the log is too short, or too small for a fleet of `LEAST_NODES` nodes.
        """
        crisis, busy = _busiest_hour(log, before_ms, after_ms)
        if busy < BUSY_AT_CRISIS * GPUS_PER_NODE * LEAST_NODES:
            raise NoAnswer(
                f"The jobs of {source} hold at most {busy:,} GPUs; they must fill {LEAST_NODES} nodes.",
                hint="Choose a log of a larger machine.",
            )
        opens = crisis - before_ms
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
            busy_at_crisis=busy,
            jobs=np.concatenate([column[kept] for column in columns]).astype("<i8").tobytes(),
            users=tuple(log.users[row] or "unknown user" for row in np.flatnonzero(kept)),
            already_running=int(np.count_nonzero(kept & (arrival < 0))),
        )

    @property
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

    def people(self) -> LoggedJobs:
        """Return the jobs as the simulation reads them."""
        return LoggedJobs(self)


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


def _busiest_hour(log: JobLog, before_ms: int, after_ms: int) -> tuple[int, int]:
    """Return the full hour at which most GPUs are held if nobody waits, and how many those are."""
    last = int(log.submit_ms[-1]) if len(log) else 0
    hours = np.arange(-(-before_ms // HOUR_MS) * HOUR_MS, last - after_ms + 1, HOUR_MS, dtype=np.int64)
    if not hours.size:
        raise NoAnswer(
            f"The log spans {last / HOUR_MS:,.0f} h of submissions; "
            f"the act needs {(before_ms + after_ms) / HOUR_MS:g} h.",
            hint="Choose a longer log.",
        )
    begun = _sum_until(log.submit_ms, log.gpus, hours)
    ended = _sum_until(log.submit_ms + log.run_ms, log.gpus, hours)
    busy = begun - ended
    best = int(np.argmax(busy))
    return int(hours[best]), int(busy[best])


def _sum_until(times: Integers, gpus: Integers, moments: Integers) -> Integers:
    order = np.argsort(times, kind="stable")
    total = np.concatenate([[0], np.cumsum(gpus[order])])
    return total[np.searchsorted(times[order], moments, side="right")]
