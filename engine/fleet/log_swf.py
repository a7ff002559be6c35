"""The Standard Workload Format, version 2.2: 18 numbers a line, a header of lines that start with ';'.

Source: Feitelson, "The Standard Workload Format", Parallel Workloads Archive.
"""

from __future__ import annotations

import re

from engine.fleet.job_collector import Collector, LeftOut, RawJob
from engine.fleet.job_log import UNKNOWN
from engine.fleet.log_fields import job_state, number, seconds_ms, whole_number
from engine.fleet.log_lines import LogLines

PART_OF_A_JOB = "record is a part of a job that is counted as a whole"
_COLUMNS = 18
_MACHINE = re.compile(r";\s*MaxProcs:\s*(\d{1,9})\b")


def read(lines: LogLines, jobs: Collector) -> None:
    """Read SWF. The size is the processors requested, else those allocated: a scheduler sees requests."""
    for line, text in lines:
        if not text.lstrip().startswith(";"):
            jobs.parse(line, _job, text)
        elif machine := _MACHINE.match(text.lstrip()):
            jobs.machine_gpus = int(machine[1])


def recognises(head: list[str]) -> str:
    """Say by what the first lines are SWF, or return ""."""
    rows = [text.split() for text in head if text.strip()]
    if any(row[0].startswith(";") for row in rows[:1]):
        return "a header of lines that start with ';'"
    return f"{_COLUMNS} numbers a line" if any(map(_numbers, rows)) else ""


def _job(text: str) -> RawJob:
    row = text.split()
    if len(row) < _COLUMNS:
        raise ValueError(f"{len(row)} columns instead of {_COLUMNS}")
    if row[10] in ("2", "3", "4"):
        raise LeftOut(PART_OF_A_JOB)
    if not row[0].isdigit():
        raise ValueError(f"{row[0]!r} is not a job number")
    allocated, requested = whole_number(row[4]), whole_number(row[7])
    estimate = seconds_ms(row[8])
    return RawJob(
        id=row[0],
        user="" if row[11] == "-1" else row[11],
        state=job_state(row[10]),
        submit_ms=seconds_ms(row[1]),
        run_ms=seconds_ms(row[3]),
        gpus=requested or (requested if allocated is None else allocated),
        estimate_ms=estimate if estimate is not None and estimate > 0 else UNKNOWN,
        requested_memory_bytes=_bytes(row[9], requested or allocated),
        used_memory_bytes=_bytes(row[6], allocated or requested),
    )


def _bytes(kilobytes_each: str, processors: int | None) -> int:
    each = number(kilobytes_each)
    return UNKNOWN if each is None or processors is None else round(each * 1024) * processors


def _numbers(row: list[str]) -> bool:
    try:
        return len([float(field) for field in row]) >= _COLUMNS
    except ValueError:
        return False


__all__ = ["PART_OF_A_JOB", "read", "recognises"]
