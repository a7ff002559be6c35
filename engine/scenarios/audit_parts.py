"""The parts of a history of Act I: who fills the fleet, what it looked like, what broke and what was done."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pint

from engine.fleet.jobs import Jobs
from engine.fleet.node_failures import NodeFailure
from engine.fleet.rescue import Eviction, Migration
from engine.fleet.workload import StudentLoad, Students

if TYPE_CHECKING:
    from engine.fleet.logged_load import LoggedJobs
    from engine.scenarios.fragmentation_audit import FragmentationAuditScenario


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The fleet at one moment, as the map and the charts need it."""

    at: int
    busy: bytes
    failed: tuple[int, ...]
    gang_nodes: int
    busy_gpus: int
    fragmentation: float | None
    largest_block: int
    free_nodes: int
    waiting: int


@dataclass(slots=True)
class Hit:
    """A node failure that happened: the jobs it cut, and the GPU-ms of work that were lost."""

    failure: NodeFailure
    jobs: int
    lost: int
    gang: bool


@dataclass(slots=True)
class Act:
    """What the operator did: at most one of the two worked, and a migration may have been refused."""

    eviction: Eviction | None = None
    migration: Migration | None = None
    refused: bool = False
    pause: int = 0
    busy_gpus: int = 0
    paused: dict[int, int] = field(default_factory=dict)  # row → when its pause ended or it was cut
    tax: dict[int, tuple[int, int]] = field(default_factory=dict)  # row → (tax, remaining before it) in ms


def people_of(scenario: FragmentationAuditScenario, span: int) -> Students | LoggedJobs:
    """Return those whose jobs fill the fleet: the synthetic students, or the users of a log."""
    if scenario.log is not None:
        return scenario.log.people()
    return _students(scenario.load, scenario.shape.gpus, ms(scenario.opens), span, scenario.seed)


@lru_cache(maxsize=2)
def _students(load: StudentLoad, gpus: int, opens: int, span: int, seed: int) -> Students:
    """Make the students of a seed once for all settings of the levers."""
    return Students(load, gpus, opens_ms=opens, span_ms=span, seed=seed)


@lru_cache(maxsize=2)
def table_of(people: Students | LoggedJobs, crisis: int, gang_gpus: int, gang_run: int) -> tuple[Jobs, int]:
    """Return the table of small jobs and gang in queue order, and the gang's row."""
    row = int(np.searchsorted(people.submit_ms, crisis, side="right"))
    columns = (
        (people.submit_ms, crisis),
        (people.size, gang_gpus),
        (people.estimate_ms, gang_run),
        (people.run_ms, gang_run),
        (np.zeros_like(people.size), 1),
    )
    table = [np.insert(column, row, value) for column, value in columns]
    return Jobs(np.arange(table[0].size), *table), row


def ms(time: pint.Quantity[Any]) -> int:
    """Return a time in whole milliseconds."""
    return round(float(time.to("s").magnitude) * 1000)
