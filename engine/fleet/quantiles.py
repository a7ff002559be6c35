"""Quantiles by nearest rank: always a value that occurred, the same on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from engine.errors import InvalidInput

T = TypeVar("T")


def rank(count: int, percent: int) -> int:
    """Return the index, in ascending order, of the nearest-rank percentile: ⌈percent · count / 100⌉ − 1.

    Parameters
    ----------
    count: how many values there are, at least 1.
    percent: 1 … 100.

    Raises
    ------
    InvalidInput: for no values or another percentage.
    """
    if count < 1:
        raise InvalidInput("values", count, "at least one")
    if percent not in range(1, 101):
        raise InvalidInput("percent", percent, "a whole number from 1 to 100")
    return -(-percent * count // 100) - 1


def nearest_rank(ascending: Sequence[T], percent: int) -> T:
    """Return the least value that at least `percent` % of the values do not exceed; see `rank`."""
    return ascending[rank(len(ascending), percent)]


__all__ = ["nearest_rank", "rank"]
