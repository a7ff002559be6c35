"""Act I of Lab 08: a big job arrives in a fleet full of small ones, and the operator may act once.

The history opens at 06:00 with the stationary set of student jobs. At 20:00 a gang asks for 125 whole
neighbouring nodes. The policy governs the history that made the holes as well as what follows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from engine.errors import InvalidInput
from engine.facts import fact
from engine.fleet.job_log import JobLog
from engine.fleet.logged_load import LoggedLoad, busiest_hours
from engine.fleet.topology import MapShape
from engine.fleet.workload import StudentLoad
from engine.model import Frozen
from engine.scenarios.audit_outcome import FragmentationAuditOutcome
from engine.units import Fraction, NodeFailureRate, PositiveTime, Price, Quantity, Time

AuditPolicy = Literal["fcfs", "best-fit", "preemption"]


def _of(name: str) -> Any:
    return Field(default_factory=lambda: fact(name).quantity)


class FragmentationAuditScenario(Frozen):
    """The question of Act I: with these levers, when does the big job start and what does it cost.

    Parameters
    ----------
    policy: `fcfs` (first come first served, spread), `best-fit` (EASY, best fit) or `preemption`
        (by priority, best fit, blocked jobs are passed over).
    evict: the operator kills what is in the cheapest window, once, if the big job cannot start.
    migrate: the operator moves the jobs out of the window with the fewest, once; tried before evicting.
    checkpoint_interval: between the big job's checkpoints; writing them costs nothing here.
    seed: of the students and of the failures.
    log: real jobs in place of the students; see `of_log`.
    The other fields are the assumptions of the act, with their defaults from the facts.

    Raises
    ------
    InvalidInput: naming the field, what was given and what is accepted.
    """

    policy: AuditPolicy = "fcfs"
    evict: bool = False
    migrate: bool = False
    checkpoint_interval: PositiveTime = Field(default="1 h")
    seed: int = Field(default=1, ge=0, lt=2**63)
    shape: MapShape = MapShape()
    load: StudentLoad = Field(default_factory=StudentLoad)
    log: LoggedLoad | None = None
    gang_gpus: int = Field(default=1000, ge=1)
    gang_run: PositiveTime = Field(default="24 h")
    opens: Time = Field(default="6 h")
    crisis_after: PositiveTime = Field(default="14 h")
    horizon: PositiveTime = Field(default="48 h")
    node_failure_rate: NodeFailureRate = _of("fleet.node_failure_rate")
    repair_median: PositiveTime = _of("fleet.repair_time_median")
    repair_sigma: float = Field(default_factory=lambda: fact("fleet.repair_time_sigma").value, ge=0)
    migration_pause: Time = _of("fleet.migration_pause")
    migration_tax: Fraction = _of("fleet.migration_tax")
    job_mfu: Fraction = _of("fleet.job_mfu")
    price: Price = _of("money.h100_price")

    @model_validator(mode="after")
    def _possible(self) -> Self:
        least, most = self.shape.gpus_per_node + 1, self.shape.gpus
        if not least <= self.gang_gpus <= most:
            raise InvalidInput("gang_gpus", self.gang_gpus, f"{least} to {most:,} GPUs: more than one node")
        for name, hours in (("migration_pause", 1), ("opens", 24)):
            if getattr(self, name) > Quantity(hours, "h"):
                raise InvalidInput(name, getattr(self, name), f"at most {hours} h")
        return self

    @classmethod
    def of_log(cls, log: JobLog, source: str, **levers: Any) -> Self:
        """Return the act on a job log: a fleet that it fills to 80 %, and a gang of a tenth of it.

        The crisis is the fullest hour at which the gang finds no block under first come, first served; if
        it finds one at all of the dozen fullest, it is the fullest.

        Parameters
        ----------
        log: as `engine.fleet.traces.load_job_log` reads it.
        source: its name.
        levers: other fields of the scenario.

        Raises
        ------
        NoAnswer: if the log is too short or its machine too small.
        """
        from engine.scenarios.audit_run import finds_no_block

        plain = cls(**levers)
        before, after = (round(t.to("s").magnitude * 1000) for t in (plain.crisis_after, plain.horizon))
        hours = busiest_hours(log, source, before_ms=before, after_ms=after)
        found = (plain._at_hour(log, source, hour, before, after) for hour in hours)
        first = next(found)
        blocked = (one for one in (first, *found) if finds_no_block(one.variant(policy="fcfs")))
        return next(blocked, first)

    def _at_hour(self, log: JobLog, source: str, hour_ms: int, before_ms: int, after_ms: int) -> Self:
        load = LoggedLoad.from_log(log, source, hour_ms, before_ms=before_ms, after_ms=after_ms)
        tenth = max(2, -(-load.shape.nodes // 10)) * load.shape.gpus_per_node
        opens = Quantity(load.opens_ms / 1000 % 86_400, "s")
        return self.variant(log=load, shape=load.shape, gang_gpus=tenth, opens=opens)

    def outcome(self) -> FragmentationAuditOutcome:
        """Return what happens: a pure function of the fields; the same object for the same fields."""
        log = self.log.digest if self.log else ""
        return _outcome(_Cached(self.model_dump_json(exclude={"log"}) + log, self))


@dataclass(frozen=True)
class _Cached:
    """A scenario under the name by which its outcome is found again; a log stands as its digest."""

    name: str
    scenario: FragmentationAuditScenario = field(compare=False)


@lru_cache(maxsize=64)
def _outcome(wanted: _Cached) -> FragmentationAuditOutcome:
    from engine.scenarios.audit_run import run_audit

    return run_audit(wanted.scenario)
