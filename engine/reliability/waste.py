"""First-order checkpoint waste at an interval, and what missing the optimum costs."""

from __future__ import annotations

import math
from typing import Any

from engine.model import Frozen
from engine.units import PositiveTime, si


class IntervalMiss(Frozen):
    """The waste of an interval against that of Young's."""

    optimum: PositiveTime
    optimum_waste: float
    waste: float
    miss_factor: float
    miss_penalty: float


def interval_miss(interval: Any, write_time: Any, mtbf: Any) -> IntervalMiss:
    """Return the first-order waste δ/τ + τ/2M, and by which factor and penalty τ misses √(2δM).

    With m = τ/√(2δM) the waste is (m + 1/m)/2 times the least one, √(2δ/M), so the penalty is
    (m + 1/m)/2 − 1: twice too long costs as much as twice too short. Beyond a waste of 1 it means nothing;
    the exact goodput does.

    Parameters
    ----------
    interval, write_time, mtbf: τ, δ and M, times above 0.

    Raises
    ------
    InvalidInput: naming the parameter.
    """
    tau = si(interval, "s", "interval", low_open=True)
    delta = si(write_time, "s", "write_time", low_open=True)
    m = si(mtbf, "s", "mtbf", low_open=True)
    best, least = math.sqrt(2 * delta * m), math.sqrt(2 * delta / m)
    waste = delta / tau + tau / (2 * m)
    return IntervalMiss(
        optimum=(best, "s"),
        optimum_waste=least,
        waste=waste,
        miss_factor=tau / best,
        miss_penalty=waste / least - 1,
    )
