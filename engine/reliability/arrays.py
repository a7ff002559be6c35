"""Quantities whose magnitudes may be arrays: checked on the way in, given their unit on the way out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pint

from engine.errors import InvalidInput
from engine.reliability.lambert import Floats
from engine.units import Quantity, quantity, ureg

_SECOND = ureg.Unit("s")


def seconds(value: Any, parameter: str, *, low_open: bool = False, infinite: bool = False) -> Floats:
    """Return the time `value`, a quantity of one number or an array, in seconds.

    Raises
    ------
    InvalidInput: if it is not a time, or any element is NaN, negative, infinite (unless allowed) or, with
        `low_open`, 0.
    """
    accepted = f"a finite time, {'above 0' if low_open else '0 or more'}, in a unit such as s"
    try:
        array = np.asarray(quantity(value, parameter, accepted).to(_SECOND).magnitude, dtype=np.float64)
    except (pint.PintError, TypeError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(parameter, value, accepted) from error
    fine = (array > 0 if low_open else array >= 0) & (np.isfinite(array) | infinite)
    if not np.all(fine):
        raise InvalidInput(parameter, value, accepted)
    return array


def times(array: Floats) -> pint.Quantity[Any]:
    """Return an array of seconds as a quantity; one with no dimension as a quantity of one number."""
    return Quantity(shaped(array), _SECOND)


def shaped(array: Floats) -> Any:
    """Return a plain float for an array without dimension, else the array."""
    return float(array) if array.ndim == 0 else array
