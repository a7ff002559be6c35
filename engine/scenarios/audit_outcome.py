"""What Act I of Lab 08 returns: the big job, the books, the waits, the fleet through time and the log.

All times count from the opening of the books, 06:00 of day 1, unless a name says otherwise.
"""

from __future__ import annotations

from typing import Literal, Protocol, get_args

from pydantic import PrivateAttr

from engine.errors import InvalidInput, NoAnswer
from engine.fleet.fairness import GroupFairness
from engine.fleet.topology import MapShape
from engine.model import Frozen, Packed
from engine.units import DollarRate, Fraction, GpuTime, Price, Time, whole

EventKind = Literal["note", "fail", "cost", "done"]
FairnessGroup = Literal["size", "user"]


class FleetMap(Frozen):
    """The state of every GPU at each moment: 0 idle, 1 working, 2 failed, 3 held by the big job.

    In Act II, where one job holds all, 3 is work that a failure undoes later.

    `cells` holds the frames one after the other, two bits a GPU in GPU order, four GPUs a byte, the first
    GPU in the lowest bits.
    """

    shape: MapShape
    hours: tuple[float, ...]
    labels: tuple[str, ...]
    crisis: int
    after_act: int
    cells: Packed

    def state(self, frame: int, gpu: int) -> int:
        """Return the state of one GPU at one frame."""
        per_frame = -(-self.shape.nodes * self.shape.gpus_per_node // 4)
        return self.cells[frame * per_frame + gpu // 4] >> gpu % 4 * 2 & 3


class BigJob(Frozen):
    """The gang: when it came, whether and where it started, and how long it waited.

    A wait that reaches the horizon is censored: the job waits at least that long.
    """

    job: int
    gpus: int
    nodes: int
    arrives: Time
    started: bool
    wait: Time
    censored: bool
    first_node: int | None
    last_node: int | None
    failures: int


class Books(Frozen):
    """Where the GPU time went, from the opening of the books to the horizon.

    held = retained + lost + tax + pause + writes, to the last digit; what is not held is idle or failed.
    """

    available: GpuTime
    held: GpuTime
    retained: GpuTime
    lost: GpuTime
    lost_to_eviction: GpuTime
    lost_to_failures: GpuTime
    tax: GpuTime
    pause: GpuTime
    writes: GpuTime


class Money(Frozen):
    """Dollars: per useful GPU hour, and wasted per day."""

    price: Price
    per_useful_gpu_hour: Price
    wasted_per_day: DollarRate


class Waits(Frozen):
    """Waits of the small jobs that were submitted in the window; `censored` of them never started in it."""

    jobs: int
    censored: int
    mean: Time
    p50: Time
    p95: Time
    longest: Time


class ThroughTime(Frozen):
    """Samples at the moments of the map, and just before and after each start of the big job.

    Shares are between 0 and 1, the others whole nodes and jobs.

    `fragmentation` is None where no GPU is free.
    """

    hours: tuple[float, ...]
    busy: tuple[float, ...]
    fragmentation: tuple[float | None, ...]
    largest_block: tuple[int, ...]
    free_nodes: tuple[int, ...]
    waiting: tuple[int, ...]


class Occupant(Frozen):
    """Who holds a GPU: the job, its user, its GPUs, and the time until it ends or is cut."""

    job: int
    user: str
    gpus: int
    remaining: Time


class JobTable(Protocol):
    """What a history knows of its jobs, too long for the outcome's JSON."""

    def at(self, frame: int, gpu: int) -> Occupant | None:
        """Return who holds a GPU at a frame."""

    def fairness(self, by: FairnessGroup) -> dict[str, GroupFairness]:
        """Return how each group of small jobs fared."""


class Event(Frozen):
    """One line of the audit log: when, what kind, what happened, in one sentence with numbers."""

    hours: float
    clock: str
    kind: EventKind
    name: str
    sentence: str


class FragmentationAuditOutcome(Frozen):
    """Everything the zones of Act I show, computed from the levers and the seed.

    `clock` is the hour of the crisis, `noun` what the small jobs are called. `fragmentation` is read after
    the operator's act and before the big job is placed; `..._as_found` is the moment before the crisis.
    """

    _table: JobTable | None = PrivateAttr(default=None)

    clock: str
    noun: str
    big_job: BigJob
    busy_as_found: int
    idle_as_found: int
    small_jobs_as_found: int
    fragmentation_as_found: Fraction | None
    fragmentation: Fraction | None
    largest_block: int
    free_nodes: int
    kills: int
    moves: int
    migration_refused: bool
    books: Books
    goodput: Fraction
    cluster_mfu: Fraction
    utilisation: Fraction
    money: Money
    waits: Waits
    through_time: ThroughTime
    fleet_map: FleetMap
    events: tuple[Event, ...]

    def attach(self, table: JobTable) -> None:
        """Give the outcome the table that answers `occupant` and `fairness`; it is not part of its JSON."""
        self._table = table

    def occupant(self, frame: int, gpu: int) -> Occupant | None:
        """Return who holds a GPU at a frame of the map, or None if nobody does.

        Raises
        ------
        InvalidInput: for a frame or a GPU that the map does not have.
        NoAnswer: on an outcome that was read from JSON, which does not carry the job table.
        """
        frame = whole(frame, "frame", high=len(self.fleet_map.hours) - 1)
        gpu = whole(gpu, "gpu", high=self.fleet_map.shape.gpus - 1)
        return self._jobs().at(frame, gpu)

    def fairness(self, by: FairnessGroup = "size") -> dict[str, GroupFairness]:
        """Return waits and slowdowns of the small jobs submitted from the crisis on, by size class or user.

        Jobs that still wait at the horizon are counted as censored, not left out.

        Raises
        ------
        InvalidInput: for another grouping.
        NoAnswer: on an outcome that was read from JSON, which does not carry the job table.
        """
        if by not in get_args(FairnessGroup):
            raise InvalidInput("by", by, "one of " + ", ".join(get_args(FairnessGroup)))
        return self._jobs().fairness(by)

    def _jobs(self) -> JobTable:
        if self._table is None:
            raise NoAnswer("This outcome was read from a file, which does not carry the job table.")
        return self._table
