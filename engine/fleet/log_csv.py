"""Logs that are tables with a header: Helios, Acme (Seren and Kalos) and Alibaba's openb pods.

Sources: Hu et al., SC 2021 (Helios); Hu et al., NSDI 2024 (Acme); Weng et al., ATC 2023 (openb).
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import itemgetter

from engine.errors import FileProblem
from engine.fleet.job_collector import Collector, RawJob
from engine.fleet.job_log import UNKNOWN
from engine.fleet.log_fields import difference, instant_ms, job_state, seconds_ms, whole_number
from engine.fleet.log_lines import LogLines

ReportBadLine = Callable[[int, str], object]


@dataclass(frozen=True)
class Table:
    """A format of one job a row: the columns it takes, and how they make a job.

    Parameters
    ----------
    columns: names of the columns that are read, in lower case.
    job: called with the values of these columns, in this order.
    sign: a column that no other format has.
    """

    columns: tuple[str, ...]
    job: Callable[..., RawJob]
    sign: str

    def read(self, lines: LogLines, jobs: Collector) -> None:
        """Read the jobs of a table; a row of the wrong width is unreadable, other columns do not matter."""
        for line, values in table_rows(lines, self.columns, jobs.unreadable):
            jobs.parse(line, lambda fields: self.job(*fields), values)

    def recognises(self, head: list[str]) -> str:
        """Say by what the first lines are this table, or return ""."""
        header = header_of(head)
        found = self.sign in header and set(self.columns) <= set(header)
        return f"a header with {self.sign} and {self.columns[0]}" if found else ""


def table_rows(
    lines: LogLines, columns: tuple[str, ...], bad_line: ReportBadLine
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield line number and the values of `columns` of every row; call `bad_line` for a row of another width.

    Raises
    ------
    FileProblem: if the header has not all the columns.
    """
    header = header_of(lines.head)
    missing = [name for name in columns if name not in header]
    if missing:
        raise FileProblem(f"there is no column {', '.join(missing)}.", file=lines.name, line=1)
    pick = itemgetter(*map(header.index, columns))
    for line, text in lines:
        row = _fields(text)
        if len(row) != len(header):
            bad_line(line, f"{len(row)} columns instead of {len(header)}")
        elif row[0].strip().lower() != header[0]:
            yield line, pick(row)


def header_of(head: list[str]) -> list[str]:
    """Return the names of the columns in lower case, from the first line that is not blank."""
    return [name.strip().lower() for name in _fields(next((text for text in head if text.strip()), ""))]


def _fields(text: str) -> list[str]:
    if '"' not in text:
        return text.split(",")
    try:
        return next(csv.reader([text], strict=True), [])
    except csv.Error:
        return []


def _cluster_job(
    id: str, user: str, gpus: str, state: str, submit: str, start: str, duration: str, *ends: str
) -> RawJob:
    run = seconds_ms(duration)
    if run is None:
        instants = (instant_ms(end) for end in ends)
        run = difference(next((end for end in instants if end is not None), None), instant_ms(start))
    return RawJob(id, user, job_state(state), instant_ms(submit), run, whole_number(gpus))


def _openb_pod(
    id: str, gpus: str, share: str, phase: str, created: str, scheduled: str, deleted: str
) -> RawJob:
    # A pod that still ran when the trace was cut has the cut as its deletion: its run is a lower bound.
    run = difference(seconds_ms(deleted), seconds_ms(scheduled))
    milli = whole_number(share)
    return RawJob(
        id=id,
        user="",
        state=job_state(phase),
        submit_ms=seconds_ms(created),
        run_ms=run,
        gpus=whole_number(gpus),
        gpu_milli=UNKNOWN if milli is None else milli,
    )


_JOB = ("job_id", "user", "gpu_num", "state", "submit_time", "start_time", "duration", "end_time")
_POD = ("name", "num_gpu", "gpu_milli", "pod_phase", "creation_time", "scheduled_time", "deletion_time")

HELIOS = Table(_JOB, _cluster_job, sign="vc")
SEREN = Table(_JOB, _cluster_job, sign="gpu_time")
KALOS = Table((*_JOB, "fail_time", "stop_time"), _cluster_job, sign="mem_per_pod_gb")
OPENB = Table(_POD, _openb_pod, sign="pod_phase")

__all__ = ["HELIOS", "KALOS", "OPENB", "SEREN", "Table", "header_of", "table_rows"]
