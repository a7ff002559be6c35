"""Slurm's ways to write times, time limits, memory and GPUs."""

from __future__ import annotations

import re
from collections.abc import Mapping

from engine.fleet.job_log import UNKNOWN, UNLIMITED
from engine.fleet.log_fields import whole_number

_WITHOUT_LIMIT = {"unlimited", "infinite"}
_UNSAID = {"", "partition_limit", "invalid", "unknown", "not_set", "n/a", "none", "-1"}
_DURATION = re.compile(r"(?:(?P<days>\d+)-)?(?P<clock>\d+(?::\d+){0,2})(?P<fraction>\.\d+)?")
_MEMORY = re.compile(r"(?P<size>\d+(?:\.\d+)?)(?P<unit>[KMGTPE]?)(?:i?B)?(?P<per>[cn]?)", re.IGNORECASE)
# A kind may be digits too (gpu:4090:2), so it is taken only where a count alone does not fit.
_GPUS = re.compile(r"(?:gres[:/])?gpu(?P<kind>:[^:=,()]+)??(?:[:=](?P<count>\d+))?(?:\([^)]*\))?")
_POWER = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}


def duration_ms(text: str) -> int | None:
    """Return `[days-]hours:minutes:seconds`, `minutes:seconds` or `days-hours[:minutes]` in milliseconds."""
    text = text.strip()
    if text.lower() in _UNSAID:
        return None
    match = _DURATION.fullmatch(text)
    parts = [int(part) for part in match["clock"].split(":")] if match else []
    if match is None or (match["days"] is None and len(parts) < 2):
        raise ValueError(f"{text!r} is not a time such as 1-02:03:04")
    if match["days"] is None:
        hours, minutes, seconds = [0, *parts][-3:]
    else:
        hours, minutes, seconds = [*parts, 0, 0][:3]
    whole = ((int(match["days"] or 0) * 24 + hours) * 60 + minutes) * 60 + seconds
    return whole * 1000 + round(float(match["fraction"] or 0) * 1000)


def limit_ms(text: str) -> int:
    """Return a time limit in milliseconds, `UNLIMITED` or `UNKNOWN`; a bare number is minutes.

    To Slurm a limit of zero is no limit.
    """
    text = text.strip()
    if text.lower() in _WITHOUT_LIMIT:
        return UNLIMITED
    limit = int(text) * 60_000 if text.isdecimal() else duration_ms(text)
    return UNKNOWN if limit is None else limit or UNLIMITED


def memory_bytes(text: str, bare_unit: str = "") -> int:
    """Return a size such as `4G`, `145792K` or `1.20G` in bytes, or `UNKNOWN`; K is 1024.

    `bare_unit` is that of a number without one: bytes in MaxRSS, M in ReqMem.
    """
    return _memory(text, bare_unit)[0]


def requested_memory_bytes(text: str, cpus: int | None, nodes: int | None) -> int:
    """Return ReqMem of the whole job; up to Slurm 21 it ends in `c` (a CPU) or `n` (a node)."""
    size, per = _memory(text, "M")
    times = {"": 1, "c": cpus, "n": nodes}[per]
    return UNKNOWN if size == UNKNOWN or times is None else size * times


def cpus(row: Mapping[str, str]) -> int | None:
    """Return the CPUs that a job had, else those it asked for."""
    counts = (whole_number(row.get(name)) for name in ("alloccpus", "ncpus", "reqcpus"))
    known = [count for count in counts if count is not None]
    return next((count for count in known if count > 0), known[0] if known else None)


def gpus(row: Mapping[str, str]) -> int:
    """Return the GPUs that a job had, else those it asked for; 0 if no column names one."""
    for name in ("alloctres", "reqtres"):
        if count := _count(row.get(name, "")):
            return count
    nodes = whole_number(row.get("nnodes")) or 1
    return nodes * (_count(row.get("allocgres", "")) or _count(row.get("reqgres", "")))


def asks_gpus(row: Mapping[str, str]) -> bool:
    """Return whether any column names a GPU."""
    return any("gpu" in row.get(name, "") for name in ("alloctres", "reqtres", "allocgres", "reqgres"))


def _memory(text: str, bare_unit: str) -> tuple[int, str]:
    text = text.strip()
    if text.lower() in _UNSAID:
        return UNKNOWN, ""
    match = _MEMORY.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a size such as 4G")
    unit = (match["unit"] or bare_unit).upper()
    return round(float(match["size"]) * 1024 ** _POWER[unit]), match["per"].lower()


def _count(text: str) -> int:
    """Add up a list such as `gres/gpu:a100=2,gres/gpu=2`; the entry without a kind is already the sum."""
    matches = [_GPUS.fullmatch(entry.strip()) for entry in text.split(",")]
    counts = [(match["kind"], int(match["count"] or 1)) for match in matches if match]
    total = [count for kind, count in counts if kind is None]
    return total[0] if total else sum(count for _, count in counts)


__all__ = [
    "asks_gpus",
    "cpus",
    "duration_ms",
    "gpus",
    "limit_ms",
    "memory_bytes",
    "requested_memory_bytes",
]
