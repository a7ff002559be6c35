"""The Lambert function at the one place where checkpointing needs it, exact to the last digits.

The optimum interval solves W e^W = −e^(−1−x) with x = δ/M. Evaluated as written this loses every digit for
small x, since e^(−1−x) rounds to 1/e. So we solve the equivalent −ln(1−u) − u = x for u = 1 + W₀ instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_SMALL, _LARGE = 1e-3, 1.0
_SERIES = (1.0, -1 / 3, 1 / 36, 1 / 270, 1 / 4320, -1 / 17010, -139 / 5443200, -1 / 204120)
"""u in powers of √(2x): the inversion of −ln(1−u) − u = u²/2 + u³/3 + …"""


def work_share(ratio: ArrayLike) -> Floats:
    """Return u = 1 + W₀(−e^(−1−x)): the best interval as a share of the mean time between failures.

    Parameters
    ----------
    ratio: x = δ/M, of any shape, 0 or more; relative error below 1e-14 from 1e-12 to 1e3.

    Returns
    -------
    An array of the shape of `ratio` with values from 0 to 1.
    """
    x = np.asarray(ratio, dtype=np.float64)
    near = np.minimum(x, _LARGE)
    u = _by_series(near)
    for _ in range(3):
        u = np.where(x < _SMALL, u, u + (near + u + np.log1p(-u)) * (1 - u) / np.maximum(u, 1e-300))
    return np.asarray(np.where(x < _LARGE, u, 1 - _kept_for_large(x)))


def minus_w0(ratio: ArrayLike) -> Floats:
    """Return v = −W₀(−e^(−1−x)): the best goodput when restarts cost nothing.

    Parameters
    ----------
    ratio: x = δ/M, of any shape, 0 or more. Beyond 744 the value is below the least float and becomes 0;
        its logarithm is −1 − x + v.

    Returns
    -------
    An array of the shape of `ratio` with values from 1 down to 0.
    """
    x = np.asarray(ratio, dtype=np.float64)
    return np.asarray(np.where(x < _LARGE, 1 - work_share(np.minimum(x, _LARGE)), _kept_for_large(x)))


def _by_series(x: Floats) -> Floats:
    p = np.sqrt(2 * x)
    u: Any = np.zeros_like(p)
    for coefficient in reversed(_SERIES):
        u = (u + coefficient) * p
    return np.asarray(u)


def _kept_for_large(x: Floats) -> Floats:
    c = np.exp(-1 - np.maximum(x, _LARGE))
    v = c * (1 + c * (1 + 1.5 * c))
    for _ in range(3):
        v = v - (v - c * np.exp(v)) / (1 - v)
    return np.asarray(v)
