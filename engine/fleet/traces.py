"""Bring your own cluster: read the job log of a real one, whatever its scheduler.

Formats: the Standard Workload Format, Slurm's `sacct`, Philly, Helios, Acme (Seren and Kalos), openb.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from engine.errors import FileProblem, UnknownName
from engine.fleet import log_philly, log_sacct, log_swf
from engine.fleet.job_collector import Collector
from engine.fleet.job_log import UNKNOWN, UNLIMITED, BadLine, JobLog
from engine.fleet.log_csv import HELIOS, KALOS, OPENB, SEREN
from engine.fleet.log_lines import LogLines, Progress, Source, log_lines
from engine.fleet.node_list import NodeList, is_node_list, load_node_list
from engine.units import whole


class LogFormat(NamedTuple):
    """How one format is recognised from its first lines (by what, or "") and read."""

    recognises: Callable[[list[str]], str]
    read: Callable[[LogLines, Collector], None]


FORMATS: dict[str, LogFormat] = {
    "acme-kalos": LogFormat(KALOS.recognises, KALOS.read),
    "acme-seren": LogFormat(SEREN.recognises, SEREN.read),
    "helios": LogFormat(HELIOS.recognises, HELIOS.read),
    "openb": LogFormat(OPENB.recognises, OPENB.read),
    "sacct": LogFormat(log_sacct.recognises, log_sacct.read),
    "philly": LogFormat(log_philly.recognises, log_philly.read),
    "swf": LogFormat(log_swf.recognises, log_swf.read),
}
"""The formats by name, in the order in which they are tried: Kalos has all columns of Seren and more."""


def load_job_log(
    source: Source,
    format: str | None = None,
    fleet_gpus: int | None = None,
    progress: Progress | None = None,
    *,
    name: str | None = None,
) -> JobLog:
    """Read a job log; jobs that cannot be run and lines that cannot be read are counted, not fatal.

    Parameters
    ----------
    source: a path, the bytes of a file, or a stream of text or bytes.
    format: one of `FORMATS`; recognised from the first lines if not given.
    fleet_gpus: leave out jobs that ask for more.
    progress: called with the fraction of bytes read, about a hundred times, at last with 1.
    name: what to call the source in messages; a path is its own name.

    Raises
    ------
    UnknownName: for a format that is not known.
    FileProblem: for a source that cannot be opened, is empty or compressed, or whose format is not
        recognised or lacks a column.
    InvalidInput: for `fleet_gpus` below 1 or a source of another kind.

    Example: `load_job_log("cluster.swf").summary()`.
    """
    if format is not None and format not in FORMATS:
        raise UnknownName("log format", format, list(FORMATS))
    jobs = Collector(None if fleet_gpus is None else whole(fleet_gpus, "fleet_gpus", low=1))
    with log_lines(source, name, progress) as lines:
        format, detected = (format, "") if format else _recognised(lines)
        FORMATS[format].read(lines, jobs)
    return jobs.log(format, detected)


def _recognised(lines: LogLines) -> tuple[str, str]:
    for format, one in FORMATS.items():
        if by := one.recognises(lines.head):
            return format, by
    if is_node_list(lines.head):
        raise FileProblem(
            "this is a list of nodes, not of jobs.", file=lines.name, hint="Use load_node_list."
        )
    raise FileProblem(
        "the format of this log is not recognised.",
        file=lines.name,
        hint=f"Known are {', '.join(sorted(FORMATS))}.",
    )


__all__ = [
    "FORMATS",
    "UNKNOWN",
    "UNLIMITED",
    "BadLine",
    "JobLog",
    "NodeList",
    "load_job_log",
    "load_node_list",
]
