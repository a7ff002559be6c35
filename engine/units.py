"""Units at the edge: quantities in and out, plain SI floats inside.

The registry is our own and small, so that it loads fast and so that bytes, dollars, GPUs and model
parameters are dimensions: a bare number where bytes are wanted is an error, and so are dollars.
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

import pint
from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from engine.errors import InvalidInput, shown

_DEFINITIONS = """
nano- = 1e-9 = n-
micro- = 1e-6 = µ- = u-
milli- = 1e-3 = m-
kilo- = 1e3 = k-
mega- = 1e6 = M-
giga- = 1e9 = G-
tera- = 1e12 = T-
peta- = 1e15 = P-
exa- = 1e18 = E-
kibi- = 2**10 = Ki-
mebi- = 2**20 = Mi-
gibi- = 2**30 = Gi-
tebi- = 2**40 = Ti-
second = [time] = s = sec
minute = 60 * second = min
hour = 60 * minute = h = hr
day = 24 * hour = d
week = 7 * day
year = 365.25 * day = a
bit = [information]
byte = 8 * bit = B
gpu = [gpu] = GPU
node = [node]
parameter = [parameter]
token = [token]
flop = [flop] = FLOP
USD = [currency] = dollar
gram = [mass] = g
tonne = 1e6 * gram = t
joule = [energy] = J
watt = joule / second = W
percent = 0.01 = % = pct
""".strip().splitlines()

_LONGEST_TEXT = 100
_NUMBER = r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?|inf|nan)"
_TEXT = re.compile(rf"\s*(?P<number>{_NUMBER})(?![\d.])\s*(?P<unit>.*?)\s*")
# Words, operators, 1/, and a power of one digit that is not a power of a power.
_UNIT = re.compile(r"(?:[^\W\d_]|[% ·*/()]|1(?=/)|(?<![)*^])(?:\*\*|\^)-?\d(?![\d.^]|\*\*))*")

ureg: pint.UnitRegistry[Any] = pint.UnitRegistry(_DEFINITIONS)
ureg.formatter.default_format = "~P"
Quantity = ureg.Quantity
"""A number with a unit of Fleetlab's registry, for instance `Quantity(3, "h")` or `Quantity("40 s")`."""


def quantity(
    value: Any, parameter: str = "value", accepted: str = "a quantity such as '3 h'"
) -> pint.Quantity[Any]:
    """Read a quantity from a quantity of any registry, a text such as `"3 h"` or a `(number, unit)` pair.

    Raises
    ------
    InvalidInput: naming `parameter`, when the text is not a number with a known unit.
    """
    try:
        if isinstance(value, str):
            return _read(value)
        if isinstance(value, Quantity):
            return value
        if isinstance(value, pint.Quantity):
            return Quantity(value.magnitude, str(value.units))
        if isinstance(value, (tuple, list)) and len(value) == 2 and not isinstance(value[0], (str, bool)):
            return Quantity(value[0], _unit(value[1]))
    except Exception as error:
        raise InvalidInput(parameter, value, accepted) from error
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Quantity(value, "")
    raise InvalidInput(parameter, value, accepted)


def _read(given: str) -> pint.Quantity[Any]:
    """Read a number and a unit. Pint would work out any expression, and `9**9**9` for ever."""
    found = _TEXT.fullmatch(given[:_LONGEST_TEXT])
    if found is None or len(given) > _LONGEST_TEXT:
        raise ValueError(given)
    digits = found["number"]
    return Quantity(int(digits) if digits.isdecimal() else float(digits), _unit(found["unit"]))


def _unit(given: str) -> str:
    if not _UNIT.fullmatch(given):
        raise ValueError(given)
    return f"1{given}" if given.startswith("/") else given  # "1/day" is one per day


