"""Random draws that are the same, bit for bit, on every platform and Python.

`random.Random` promises its stream; numpy promises neither its own nor that its logarithm rounds alike in
two builds. So the uniforms are bytes of `random.Random` and the logarithm is our own.
"""

from __future__ import annotations

import random

import numpy as np

from engine.elementary import Floats, logarithm


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


def settled(value: float) -> float:
    """Return a computed number rounded to 12 digits, where the exponentials and sums of two builds agree."""
    return float(f"{value:.12g}")
