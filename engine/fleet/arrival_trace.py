"""Recorded arrivals: offsets to replay, read from JSON lines.

Two kinds of lines are understood: `{"offset_ms": 12.5}` on every line, or the events of an inference
run, of which the measured requests that were not dropped are taken.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from itertools import pairwise
from numbers import Real
from pathlib import Path
from typing import Any

from engine.errors import FileProblem, InvalidInput, shown
from engine.model import Frozen

_HINT = (
    'A line holds "offset_ms", or it is an event with "event_type": "infer.request", "phase": "measured", '
    'a status other than "dropped", and a start.'
)
_LATEST_MS = 1e300


class ArrivalTrace(Frozen):
    """Arrival offsets that were recorded, and where they come from.

    Parameters
    ----------
    offsets_seconds: seconds from the first arrival, ascending, the first 0; shape `(arrivals,)`, not empty.
    source: where they were recorded, for instance a file name.
    case_id: which case of the source, if it holds several.

    Raises
    ------
    InvalidInput: for offsets that are not ascending finite numbers from 0.
    """

    offsets_seconds: tuple[float, ...]
    source: str
    case_id: str | None = None

    def __init__(self, offsets_seconds: Any, source: str, case_id: str | None = None, **unknown: Any) -> None:
        offsets = _checked_offsets(offsets_seconds)
        super().__init__(offsets_seconds=offsets, source=source, case_id=case_id, **unknown)

    def digest(self) -> str:
        """Return the SHA-256 of `json.dumps` of the offsets rounded to 9 digits, in hexadecimal."""
        text = json.dumps([round(offset, 9) for offset in self.offsets_seconds])
        return hashlib.sha256(text.encode()).hexdigest()

    def to_record(self) -> dict[str, Any]:
        """Return source, case, number of arrivals and digest, ready for JSON."""
        count = len(self.offsets_seconds)
        return {"source": self.source, "case_id": self.case_id, "arrivals": count, "digest": self.digest()}


def load_arrival_trace(path: str | Path, case_id: str | None = None) -> ArrivalTrace:
    """Read the arrivals of a file of JSON lines; they are sorted and start at 0.

    A line is an object with `offset_ms` (milliseconds, at least 0; then every line has one), or an event
    of an inference run. Of events those with `event_type` "infer.request", `phase` "measured" and a
    `status` other than "dropped" arrive, at `intended_at_ns` or else `started_at_ns`, grouped by `case_id`.

    Parameters
    ----------
    path: the file; blank lines in it are passed over.
    case_id: which case to take; needed when there are several.

    Raises
    ------
    InvalidInput: when there are several cases and none is chosen, or no such case; lists the cases.
    FileProblem: for a file that cannot be read or holds no arrival, or a line that is not as described,
        with its number.
    """
    cases: dict[str | None, list[int]] = {}
    plain: bool | None = None
    for line, content in _lines(Path(path)):
        try:
            record = _object(content)
            plain = "offset_ms" in record if plain is None else plain
            arrival = _offset(record) if plain else _event(record)
        except (ValueError, RecursionError) as error:
            raise FileProblem(f"{error}", file=str(path), line=line, hint=_HINT) from error
        if arrival is not None:
            cases.setdefault(arrival[0], []).append(arrival[1])
    if not cases:
        raise FileProblem("there is no arrival in this file.", file=str(path), hint=_HINT)
    chosen = _chosen(cases, case_id)
    instants = sorted(cases[chosen])
    # Subtract before dividing: nanoseconds since 1970 do not fit a float.
    offsets = [(instant - instants[0]) / 1_000_000_000 for instant in instants]
    return ArrivalTrace(offsets, str(path), chosen)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as stream:
            yield from ((line, content) for line, content in enumerate(stream, start=1) if content.strip())
    except OSError as error:
        raise FileProblem(f"it cannot be read ({error.strerror or error}).", file=str(path)) from error


def _object(content: bytes) -> dict[str, Any]:
    try:
        record = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"this is not JSON ({error}).") from error
    if not isinstance(record, dict):
        raise ValueError(f"this is JSON, but not an object: {shown(record)}.")
    return record


def _offset(record: dict[str, Any]) -> tuple[None, int]:
    if "offset_ms" not in record:
        raise ValueError('"offset_ms" is missing; it must be on every line.')
    value = record["offset_ms"]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= _LATEST_MS:
        raise ValueError(f'"offset_ms" is {shown(value)}, not a finite number of at least 0.')
    milliseconds, rest = divmod(value, 1)
    return None, int(milliseconds) * 1_000_000 + round(rest * 1_000_000)


def _event(record: dict[str, Any]) -> tuple[str | None, int] | None:
    if "offset_ms" in record and "event_type" not in record:
        raise ValueError('"offset_ms" must be on every line; the first has none.')
    if record.get("event_type") != "infer.request" or record.get("phase") != "measured":
        return None
    if record.get("status") == "dropped":
        return None
    case = record.get("case_id")
    if not isinstance(case, str | None):
        raise ValueError(f'"case_id" is {shown(case)}, not a text.')
    start = record.get("intended_at_ns")
    start = record.get("started_at_ns") if start is None else start
    if not isinstance(start, int) or isinstance(start, bool):
        raise ValueError(f'"intended_at_ns" or "started_at_ns" is {shown(start)}, not whole nanoseconds.')
    return case, start


def _chosen(cases: dict[str | None, list[int]], case_id: str | None) -> str | None:
    if case_id is None and len(cases) == 1:
        return next(iter(cases))
    if case_id is None or case_id not in cases:
        names = ", ".join(sorted(name for name in cases if name is not None))
        raise InvalidInput(
            "case_id", case_id, f"one of the cases {names}" if names else "none; there is no case"
        )
    return case_id


def _checked_offsets(values: Any) -> list[float]:
    accepted = "ascending finite numbers of seconds, the first 0"
    offsets = [real(value, f"offsets_seconds[{i}]", accepted) for i, value in enumerate(values)]
    if not offsets or offsets[0] != 0:
        raise InvalidInput("offsets_seconds", offsets[:1], accepted)
    for i, (before, after) in enumerate(pairwise(offsets), start=1):
        if after < before:
            raise InvalidInput(f"offsets_seconds[{i}]", after, accepted)
    return offsets


def real(value: object, parameter: str, accepted: str, *, above_zero: bool = False) -> float:
    """Return `value` as a finite float of at least (or above) 0; a boolean or a text is an error."""
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        number = math.inf
    if not 0 <= number < math.inf or (above_zero and number == 0):
        raise InvalidInput(parameter, value, accepted)
    return number


__all__ = ["ArrivalTrace", "load_arrival_trace", "real"]
