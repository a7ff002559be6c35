"""What Act III of Lab 08 returns: the damage, the ring, and three responses on one timeline."""

from __future__ import annotations

from typing import Literal

from engine.model import Frozen
from engine.reliability.batch import BatchSplit
from engine.reliability.elastic import Name, Response, Stall
from engine.reliability.layout import Damage
from engine.reliability.ring import Ring
from engine.scenarios.audit_outcome import Event, FleetMap, Money
from engine.units import Fraction, GpuTime, Time


class Responses(Frozen):
    """The three responses, each possible or with the reason why not."""

    wait: Response
    spares: Response
    elastic: Response

    def named(self, name: Name) -> Response:
        """Return one of the three."""
        response: Response = getattr(self, name)
        return response


class AllReduce(Frozen):
    """The ring all-reduce of one step before and after: re-forming costs once, then little changes."""

    before: Time
    after: Time


class ScaleLoss(Frozen):
    """The share of a job that ten dead nodes take, by where they stand and how replicas lie."""

    label: str
    nodes: int
    replicas: int
    lost: int
    loss: Fraction


class SpareCost(Frozen):
    """What spares cost while they wait, and how often such a spike must come before they pay against elastic.

    `pays_every` is None where spares do not save anything in this event.
    """

    nodes: int
    standing_per_day: GpuTime
    saved_per_event: GpuTime
    pays_every: Time | None


class ElasticRescaleOutcome(Frozen):
    """Everything the zones of Act III show, computed from the levers."""

    response: Name
    layout: str
    order: Literal["replica", "stage"]
    gpus: int
    damage: Damage
    capacity: Fraction
    throughput: Fraction
    batch: BatchSplit | None
    ring_before: Ring
    ring_after: Ring
    all_reduce: AllReduce
    stall_parts: Stall
    stall: Time
    rollback: Time
    wait: Time
    repair: Time
    responses: Responses
    break_even: Time | None
    window: Time
    lost: GpuTime
    held: GpuTime
    goodput: Fraction
    cluster_mfu: Fraction
    money: Money
    spares: SpareCost
    at_scale: tuple[ScaleLoss, ...]
    fleet_map: FleetMap
    events: tuple[Event, ...]
