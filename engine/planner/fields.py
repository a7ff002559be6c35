"""Types of the fields of a request: numbers in the unit that the field's name states.

A request is a file that people and programs write, so a field takes a plain number in the unit of its
name (`vram_gb: 80`) or a quantity with any unit of the same dimension (`vram_gb: "80 GB"`).
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator

from engine.errors import InvalidInput
from engine.units import si, whole


def in_unit(unit: str, high: float, *, low_open: bool = True) -> BeforeValidator:
    """Return a check that reads a number in `unit` above 0 (or of at least 0) and at most `high`."""
    limits = f"{'above' if low_open else 'of at least'} 0 and at most {high:g}"
    accepted = f"a number {limits} {unit}".strip()

    def check(value: Any) -> float:
        if isinstance(value, bool) or value is None:
            raise InvalidInput("value", value, accepted)
        if not isinstance(value, (int, float)):
            read = si(value, unit, "value", high=high, low_open=low_open)
            return float(f"{read:.12g}")  # half a terabyte is 500 GB, not 500.0000000000001
        if not 0 <= value <= high or (low_open and value == 0):
            raise InvalidInput("value", value, accepted)
        return abs(float(value))  # a negative zero would change the digest

    return BeforeValidator(check)


def between(low: int, high: int) -> BeforeValidator:
    """Return a check for a whole number in `low … high`."""
    return BeforeValidator(lambda value: whole(value, "value", low=low, high=high))


# The upper ends are far beyond what exists; they keep every product finite.
Parameters = Annotated[float, in_unit("", 1e6)]
"""Parameters in billions or millions."""
Tokens = Annotated[float, in_unit("", 1e12)]
"""Tokens in millions."""
Gigabytes = Annotated[float, in_unit("GB", 1e6)]
"""Memory in gigabytes of 1e9 bytes."""
GigabytesOrNone = Annotated[float, in_unit("GB", 1e6, low_open=False)]
"""Memory in gigabytes, 0 included."""
Megabytes = Annotated[float, in_unit("MB", 1e12)]
"""Memory in megabytes of 1e6 bytes."""
Minutes = Annotated[float, in_unit("minute", 1e9)]
"""Time in minutes."""
Hours = Annotated[float, in_unit("hour", 1e9)]
"""Time in hours."""
Dollars = Annotated[float, in_unit("USD", 1e12)]
"""Money in US dollars."""
HourlyPrice = Annotated[float, in_unit("USD/hour", 1e6, low_open=False)]
"""The price of one GPU in US dollars an hour, 0 included."""
Share = Annotated[float, in_unit("", 1.0)]
"""A share above 0 and at most 1."""
Batch = Annotated[int, between(1, 10**6)]
"""A number of samples or of steps."""
SequenceLength = Annotated[int, between(64, 10**9)]
"""Tokens in a sequence."""
Width = Annotated[int, between(64, 10**7)]
"""The hidden size of a transformer."""
Depth = Annotated[int, between(1, 10**5)]
"""The layers of a transformer."""
