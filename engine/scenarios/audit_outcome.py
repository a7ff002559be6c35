"""What Act I of Lab 08 returns: the big job, the books, the waits, the fleet through time and the log.

All times count from the opening of the books, 06:00 of day 1, unless a name says otherwise.
"""

from __future__ import annotations

import base64
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, PlainSerializer

from engine.model import Frozen
from engine.units import Fraction, GpuTime, Price, Time, quantity_field

EventKind = Literal["note", "fail", "cost", "done"]
DollarRate = quantity_field("USD/day")
"""Dollars per day of at least 0."""


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else base64.b64decode(value, validate=True)


Packed = Annotated[bytes, BeforeValidator(_bytes), PlainSerializer(lambda b: base64.b64encode(b).decode(), str)]


class MapShape(Frozen):
    """How the fleet is drawn: a node `node_columns` × `node_rows` GPUs, a rack a column of nodes.

    GPU `i` of node `n` stands in rack r = n // nodes_per_rack, at column
    (r % racks_per_row) · node_columns + i % node_columns and row
    (r // racks_per_row) · nodes_per_rack · node_rows + (n % nodes_per_rack) · node_rows + i // node_columns.
    """

    nodes: int
    gpus_per_node: int
    nodes_per_rack: int
    racks_per_row: int
    node_columns: int

    @property
    def node_rows(self) -> int:
        """Rows of GPUs in a node."""
        return -(-self.gpus_per_node // self.node_columns)

    @property
    def columns(self) -> int:
        """Width of the map in GPUs."""
        return self.racks_per_row * self.node_columns

    @property
    def rows(self) -> int:
        """Height of the map in GPUs."""
        racks = -(-self.nodes // self.nodes_per_rack)
        return -(-racks // self.racks_per_row) * self.nodes_per_rack * self.node_rows

    def cell(self, gpu: int) -> tuple[int, int]:
        """Return (column, row) of the GPU with this number, node · gpus_per_node + slot."""
        node, slot = divmod(gpu, self.gpus_per_node)
        rack, place = divmod(node, self.nodes_per_rack)
        column = rack % self.racks_per_row * self.node_columns + slot % self.node_columns
        row = (rack // self.racks_per_row * self.nodes_per_rack + place) * self.node_rows + slot // self.node_columns
        return column, row


class FleetMap(Frozen):
    """The state of every GPU at each moment: 0 idle, 1 working, 2 failed, 3 held by the big job.

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
    """Samples at the moments of the map: shares between 0 and 1, and whole nodes.

    `fragmentation` is None where no GPU is free.
    """

    hours: tuple[float, ...]
    busy: tuple[float, ...]
    fragmentation: tuple[float | None, ...]
    largest_block: tuple[int, ...]
    free_nodes: tuple[int, ...]
    waiting: tuple[int, ...]


class Event(Frozen):
    """One line of the audit log: when, what kind, what happened, in one sentence with numbers."""

    hours: float
    clock: str
    kind: EventKind
    name: str
    sentence: str


class FragmentationAuditOutcome(Frozen):
    """Everything the zones of Act I show, computed from the levers and the seed."""

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
    sla_met: bool
    fragmentation_met: bool | None
