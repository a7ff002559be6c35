"""Act III of Lab 08: a power spike kills two racks under a training job, and the ring is broken."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, PrivateAttr

from engine.errors import InvalidInput
from engine.facts import fact
from engine.model import Frozen
from engine.reliability.elastic import Name, StallBudget
from engine.reliability.fields import Count, CountOrZero, Parameters
from engine.reliability.layout import Layout
from engine.scenarios.rescale_outcome import ElasticRescaleOutcome
from engine.units import Bandwidth, Fraction, PositiveTime, Price, Quantity, Time


def _of(name: str) -> Any:
    return Field(default_factory=lambda: fact(name).quantity)


def _count(name: str) -> Any:
    return Field(default_factory=lambda: int(fact(name).value))


class ElasticRescaleScenario(Frozen):
    """The question of Act III: what each response to ten dead nodes costs in this layout.

    Parameters
    ----------
    response: `wait` for the repair, use hot `spares`, or rescale the job, `elastic`.
    layout: tensor x pipeline x data, such as `8x10x10`; their product is the GPUs of the job.
    order: whether neighbouring nodes belong to one `replica` or hold one `stage` of many.
    first_dead_node, dead_nodes: the nodes that die, neighbours in fabric order.
    batch: `shrink` the global batch with the replicas, or `keep` it.
    repack: regroup all healthy GPUs into whole replicas.
    spare_nodes: idle nodes beside the job that stand in under `spares`.
    checkpoint_interval, since_write: τ, and when the nodes die after a write was finished; None for τ/2.
    repair, window: how long the repair takes, and the time over which all is counted.
    The other fields are the job, with their defaults from the facts.

    Raises
    ------
    InvalidInput: naming the field; also if the layout is not of the job's size, if no node is left or if the
        window ends before every response is back at full speed.
    """

    response: Name = "wait"
    layout: str = "8x20x5"
    order: Literal["replica", "stage"] = "replica"
    first_dead_node: CountOrZero = _count("rescale.first_dead_node")
    dead_nodes: Count = _count("rescale.dead_nodes")
    nodes: Count = _count("rescale.nodes")
    gpus_per_node: int = Field(default=8, ge=1, le=8)
    batch: Literal["shrink", "keep"] = "shrink"
    global_batch: Count = 2000
    micro_batch: Count = 1
    repack: bool = False
    spare_nodes: CountOrZero = _count("reliability.opt_spares")
    parameters: Parameters = Field(default=70e9)
    checkpoint_interval: PositiveTime = Field(default="15 min")
    since_write: Time | None = None
    detection: Time = _of("reliability.elastic_detection")
    rendezvous: Time = _of("reliability.elastic_rendezvous")
    process_start: Time = _of("reliability.elastic_process_start")
    bandwidth: Bandwidth = _of("reliability.checkpoint_bandwidth")
    checkpoint_format: Literal["any-size", "converted", "same-size"] = "any-size"
    reshard_time: Time = _of("reliability.bloom_reshard")
    repair: PositiveTime = _of("reliability.elastic_repair")
    window: PositiveTime = Field(default="24 h")
    link_bandwidth: Bandwidth = _of("hardware.link_bandwidth")
    link_latency: Time = _of("hardware.link_latency")
    job_mfu: Fraction = _of("fleet.job_mfu")
    price: Price = _of("money.h100_price")
    _job: Layout = PrivateAttr()
    _stalls: StallBudget = PrivateAttr()

    def model_post_init(self, _: Any) -> None:
        """Read the layout; refuse one of another size, and dead nodes that the job does not have."""
        self._job = Layout.read_text(self.layout, gpus_per_node=self.gpus_per_node, order=self.order)
        self._stalls = self._stall_budget()
        if self.job.nodes != self.nodes:
            gpus = self.nodes * self.gpus_per_node
            raise InvalidInput("layout", self.layout, f"degrees whose product is the {gpus} GPUs of the job")
        if self.first_dead_node + self.dead_nodes > self.nodes:
            raise InvalidInput("first_dead_node", self.first_dead_node, f"dead nodes below {self.nodes}")
        if self.dead_nodes == self.nodes:
            raise InvalidInput("dead_nodes", self.dead_nodes, "fewer than all nodes of the job")

    @property
    def job(self) -> Layout:
        """The layout as such."""
        return self._job

    @property
    def stalls(self) -> StallBudget:
        """What re-forming the job takes."""
        return self._stalls

    def _stall_budget(self) -> StallBudget:
        per_parameter = fact("reliability.lab_bytes_per_parameter").quantity
        return StallBudget(
            detection=self.detection,
            rendezvous=self.rendezvous,
            process_start=self.process_start,
            checkpoint=self.parameters * per_parameter,
            bandwidth=self.bandwidth,
            checkpoint_format=self.checkpoint_format,
            reshard_time=self.reshard_time,
        )

    @property
    def gradient(self) -> Any:
        """Bytes that each rank brings to its ring: the gradients by the GPUs of a replica."""
        size = self.parameters * fact("hardware.gradient_bytes_per_parameter").quantity
        return Quantity(size.m_as("B") / self.job.replica_gpus, "B")

    def outcome(self) -> ElasticRescaleOutcome:
        """Return the damage, the ring before and after, and the three responses on one timeline."""
        from engine.scenarios.rescale_run import rescale_outcome

        return rescale_outcome(self)
