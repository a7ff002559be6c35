"""Microsoft's Philly log: a JSON list of jobs with their attempts.

Source: Jeon et al., ATC 2019.
"""

from __future__ import annotations

import json
import re
from typing import Any

from engine.fleet.job_collector import Collector, RawJob
from engine.fleet.log_fields import difference, instant_ms, job_state
from engine.fleet.log_lines import LogLines

_JOB_START = re.compile(r'\{\s*"(?:status|vc|jobid|attempts|submitted_time|user)"\s*:')


def read(lines: LogLines, jobs: Collector) -> None:
    """Read the jobs one by one, so that a broken or cut-off job costs only itself.

    The run time is the sum over the attempts: time between them is spent in the queue, without GPUs. The
    size is the largest of any attempt.
    """
    text = lines.text()
    decoder = json.JSONDecoder()
    position, line, counted = 0, 1, 0
    while match := _JOB_START.search(text, position):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        try:
            record, position = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            position = match.end()
            jobs.unreadable(line, "this job is not JSON")
        else:
            jobs.parse(line, _job, record)
    if position == 0 and text.split() != ["[]"]:
        jobs.unreadable(1, "there is no job in this text")


def recognises(head: list[str]) -> str:
    """Say by what the first lines are Philly's, or return ""."""
    start = "\n".join(head)[:20_000]
    found = start.lstrip()[:1] in ("[", "{") and '"jobid"' in start and '"attempts"' in start
    return 'JSON with "jobid" and "attempts"' if found else ""


def _job(record: dict[str, Any]) -> RawJob:
    ran = [held for attempt in record["attempts"] or [] if (held := _attempt(attempt))]
    runs = [run for run, _ in ran if run is not None]
    return RawJob(
        id=str(record["jobid"]),
        user=str(record.get("user") or ""),
        state=job_state(record.get("status")),
        submit_ms=instant_ms(record.get("submitted_time")),
        run_ms=sum(runs) if ran and len(runs) == len(ran) else None,
        gpus=max((gpus for _, gpus in ran if gpus is not None), default=None),
    )


def _attempt(attempt: dict[str, Any]) -> tuple[int | None, int | None] | None:
    """Return run time and GPUs of an attempt, or None for one that never started."""
    start, end = instant_ms(attempt.get("start_time")), instant_ms(attempt.get("end_time"))
    if start is None and end is None:
        return None
    detail = attempt.get("detail")
    return difference(end, start), sum(len(node["gpus"]) for node in detail) if detail else None


__all__ = ["read", "recognises"]
