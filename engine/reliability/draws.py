"""Random draws that are the same, bit for bit, on every platform and Python.

`random.Random` promises its stream; numpy promises neither its own nor that its logarithm rounds alike in
two builds. So the uniforms are bytes of `random.Random` and the logarithm is made of +, −, × and / alone,
which IEEE 754 rounds in one way.
"""

from __future__ import annotations

import random

import numpy as np

from engine.reliability.lambert import Floats

_LN2 = 0.6931471805599453
_ROOT_HALF = 0.7071067811865476
_ODD = tuple(1 / k for k in range(21, 0, -2))


class Draws:
    """A stream of draws from one seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def uniforms(self, count: int) -> Floats:
        """Return `count` numbers k/2⁵³ with k from 1 to 2⁵³: above 0, at most 1."""
        words = np.frombuffer(self._random.randbytes(8 * count), dtype="<u8")
        return np.asarray(((words >> np.uint64(11)) + np.uint64(1)).astype(np.float64) * 2.0**-53)

    def exponentials(self, count: int) -> Floats:
        """Return `count` draws from the exponential distribution of mean 1, −ln(u)."""
        return -logarithm(self.uniforms(count))


def logarithm(u: Floats) -> Floats:
    """Return ln(u) for u above 0 to within 2 units in the last place, the same on every platform.

    With u = m·2^e and m near 1, ln(m) = 2·(s + s³/3 + s⁵/5 + …) at s = (m−1)/(m+1), where |s| ≤ 0.172.
    """
    mantissa, exponent = np.frexp(u)
    low = mantissa < _ROOT_HALF
    mantissa = np.where(low, 2 * mantissa, mantissa)
    s = (mantissa - 1) / (mantissa + 1)
    square = s * s
    series = np.full_like(s, _ODD[0])
    for coefficient in _ODD[1:]:
        series *= square
        series += coefficient
    return np.asarray(2 * s * series + (exponent - low) * _LN2)


def settled(value: float) -> float:
    """Return a computed number rounded to 12 digits, where the exponentials and sums of two builds agree."""
    return float(f"{value:.12g}")
