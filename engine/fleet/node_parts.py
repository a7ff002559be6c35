"""The parts of the loop of a fleet with nodes: policies, waiting lines, and runs that were cut short."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

NodePolicy = Literal["fcfs", "skip", "easy", "priority"]
FOREVER = 2**62


class Line(Protocol):
    """The jobs that wait, and the rule by which they start."""

    count: int
    wants: int  # nobody can start because of ends that leave no node with this many free GPUs

    def add(self, row: int) -> None:
        """Put a job into the line at its place."""

    def remove(self, row: int) -> None:
        """Take a job out of the line, because the operator starts it himself."""

    def holds(self, row: int) -> bool:
        """Return whether a job is in the line; one that starts may still be."""

    def ordered(self, rows: range) -> Iterable[int]:
        """Return jobs that arrive at one instant in the order in which they may start."""

    def serve(self, now: int) -> None:
        """Start whatever the rule allows now."""

    def fleet_changed(self) -> None:
        """Learn that nodes failed, came back or that running jobs were moved or delayed."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A run that was cut short: the row, when it ran, where (see `NodeState.place`) and why it ended."""

    row: int
    start: int
    end: int
    place: int
    nodes: int
    cause: Literal["failure", "eviction"]


def as_array(column: NDArray[np.signedinteger[Any]]) -> array[int]:
    """Return integers as an array of 8 bytes each, which is quicker to read one by one than numpy's."""
    return array("q", column.astype(np.int64).tobytes())
