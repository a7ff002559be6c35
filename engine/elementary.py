"""Logarithm, exponential, cosine and sine that are the same, bit for bit, on every platform and Python.

The ones of numpy and of C libraries differ in the last digit between builds and even between processors. One
such digit can move a job by a millisecond, and a moved job can change a history. These are made of +, −, ×
and / alone, one array operation each, which IEEE 754 rounds in one way.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_LN2 = 0.6931471805599453
_LN2_HIGH = math.ldexp(2977044471, -32)  # the first 32 bits of ln 2, so that a whole multiple of it is exact
_LN2_LOW = 1.9082149292705877e-10
_ROOT_HALF = 0.7071067811865476
_ODD = tuple(1 / k for k in range(21, 0, -2))
_POWERS = tuple(1 / math.factorial(k) for k in range(14, -1, -1))
_COSINE = tuple((-1) ** k / math.factorial(2 * k) for k in range(9, -1, -1))
_SINE = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(8, -1, -1))


def logarithm(u: Floats) -> Floats:
    """Return ln(u) for u above 0 to within 3 units in the last place.

    With u = m·2^e and m near 1, ln(m) = 2·(s + s³/3 + s⁵/5 + …) at s = (m−1)/(m+1), where |s| ≤ 0.172.
    """
    mantissa, exponent = np.frexp(u)
    low = mantissa < _ROOT_HALF
    mantissa = np.where(low, 2 * mantissa, mantissa)
    s = (mantissa - 1) / (mantissa + 1)
    return np.asarray(2 * s * _polynomial(_ODD, s * s) + (exponent - low) * _LN2)


def exponential(x: Floats) -> Floats:
    """Return e^x to within 2 units in the last place; 0 and infinity beyond the range of floats.

    With x = k·ln 2 + r and |r| ≤ 0.347, e^x = 2^k · (1 + r + r²/2! + …).
    """
    x = np.clip(x, -800.0, 800.0)
    k = np.rint(x / _LN2)
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.ldexp(_polynomial(_POWERS, r), k.astype(np.int32)))


def cosine_and_sine(turns: Floats) -> tuple[Floats, Floats]:
    """Return cos(2πt) and sin(2πt) to within about 1e-16, for t counted in turns.

    The nearest quarter turn is taken off, which is exact, and then put back by swapping and changing signs.
    """
    quarter = np.rint(4 * turns)
    angle = 2 * math.pi * (turns - quarter / 4)
    square = angle * angle
    cosine, sine = _polynomial(_COSINE, square), angle * _polynomial(_SINE, square)
    quadrant = quarter.astype(np.int64) & 3
    swapped = quadrant % 2 == 1
    return (
        np.where((quadrant == 1) | (quadrant == 2), -1.0, 1.0) * np.where(swapped, sine, cosine),
        np.where(quadrant >= 2, -1.0, 1.0) * np.where(swapped, cosine, sine),
    )


def _polynomial(coefficients: tuple[float, ...], x: Floats) -> Floats:
    """Return the polynomial with these coefficients, the highest power first, by Horner's rule."""
    value = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value *= x
        value += coefficient
    return value
