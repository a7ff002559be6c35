"""How the sentences of an audit log write times, amounts and moments."""

from __future__ import annotations

import math


def time_words(seconds: float) -> str:
    """Write a time with three digits in its natural unit: `40 s`, `15.1 min`, `6.1 h`, `2 days`."""
    for size, unit in ((86400.0 * 2, "days"), (3600.0, "h"), (60.0, "min")):
        if seconds >= size:
            return f"{_digits(seconds / (86400.0 if unit == 'days' else size))} {unit}"
    return f"{_digits(seconds)} s"


def amount(value: float) -> str:
    """Write an amount with commas between thousands, whole from 100 up, else with three digits."""
    return f"{value:,.0f}" if value >= 100 else _digits(value)


def percent(share: float) -> str:
    """Write a share with three digits as a percentage: `89.1 %`."""
    return f"{_digits(100 * share)} %"


def clock(seconds: float) -> str:
    """Write a moment as hours and minutes from the start: `13:20`."""
    minutes = round(seconds / 60)
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def _digits(value: float) -> str:
    if value == 0:
        return "0"
    places = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