def si(
    value: Any,
    unit: str,
    parameter: str,
    *,
    low: float = 0.0,
    high: float = math.inf,
    low_open: bool = False,
    infinite: bool = False,
) -> float:
    """Return the magnitude of `value` in `unit` after checking dimension, finiteness and range.

    Parameters
    ----------
    value: a quantity, or a text or pair that reads as one.
    unit: the unit of the returned number; its dimension is the one that is required.
    parameter: the name that an error shows.
    low, high: the accepted range in `unit`, both ends included (`low_open` leaves the lower one out).
    infinite: whether +∞ is accepted.

    Raises
    ------
    InvalidInput: naming the parameter, the value and what is accepted.
    """
    accepted = _range_words(unit, low, high, low_open)
    try:
        number = float(quantity(value, parameter, accepted).to(unit).magnitude)
    except (pint.PintError, TypeError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(parameter, value, accepted) from error
    wrong = math.isnan(number) or (math.isinf(number) and not infinite) or number < low or number > high
    if wrong or (low_open and number == low):
        raise InvalidInput(parameter, value, accepted)
    return number


def number(
    value: Any, parameter: str, *, low: float = -math.inf, high: float = math.inf, low_open: bool = False
) -> float:
    """Return a dimensionless number after the same checks as `si`; a percentage is read as a fraction."""
    return si(value, "", parameter, low=low, high=high, low_open=low_open)


def whole(value: Any, parameter: str, *, low: int = 0, high: int | None = None) -> int:
    """Return `value` as an integer in `low … high`; a boolean, a fraction or a text is an error."""
    accepted = f"a whole number of at least {low}" + ("" if high is None else f" and at most {high}")
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InvalidInput(parameter, value, accepted)
    count = int(value.__index__())
    if count < low or (high is not None and count > high):
        raise InvalidInput(parameter, value, accepted)
    return count


def _range_words(unit: str, low: float, high: float, low_open: bool) -> str:
    words = f"a finite quantity in a unit such as {unit}" if unit else "a finite number without a unit"
    limits = [f"{'above' if low_open else 'of at least'} {low:g}"] if low > -math.inf else []
    limits += [f"at most {high:g}"] if high < math.inf else []
    return f"{words}, {' and '.join(limits)} {unit}".strip() if limits else words


def quantity_field(
    unit: str, *, low: float = 0.0, high: float = math.inf, low_open: bool = False, infinite: bool = False
) -> Any:
    """Return a pydantic type for a quantity of the dimension of `unit`, checked as `si` does.

    It serialises to a text with all digits, such as `"3.0 h"`, which it reads back.
    """

    def check(value: Any) -> pint.Quantity[Any]:
        magnitude = si(value, unit, "value", low=low, high=high, low_open=low_open, infinite=infinite)
        return Quantity(magnitude, unit)

    return Annotated[
        Any,
        BeforeValidator(check),
        PlainSerializer(text, return_type=str),
        WithJsonSchema({"type": "string", "description": f"a quantity such as '3 {unit}'"}),
    ]


def text(value: pint.Quantity[Any]) -> str:
    """Return a quantity as a text with every digit and its unit, which `quantity` reads back."""
    return f"{float(value.magnitude)!r} {value.units:~C}".strip()


Time = quantity_field("s")
"""A duration of at least 0."""
PositiveTime = quantity_field("s", low_open=True)
"""A duration above 0."""
Bytes = quantity_field("byte")
"""A size of at least 0 bytes."""
Bandwidth = quantity_field("byte/s", low_open=True)
"""A transfer rate above 0."""
Fraction = quantity_field("", low=0.0, high=1.0)
"""A share between 0 and 1; a percentage is read as one."""
GpuTime = quantity_field("gpu*h")
"""GPU time of at least 0, in GPU hours."""
Price = quantity_field("USD/(gpu*h)")
"""A price per GPU hour of at least 0."""
DollarRate = quantity_field("USD/day")
"""Dollars per day of at least 0."""
NodeFailureRate = quantity_field("1/(kilonode*day)")
"""Failures per 1,000 node-days, at least 0."""

__all__ = [
    "Bandwidth",
    "Bytes",
    "DollarRate",
    "Fraction",
    "GpuTime",
    "NodeFailureRate",
    "PositiveTime",
    "Price",
    "Quantity",
    "Time",
    "number",
    "quantity",
    "quantity_field",
    "shown",
    "si",
    "text",
    "ureg",
    "whole",
]
