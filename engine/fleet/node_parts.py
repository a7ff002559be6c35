"""The parts of the loop of a fleet with nodes: policies, waiting lines, and runs that were cut short."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

NodePolicy = Literal["fcfs", "skip", "easy", "priority"]
FOREVER = 2**62


class Line(Protocol):
    """The jobs that wait, and the rule by which they start."""

    count: int
    greedy: bool  # whether a newcomer starts if it fits, whoever waits
    wants: int  # nobody can start because of ends that leave no node with this many free GPUs

    def add(self, row: int) -> None:
        """Put a job into the line at its place."""

    def remove(self, row: int) -> None:
        """Take a job out of the line, because the operator starts it himself."""

    def arrive(self, row: int, now: int) -> None:
        """Take in one job that arrives while others wait: start it or put it into the line."""

    def serve(self, now: int) -> None:
        """Start whatever the rule allows now."""

    def ended(self, row: int, nodes: int) -> None:
        """Learn that a job has left these nodes while others wait."""

    def fleet_changed(self) -> None:
        """Learn that nodes failed, came back or that running jobs were moved or delayed."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A run that was cut short: the row, when it ran, where (see `NodeLoop.place`) and why it ended."""

    row: int
    start: int
    end: int
    place: int
    nodes: int
    cause: Literal["failure", "eviction"]
