"""Slurm's accounting: what `sacct --parsable2` or `sacct -p` prints, with any choice of columns.

A useful choice is `sacct -aP --format=JobID,User,State,Submit,Start,End,ElapsedRaw,TimelimitRaw,AllocTRES,
ReqMem,MaxRSS,NTasks,NNodes,AllocCPUS`. Source: the manual pages of sacct(1) and sbatch(1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from engine.errors import FileProblem
from engine.fleet import slurm_fields as slurm
from engine.fleet.job_collector import Collector, RawJob
from engine.fleet.job_log import UNKNOWN
from engine.fleet.log_fields import difference, instant_ms, job_state, seconds_ms, whole_number
from engine.fleet.log_lines import LogLines

STEP_WITHOUT_JOB = "job step has no row of its job"
_UNFINISHED = ("running", "pending")
Row = Mapping[str, str]


def read(lines: LogLines, jobs: Collector) -> None:
    """Read sacct's rows; a step (`17.batch`, `17.0`) only adds the memory that it used to job `17`.

    The size is GPUs, or CPUs if no job of the log has a GPU. The components of a heterogeneous job and
    the tasks of an array are jobs of their own.

    Raises
    ------
    FileProblem: if the first line does not name the column JobID.
    """
    header = _header(lines.head)
    if "jobid" not in header:
        raise FileProblem("there is no column JobID.", file=lines.name, line=1)
    rows: list[tuple[int, Row]] = []
    peaks: dict[str, int] = {}
    for line, row in _rows(lines, header, jobs):
        if "." in row["jobid"]:
            _fold(row, peaks, line, jobs)
        else:
            rows.append((line, row))
    has_gpus = any(slurm.asks_gpus(row) for _, row in rows)
    for line, row in rows:
        jobs.parse(line, partial(_job, peaks=peaks, has_gpus=has_gpus), row)
    for _ in peaks.keys() - {row["jobid"] for _, row in rows}:
        jobs.drop(STEP_WITHOUT_JOB)
    jobs.notes += _notes(header, has_gpus)


def recognises(head: list[str]) -> str:
    """Say by what the first lines are sacct's, or return ""."""
    header = _header(head)
    found = "jobid" in header and len(header) > 1
    return "a header with JobID and columns parted by '|'" if found else ""


def _header(head: list[str]) -> list[str]:
    first = next((text for text in head if text.strip()), "")
    return [name.strip().lower() for name in first.split("|")]


def _rows(lines: LogLines, header: list[str], jobs: Collector) -> Iterator[tuple[int, Row]]:
    for line, text in lines:
        fields = text.split("|")
        if len(fields) != len(header):
            jobs.unreadable(line, f"{len(fields)} columns instead of {len(header)}")
        elif fields[0].strip().lower() != header[0]:
            yield line, dict(zip(header, fields, strict=True))


def _fold(step: Row, peaks: dict[str, int], line: int, jobs: Collector) -> None:
    job = step["jobid"].partition(".")[0]
    try:
        peaks[job] = max(peaks.get(job, UNKNOWN), slurm.memory_bytes(step.get("maxrss", "")))
    except (ValueError, OverflowError) as error:
        jobs.unreadable(line, str(error))


def _job(row: Row, *, peaks: dict[str, int], has_gpus: bool) -> RawJob:
    if not row["jobid"]:
        raise ValueError("there is no job number")
    state = job_state(row.get("state"))
    cpus = slurm.cpus(row)
    return RawJob(
        id=row["jobid"],
        user=row.get("user", ""),
        state=state,
        submit_ms=instant_ms(row.get("submit")),
        run_ms=None if state in _UNFINISHED else _run_ms(row),
        gpus=slurm.gpus(row) if has_gpus else cpus,
        estimate_ms=slurm.limit_ms(row.get("timelimitraw") or row.get("timelimit") or ""),
        requested_memory_bytes=slurm.requested_memory_bytes(
            row.get("reqmem", ""), cpus, whole_number(row.get("nnodes"))
        ),
        used_memory_bytes=peaks.get(row["jobid"], UNKNOWN),
    )


def _run_ms(row: Row) -> int | None:
    start, end = instant_ms(row.get("start")), instant_ms(row.get("end"))
    if "end" in row and end is None:
        return None
    elapsed = seconds_ms(row.get("elapsedraw"))
    elapsed = slurm.duration_ms(row.get("elapsed", "")) if elapsed is None else elapsed
    return difference(end, start) if elapsed is None else elapsed


def _notes(header: list[str], has_gpus: bool) -> list[str]:
    notes = [] if has_gpus else ["No job of this log has a GPU: sizes are CPUs."]
    for wanted in (("submit",), ("elapsedraw", "elapsed", "end")):
        if not set(wanted) & set(header):
            notes.append(f"There is no column {' or '.join(wanted)}; ask sacct for it with --format.")
    return notes


__all__ = ["STEP_WITHOUT_JOB", "read", "recognises"]
