"""How numbers are written, in one place: significant digits, commas between thousands, and always a unit.

A number and its unit are joined by a no-break space. What is not known is "n/a".
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import pint

from engine.facts import Fact
from engine.units import si

SPACE = "\u00a0"
UNKNOWN = "n/a"


class Shown(NamedTuple):
    """A number as it is shown, apart from its unit, so that a card can set them in two sizes."""

    number: str
    unit: str

    def __str__(self) -> str:
        return f"{self.number}{SPACE}{self.unit}" if self.unit else self.number


def digits(value: float, significant: int = 3) -> str:
    """Write a number with `significant` digits, never an exponent, commas between thousands.

    Raises
    ------
    ValueError: for NaN or an infinity, which no zone may show.
    """
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a number that can be shown")
    if value == 0:
        return "0"
    places = max(0, significant - 1 - math.floor(math.log10(abs(value))))
    rounded = round(value, places)
    if rounded and math.floor(math.log10(abs(rounded))) > math.floor(math.log10(abs(value))):
        places = max(0, places - 1)
    written = f"{rounded:,.{places}f}"
    return "0" if rounded == 0 else written.replace("-", "−")


def count(value: int) -> str:
    """Write a whole number: `10,000`."""
    return f"{value:,d}"


def share(fraction: float | pint.Quantity[Any] | None) -> Shown:
    """Write a fraction as a percentage: 0.834 → `83.4 %`; None → `n/a`. Near 100 % a fourth digit tells."""
    if fraction is None:
        return Shown(UNKNOWN, "")
    amount = si(fraction, "", "share", low=-math.inf)
    return Shown(digits(amount * 100, significant=4 if 0.99 < amount < 1 else 3), "%")


def duration(time: pint.Quantity[Any], *, censored: bool = False) -> Shown:
    """Write a time in seconds below a minute, minutes below an hour, hours above; `> 48 h` when censored."""
    seconds = si(time, "s", "time")
    size, unit = next(
        (size, unit)
        for size, unit in ((3600.0, "h"), (60.0, "min"), (1.0, "s"))
        if seconds >= size or size == 1.0
    )
    if seconds == 0:
        size, unit = 60.0, "min"
    amount = seconds / size
    written = f"{amount:,.0f}" if amount == round(amount) else digits(amount)
    return Shown(f">{SPACE}{written}" if censored else written, unit)


def gpu_hours(value: pint.Quantity[Any]) -> Shown:
    """Write GPU time: `3,330 GPU-h`; whole above ten, since less is not known."""
    hours = si(value, "gpu*h", "GPU time")
    return Shown(f"{hours:,.0f}" if hours >= 10 else digits(hours), "GPU-h")


def price(value: pint.Quantity[Any]) -> Shown:
    """Write a price per GPU hour: `3.61 $/GPU-h`; whole from 100 up."""
    amount = si(value, "USD/(gpu*h)", "price")
    return Shown(f"{amount:,.0f}" if amount >= 100 else f"{amount:,.2f}", "$/GPU-h")


def dollars_a_day(value: pint.Quantity[Any]) -> Shown:
    """Write dollars per day, in thousands or millions where that is shorter: `412 k$/day`."""
    amount = si(value, "USD/day", "dollars per day")
    size, unit = (1e6, "M$/day") if amount >= 1e6 else (1e3, "k$/day") if amount >= 1e3 else (1.0, "$/day")
    return Shown(digits(amount / size), unit)


_FACT_UNITS = {
    "1/(kilonode*day)": "per 1,000 node-days",
    "parameter": "parameters",
    "node": "nodes",
    "day": "days",
    "GPU": "GPUs",
}
_BILLION = 1e9


def fact_value(one: Fact) -> Shown:
    """Write a fact's value with the digits it is given in: a share as a percentage, a price in dollars.

    The sigma of a log-normal distribution is a bare number, not a share.
    """
    if one.unit == "USD/(GPU*h)":
        return price(one.quantity)
    is_share = one.unit == "" and one.value <= 1 and not one.name.endswith("sigma")
    value, unit = (one.value * 100, "%") if is_share else (one.value, one.unit)
    unit = _FACT_UNITS.get(unit, unit)
    if value >= _BILLION:
        return Shown(f"{value / _BILLION:,.6g}", f"billion {unit}")
    return Shown(f"{value:,.6g}", unit)


def quantity_text(value: pint.Quantity[Any]) -> Shown:
    """Write what a student predicted, in the unit they chose: `6 h`."""
    unit = f"{value.units:~P}"
    return Shown(f"{float(value.magnitude):,.6g}", unit)
