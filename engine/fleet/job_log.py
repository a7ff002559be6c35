"""A log of jobs as columns, and what was left out of it and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from engine.fleet.jobs import UNLIMITED, Column, Jobs

UNKNOWN = -1
"""A number that the log does not say; never zero."""


class BadLine(NamedTuple):
    """A line that could not be read: its number, counted from 1, and why."""

    line: int
    why: str


@dataclass(frozen=True, eq=False)
class JobLog:
    """Jobs of a real cluster, in the order of the queue: by submit time, then by id.

    Every column has one entry a job; numbers are read-only int64, and `UNKNOWN` (-1) where the log does
    not say.

    Parameters
    ----------
    ids, users, states: texts; a user is "" if unknown, a state is one of `completed`, `failed`,
        `cancelled`, `timeout`, `preempted`, `running`, `pending` and `unknown`.
    submit_ms: milliseconds from the first submit of the log.
    run_ms: how long the job held its GPUs, above 0.
    estimate_ms: the limit its owner asked for; `UNLIMITED` if there was none.
    gpus: how many it held, above 0; processors in a log without GPUs.
    gpu_milli: thousandths of each GPU; `None` if the format has no shares.
    requested_memory_bytes: of the whole job.
    used_memory_bytes: the peak, of all processors (SWF) or of the largest task (sacct).
    first_submit_ms: the first submit on the clock of the log (since 1970 if its times have dates).
    machine_gpus: how many the machine of the log has.
    dropped: how many records were left out, by reason.
    bad_lines: the first few lines that could not be read.
    format, detected: the name of the format, and by what it was recognised; "" if it was given.
    notes: what a reader should know, in sentences.
    """

    ids: tuple[str, ...]
    users: tuple[str, ...]
    states: tuple[str, ...]
    submit_ms: Column
    run_ms: Column
    estimate_ms: Column
    gpus: Column
    gpu_milli: Column | None
    requested_memory_bytes: Column
    used_memory_bytes: Column
    first_submit_ms: int
    machine_gpus: int
    dropped: Mapping[str, int]
    bad_lines: tuple[BadLine, ...]
    format: str
    detected: str
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def jobs(self) -> Jobs:
        """Return the table that the schedulers read: its ids are row numbers from 0.

        An unknown estimate becomes no limit: a scheduler must not be told what nobody knew, and it may
        never take the real run time for it.
        """
        estimate = np.where(self.estimate_ms == UNKNOWN, UNLIMITED, self.estimate_ms)
        none = np.zeros(len(self), np.int64)
        rows = np.arange(len(self), dtype=np.int64)
        return Jobs(rows, self.submit_ms, self.gpus, estimate, self.run_ms, none)

    def summary(self) -> str:
        """Return one sentence: the format, the jobs kept, and those left out by reason."""
        reasons = ", ".join(f"{count:,} because the {reason}" for reason, count in self.dropped.items())
        left_out = f"; left out {reasons}" if reasons else ""
        return f"{self.format}: {len(self):,} {'job' if len(self) == 1 else 'jobs'}{left_out}."


__all__ = ["UNKNOWN", "UNLIMITED", "BadLine", "JobLog"]
