"""What the planner answers: every candidate with its numbers and its fate, and the plan that won."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pint
from pydantic import BaseModel

from engine.model import Frozen
from engine.planner.protocol import Basis
from engine.units import Quantity

Status = Literal["selected", "feasible", "infeasible", "rejected_policy", "rejected_dominated"]
Mode = Literal["local", "independent_tasks", "coordinated_training"]
Offload = Literal["none", "optimizer_cpu"]


class _Part(Frozen):
    """One of the many small parts of a report, built by the hundred.

    It is validated like any other model, but without the sentence that `Frozen` makes of an error in what
    a user wrote: only the planner builds a part, and `read` makes that sentence of a stored report.
    """

    if not TYPE_CHECKING:
        __init__ = BaseModel.__init__


class Estimate(_Part):
    """A number that says where it comes from."""

    value: float
    unit: str
    basis: Basis = "static"
    note: str = ""

    @property
    def quantity(self) -> pint.Quantity[Any]:
        """The value with its unit."""
        return Quantity(self.value, self.unit)

    @property
    def words(self) -> str:
        """The value for a reader, with all the digits that it was rounded to."""
        return f"{self.value:,.{1 if self.unit == 'min' else 2}f} {self.unit}"


class MemoryBreakdown(_Part):
    """Peak memory of one GPU by part, and the host memory behind it, in GB of 1e9 bytes to 2 digits."""

    weights_gb: float = 0.0
    gradients_gb: float = 0.0
    optimizer_gb: float = 0.0
    activations_gb: float = 0.0
    transient_gb: float = 0.0
    overhead_gb: float = 0.0
    total_gb: float
    cpu_offload_gb: float = 0.0
    basis: Basis = "static"


class Layout(_Part):
    """How pre-training is spread: GPUs = tensor · pipeline · data.

    `shard` is the number of data-parallel replicas over which training state is divided (1: none), and
    `bubble` the share of a step in which a pipeline stage waits.
    """

    tensor: int
    pipeline: int
    data: int
    shard: int
    micro_batches: int
    bubble: float


class Verdict(_Part):
    """One candidate: its numbers, its status and the reasons for it.

    `deficit_gb` is the memory by which it misses the cap of one GPU; none when memory is not the reason.
    """

    name: str
    family: str
    workers: int
    status: Status
    memory: MemoryBreakdown | None = None
    time: Estimate | None = None
    cost: Estimate | None = None
    scaling_efficiency: float | None = None
    profiling_required: bool = False
    deficit_gb: float | None = None
    headroom_gb: float | None = None
    quantized: bool = False
    offload: Offload = "none"
    activation_checkpointing: bool | None = None
    layout: Layout | None = None
    reasons: tuple[str, ...] = ()


class LibraryRef(Frozen):
    """A library that the plan is built on, and its role."""

    name: str
    role: str


class CheckpointPolicy(Frozen):
    """How often the job saves its state: useful work between two writes."""

    backend: str = "pytorch_dcp"
    interval_seconds: float
    basis: Basis = "static"
    note: str = ""


class StrategyPlan(Frozen):
    """The decision, ready to be carried out."""

    plan_id: str
    planner_version: str
    workload_mode: Mode
    strategy_family: str
    launcher: Literal["local", "torchrun", "leases"]
    workers: int
    gpus_per_worker: int
    colocated: bool
    precision: str | None = None
    quantization: str | None = None
    peft: str | None = None
    micro_batch_per_gpu: int | None = None
    grad_accum: int | None = None
    activation_checkpointing: bool | None = None
    offload: Offload = "none"
    layout: Layout | None = None
    libraries: tuple[LibraryRef, ...] = ()
    checkpoint: CheckpointPolicy | None = None
    goodput: Estimate | None = None
    memory: MemoryBreakdown | None = None
    time: Estimate | None = None
    cost: Estimate | None = None
    scaling_efficiency: float | None = None
    profiling_required: bool = False
    selected_because: tuple[str, ...] = ()


class Relaxation(Frozen):
    """A change of the request and what planning again with it gave."""

    field: str
    change: str
    outcome: Literal["gives a plan", "shrinks the deficit"]
    deficit_gb: float | None = None


class NearestMiss(Frozen):
    """Why nothing survived, and what would change that."""

    text: str
    missing_field: str | None = None
    candidate: str | None = None
    deficit_gb: float | None = None
    rejected_by_policy: int = 0
    relaxations: tuple[Relaxation, ...] = ()


class PlanReport(Frozen):
    """The whole answer. `hint` is there exactly when `selected` is not."""

    planner_version: str
    request_digest: str
    selected: StrategyPlan | None
    candidates: tuple[Verdict, ...]
    warnings: tuple[str, ...] = ()
    hint: NearestMiss | None = None
