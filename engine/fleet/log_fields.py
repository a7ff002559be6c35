"""The fields of a log: numbers, instants and states. `None` means that the log does not say."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

_MISSING = {"", "-1", "-1.0", "none", "null", "nan", "nat", "n/a", "na", "unknown"}
_EPOCH = datetime(1970, 1, 1)
_EPOCH_UTC = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_STATES = {
    "completed": "completed cd pass succeeded success 1",
    "failed": "failed f 0 node_fail nf out_of_memory oom boot_fail bf",
    "cancelled": "cancelled canceled ca killed revoked 5",
    "timeout": "timeout to deadline dl",
    "preempted": "preempted pr requeued rq",
    "running": "running r suspended s completing cg stopped resizing rs",
    "pending": "pending pd configuring cf requeue_hold rh special_exit se",
}
_STATE_OF = {word: state for state, words in _STATES.items() for word in words.split()}


def number(text: str | None) -> float | None:
    """Return a finite number; -1, an empty field and words such as "None" are unknown."""
    if text is None or (text := text.strip()).lower() in _MISSING:
        return None
    value = float(text)
    # Python reads 1_000 as a number; no log writes one.
    if not math.isfinite(value) or "_" in text:
        raise ValueError(f"{text!r} is not a number")
    return value


def whole_number(text: str | None) -> int | None:
    """Return a whole number, also if it is written as 8.0."""
    value = number(text)
    if value is None:
        return None
    if value != int(value):
        raise ValueError(f"{text!r} is not a whole number")
    return int(value)


def seconds_ms(text: str | None) -> int | None:
    """Return a number of seconds in whole milliseconds."""
    value = number(text)
    return None if value is None else round(value * 1000)


def instant_ms(text: str | None) -> int | None:
    """Return an ISO date and time, or seconds since 1970, as milliseconds since 1970.

    A time without a zone is taken as UTC, so that differences are those of the clock on the wall.
    """
    if text is None or (text := text.strip()).lower() in _MISSING:
        return None
    if text.replace(".", "", 1).isdigit():
        return seconds_ms(text)
    instant = datetime.fromisoformat(text)
    return (instant - (_EPOCH if instant.tzinfo is None else _EPOCH_UTC)) // _MILLISECOND


def job_state(text: str | None) -> str:
    """Return the common name of a state; "CANCELLED by 1001" and "CANCELLED+" are `cancelled`."""
    words = (text or "").lower().replace("+", " ").split()
    return _STATE_OF.get(words[0], "unknown") if words else "unknown"


def difference(end: int | None, start: int | None) -> int | None:
    """Return end − start if both are known."""
    return None if end is None or start is None else end - start


__all__ = ["difference", "instant_ms", "job_state", "number", "seconds_ms", "whole_number"]
