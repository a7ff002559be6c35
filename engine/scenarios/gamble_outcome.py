"""What Act II of Lab 08 returns: the goodput of an interval beside all others, and one run that shows why."""

from __future__ import annotations

from typing import Literal

from engine.model import Frozen
from engine.reliability.history import Stretch, StretchKind
from engine.scenarios.audit_outcome import Event, FleetMap, Money
from engine.units import Bytes, DollarRate, Fraction, GpuTime, PositiveTime, Time


class GoodputCurve(Frozen):
    """Goodput by interval, in seconds, evenly spaced on a log axis.

    The first-order curve holds where it is not negative and within one point of the exact one.
    """

    intervals: tuple[float, ...]
    goodput: tuple[float, ...]
    first_order: tuple[float, ...]
    first_order_holds: tuple[bool, ...]
    flat_from: PositiveTime
    flat_to: PositiveTime


class SimulatedPoints(Frozen):
    """Simulated goodput at some intervals, in seconds, with the 95 % band of each."""

    intervals: tuple[float, ...]
    goodput: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    attempts: int


class RunStrip(Frozen):
    """One sampled run: what the job did up to each moment, in milliseconds, and when failures struck."""

    kinds: tuple[StretchKind, ...]
    ends: tuple[int, ...]
    failures: tuple[int, ...]
    failed_nodes: tuple[int, ...]

    @property
    def stretches(self) -> list[Stretch]:
        """The run as stretches with a kind, a start and an end."""
        starts = (0, *self.ends[:-1])
        return [Stretch(*one) for one in zip(self.kinds, starts, self.ends, strict=True)]


class DailyBooks(Frozen):
    """Where the GPU time of a day goes on average: held = retained + lost + writes + restarts."""

    held: GpuTime
    retained: GpuTime
    lost: GpuTime
    writes: GpuTime
    restarts: GpuTime


class BehindBest(Frozen):
    """What the chosen interval costs per day against the best one."""

    gpu_hours: GpuTime
    dollars: DollarRate


class CheckpointGambleOutcome(Frozen):
    """Everything the zones of Act II show, computed from the levers and the seed."""

    interval: PositiveTime
    checkpoint: Bytes
    write_time: PositiveTime
    mtbf: PositiveTime
    restart_time: Time
    gpus: int
    goodput: Fraction
    best_interval: PositiveTime
    best_goodput: Fraction
    share_of_best: Fraction
    loss_of_best: Fraction
    side: Literal["too often", "too rarely", "flat"]
    young_interval: PositiveTime
    daly_interval: PositiveTime
    first_order_goodput: float
    failures_per_day: float
    cluster_mfu: Fraction
    books: DailyBooks
    behind_best: BehindBest
    money: Money
    curve: GoodputCurve
    simulated: SimulatedPoints
    strip: RunStrip
    fleet_map: FleetMap
    events: tuple[Event, ...]
