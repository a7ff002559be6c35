"""Pre-training: how tensor, pipeline and data parallelism share up to 16,384 GPUs.

A layout splits n = t·p·d GPUs. A tensor group of t shares every layer and stays inside a host; p pipeline
stages share the layers; d replicas share the batch. With m micro-batches per replica and step,

    state      16 B · P / (t·p·s)              s = d when state is sharded over the replicas, else 1
    bubble     (p − 1) / (m + p − 1)
    step       (m + p − 1) · (c + a + b) + exposed gradient exchange
    efficiency m·c / step

where c computes one micro-batch on one stage, a is its tensor-parallel all-reduces and b the transfer to
the next stage. Sequence parallelism is on, so that activations divide by t. Not modelled: embeddings,
interleaved stages, unequal stages.

Sources: Megatron-LM (arXiv 1909.08053, 2104.04473) for t and the bubble, ZeRO (1910.02054) for state,
Korthikanti et al. (2205.05198) for activations under sequence parallelism.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import NamedTuple

from engine.planner.catalog import Gpu, Link, Shape, assumed
from engine.planner.communication import (
    all_reduce_seconds,
    compute_seconds,
    efficiency_by_link,
    host_link,
    link_between,
    sharded_seconds,
)
from engine.planner.judging import Trial
from engine.planner.memory import BYTES, MemoryNeed, Parts, activation_gb
from engine.planner.protocol import PlanRequest, Resources, TransformerPretrain
from engine.planner.report import Layout
from engine.planner.timecost import penalty, token_minutes
from engine.planner.training import world_sizes


class Split(NamedTuple):
    """One layout and what it does to save memory; `world` is tensor · pipeline · data."""

    tensor: int
    pipeline: int
    data: int
    micro_batches: int
    sharded: bool = False
    checkpointing: bool = False

    @property
    def world(self) -> int:
        """GPUs in all."""
        return self.tensor * self.pipeline * self.data

    @property
    def shard(self) -> int:
        """Replicas over which training state is divided."""
        return self.data if self.sharded else 1

    @property
    def bubble(self) -> float:
        """Share of a step in which a stage waits: (p − 1)/(m + p − 1)."""
        return (self.pipeline - 1) / (self.micro_batches + self.pipeline - 1)

    @property
    def name(self) -> str:
        """The layout as a name, for instance `t8_p4_d16+shard+ackpt`."""
        plain = f"t{self.tensor}_p{self.pipeline}_d{self.data}"
        return plain + ("+shard" if self.sharded else "") + ("+ackpt" if self.checkpointing else "")

    def layout(self) -> Layout:
        """Return the layout as a report states it."""
        tensor, pipeline, data, micro_batches, *_ = self
        return Layout(
            tensor=tensor,
            pipeline=pipeline,
            data=data,
            shard=self.shard,
            micro_batches=micro_batches,
            bubble=round(self.bubble, 4),
        )


def pretrain_trials(
    request: PlanRequest, workload: TransformerPretrain, shape: Shape, gpu: Gpu
) -> Iterator[Trial]:
    """Yield one trial per layout that divides GPUs, layers and batch without a remainder.

    Per layout the first that fits is taken of: plain, state sharded, activation checkpointing, both; when
    none fits, the leanest is reported. A stated `activation_checkpointing` is obeyed.
    """
    gpus = min(request.resources.gpus, int(assumed().largest_pretraining_fleet))
    training = Pretraining(workload, shape, gpu, request.resources)
    for world in world_sizes(gpus):
        for split in _splits(world, workload, shape, request.resources):
            yield _trial(training, *training.leanest_needed(split))


def _splits(world: int, workload: TransformerPretrain, shape: Shape, resources: Resources) -> Iterator[Split]:
    batch, micro = workload.global_batch, workload.micro_batch_per_gpu
    for tensor in _tensor_groups(world, resources.gpus_per_host):
        for pipeline in _divisors(shape.layers):
            data, rest = divmod(world, tensor * pipeline)
            if rest or not data:
                continue
            micro_batches, rest = divmod(batch, data * micro)
            if micro_batches and not rest:
                yield Split(tensor, pipeline, data, micro_batches)


@cache
def _divisors(layers: int) -> list[int]:
    return [size for size in range(1, layers + 1) if layers % size == 0]


def _tensor_groups(world: int, host: int) -> list[int]:
    largest = min(world, host, int(assumed().largest_tensor_group))
    return [
        size for size in _powers_of_two(largest) if world % size == 0 and (world <= host or host % size == 0)
    ]


def _powers_of_two(largest: int) -> list[int]:
    return [1 << exponent for exponent in range(largest.bit_length())]


class Pretraining:
    """What a workload takes in any layout; what layouts have in common is worked out once."""

    def __init__(self, workload: TransformerPretrain, shape: Shape, gpu: Gpu, resources: Resources) -> None:
        self._workload, self._shape, self._gpu, self._resources = workload, shape, gpu, resources
        stated = workload.activation_checkpointing
        self._unsharded = [(False, one) for one in ((False, True) if stated is None else (stated,))]
        self._variants = [(sharded, one) for _, one in self._unsharded for sharded in (False, True)]
        self._needs: dict[tuple[int, ...], MemoryNeed] = {}
        self._element = BYTES[workload.precision]
        self._tokens = float(workload.seq_len) * workload.micro_batch_per_gpu
        self._boundary = self._tokens * shape.hidden * self._element  # bytes from a layer to the next
        self._reduce = {  # seconds of an all-reduce of that within a tensor group
            tensor: all_reduce_seconds(self._boundary, tensor, host_link(resources)) if tensor > 1 else 0.0
            for tensor in _powers_of_two(int(assumed().largest_tensor_group))
        }

    def leanest_needed(self, plain: Split) -> tuple[Split, MemoryNeed]:
        """Return the first variant of a layout that fits, else the leanest, with its memory."""
        tensor, pipeline, data, micro_batches, *_ = plain
        held = self._layers_held(plain)
        for sharded, checkpointing in self._variants if data > 1 else self._unsharded:
            # layouts that agree in all this hold the same
            key = tensor * pipeline * (data if sharded else 1), tensor, held, sharded, checkpointing
            if key not in self._needs:
                split = Split(tensor, pipeline, data, micro_batches, sharded, checkpointing)
                self._needs[key] = MemoryNeed(self.parts(split), self._gpu)
            need = self._needs[key]
            if need.fits:
                break
        return Split(tensor, pipeline, data, micro_batches, sharded, checkpointing), need

    def _layers_held(self, split: Split) -> int:
        """Return the layers of the first stage, counted for each micro-batch in flight."""
        return self._shape.layers // split.pipeline * min(split.micro_batches, split.pipeline)

    def parts(self, split: Split) -> Parts:
        """Return the memory of one GPU of the first stage, which holds min(m, p) micro-batches at once.

        Of the 16 bytes of state per parameter 2 are weights, 2 gradients and 12 optimizer. Sharded state
        needs two gathered layers, 2·(P/layers)·2/t bytes, as a transient.
        """
        workload, shape, element = self._workload, self._shape, self._element
        held = shape.parameters / (split.tensor * split.pipeline * split.shard) / 1e9
        activations = activation_gb(
            self._layers_held(split),
            shape.hidden,
            workload.seq_len,
            workload.micro_batch_per_gpu,
            checkpointing=split.checkpointing,
        )
        gathered = 2 * shape.parameters / shape.layers * element / split.tensor / 1e9
        return Parts(
            weights=held * element,
            gradients=held * element,
            optimizer=held * (assumed().pretrain_state_bytes - 2 * element),
            activations=activations / split.tensor,
            transient=gathered if split.sharded else 0.0,
            overhead=assumed().framework_gb,
        )

    def efficiency(self, split: Split) -> float:
        """Return m·c / step, the share of a step that computes, to 2 digits.

        With sharded state the weights of a stage are gathered for every micro-batch; else gradients are
        reduced once a step. Up to half of the computation hides either, as in fine-tuning. A GPU of unknown
        speed leaves the bubble and whether the link is usable at all.
        """
        across = link_between(split.world, self._resources)
        if self._gpu.peak_flops is None:
            return round((1 - split.bubble) * efficiency_by_link(across), 2)
        tensor, pipeline, data, m, sharded, _ = split
        held, layers = self._shape.parameters / (tensor * pipeline), self._shape.layers / pipeline
        compute = compute_seconds(self._tokens, held, self._gpu.peak_flops)
        exchange = 0.0
        if sharded:
            exchange = m * sharded_seconds(held * self._element, data, layers, across)
        elif data > 1:
            exchange = all_reduce_seconds(held * self._element, data, across)
        exposed = max(0.0, exchange - assumed().overlapped_share * m * compute)
        step = (m + pipeline - 1) * (compute + self._visible(split, across)) + exposed
        return round(m * compute / step, 2)

    def _visible(self, split: Split, across: Link) -> float:
        """Return the seconds per micro-batch of tensor-parallel all-reduces and of handing on, a + b."""
        given, seconds = assumed(), 0.0
        if split.tensor > 1:
            times = given.recomputed_all_reduces if split.checkpointing else given.layer_all_reduces
            seconds = times * self._shape.layers / split.pipeline * self._reduce[split.tensor]
        if split.pipeline > 1:
            # activations forward and their gradients back; each GPU of the tensor group sends its part
            seconds += 2 * (self._boundary / split.tensor / across.bandwidth + across.latency)
        return seconds

    def minutes(self, split: Split, share: float) -> float | None:
        """Return how long training takes at a scaling efficiency; none when speed or length is unknown."""
        millions, peak = self._workload.train_tokens_m, self._gpu.peak_flops
        if millions is None or peak is None:
            return None
        factor = penalty(checkpointing=split.checkpointing, quantized=False, offloaded=False)
        return token_minutes(millions * 1e6, self._shape.parameters, peak, split.world, share, factor)


def _trial(training: Pretraining, split: Split, memory: MemoryNeed) -> Trial:
    return Trial(
        name=split.name,
        family="tensor_pipeline_data",
        world=split.world,
        memory=memory,
        efficiency=partial(training.efficiency, split),
        minutes=partial(training.minutes, split),
        checkpointing=split.checkpointing,
        layout=split.layout,
    )
