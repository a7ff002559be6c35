"""How a job is laid out over nodes, and what dead nodes take with them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Self

from engine.errors import InvalidInput
from engine.model import Frozen
from engine.reliability.fields import Count
from engine.units import whole


class Damage(Frozen):
    """What is left of a job after nodes died.

    A replica with a dead node stands still, and so do its healthy nodes: capacity is (data − lost)/data.
    `repacked` is how many whole replicas all healthy GPUs could form if they were regrouped.
    """

    dead_nodes: tuple[int, ...]
    hit: tuple[int, ...]
    replicas: int
    lost: int
    left: int
    capacity: float
    idle_nodes: tuple[int, ...]
    repacked: int

    @property
    def idle_healthy_nodes(self) -> int:
        """Healthy nodes all of whose GPUs belong to a replica that was hit."""
        return len(self.idle_nodes)


class Layout(Frozen):
    """Tensor × pipeline × data parallelism over nodes in fabric order.

    In `replica` order neighbouring nodes belong to one replica as far as it reaches; in `stage` order, which
    is Megatron's default, they hold the same pipeline stage of neighbouring replicas. Tensor parallelism is
    innermost in both.

    Parameters
    ----------
    tensor, pipeline, data: the three degrees, at least 1; their product is the GPUs of the job.
    gpus_per_node: at least 1; it must divide the GPUs of the job.
    order: `replica` or `stage`.

    Raises
    ------
    InvalidInput: if the GPUs do not make up whole nodes.
    """

    tensor: Count
    pipeline: Count
    data: Count
    gpus_per_node: Count = 8
    order: Literal["replica", "stage"] = "replica"

    def model_post_init(self, _: object) -> None:
        """Refuse a job that ends in the middle of a node."""
        if self.gpus % self.gpus_per_node:
            accepted = f"degrees whose product is a multiple of the {self.gpus_per_node} GPUs of a node"
            raise InvalidInput("layout", self.text, accepted)

    @classmethod
    def read_text(cls, text: str, **fields: object) -> Self:
        """Read a layout such as `8x10x10`: tensor, pipeline, data.

        Raises
        ------
        InvalidInput: for any other text.
        """
        parts = text.split("x") if isinstance(text, str) else []
        if len(parts) != 3 or not all(part.isascii() and part.isdigit() for part in parts):
            raise InvalidInput("layout", text, "tensor x pipeline x data, such as 8x10x10")
        tensor, pipeline, data = (int(part) for part in parts)
        return cls.read({"tensor": tensor, "pipeline": pipeline, "data": data} | fields)

    @property
    def text(self) -> str:
        """The layout as `8x10x10`."""
        return f"{self.tensor}x{self.pipeline}x{self.data}"

    @property
    def replica_gpus(self) -> int:
        """GPUs of one replica, tensor × pipeline."""
        return self.tensor * self.pipeline

    @property
    def gpus(self) -> int:
        """GPUs of the job."""
        return self.replica_gpus * self.data

    @property
    def nodes(self) -> int:
        """Nodes of the job."""
        return self.gpus // self.gpus_per_node

    def replica(self, gpu: int) -> int:
        """Return the replica that a GPU, numbered node by node, belongs to."""
        if self.order == "replica":
            return gpu // self.replica_gpus
        return gpu // self.tensor % self.data

    def replicas_on(self, node: int) -> set[int]:
        """Return the replicas that have a GPU on a node."""
        first = node * self.gpus_per_node
        return {self.replica(gpu) for gpu in range(first, first + self.gpus_per_node)}

    def damage(self, dead_nodes: Iterable[int]) -> Damage:
        """Return what is left when these nodes die.

        Raises
        ------
        InvalidInput: for a node that the job does not have.
        """
        dead = sorted({whole(node, "dead_nodes", high=self.nodes - 1) for node in dead_nodes})
        hit = set().union(*(self.replicas_on(node) for node in dead)) if dead else set()
        idle = [node for node in range(self.nodes) if self.replicas_on(node) <= hit] if hit else []
        left = self.data - len(hit)
        healthy = (self.nodes - len(dead)) * self.gpus_per_node
        return Damage(
            dead_nodes=tuple(dead),
            hit=tuple(sorted(hit)),
            replicas=self.data,
            lost=len(hit),
            left=left,
            capacity=left / self.data,
            idle_nodes=tuple(sorted(set(idle) - set(dead))),
            repacked=healthy // self.replica_gpus,
        )
