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
from functools import cache
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
from engine.planner.judging import Trial, fits, judge
from engine.planner.memory import BYTES, Parts, activation_gb
from engine.planner.protocol import PlanRequest, Resources, TransformerPretrain
from engine.planner.report import Layout, Verdict
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


def pretrain_verdicts(
    request: PlanRequest, workload: TransformerPretrain, shape: Shape, gpu: Gpu
) -> list[Verdict]:
    """Return one verdict per layout that divides GPUs, layers and batch without a remainder.

    Per layout the first that fits is taken of: plain, state sharded, activation checkpointing, both; when
    none fits, the leanest is reported. A stated `activation_checkpointing` is obeyed.
    """
    gpus = min(request.resources.gpus, int(assumed().largest_pretraining_fleet))
    sizes = _Sizes(workload, shape, gpu)
    return [
        judge(_trial(request, workload, shape, gpu, sizes.leanest_needed(split)), gpu, request)
        for world in world_sizes(gpus)
        for split in _splits(world, workload, shape, request.resources)
    ]


def _splits(world: int, workload: TransformerPretrain, shape: Shape, resources: Resources) -> Iterator[Split]:
    for tensor in _tensor_groups(world, resources.gpus_per_host):
        for pipeline in _divisors(shape.layers):
            data, rest = divmod(world, tensor * pipeline)
            if rest or not data:
                continue
            micro_batches, rest = divmod(workload.global_batch, data * workload.micro_batch_per_gpu)
            if micro_batches and not rest:
                yield Split(tensor, pipeline, data, micro_batches)


@cache
def _divisors(layers: int) -> list[int]:
    return [size for size in range(1, layers + 1) if layers % size == 0]


def _tensor_groups(world: int, host: int) -> list[int]:
    largest = min(world, host, int(assumed().largest_tensor_group))
    sizes = [1 << exponent for exponent in range(largest.bit_length())]
    return [size for size in sizes if world % size == 0 and (world <= host or host % size == 0)]


def layout_parts(workload: TransformerPretrain, shape: Shape, split: Split) -> Parts:
    """Return the memory of one GPU of the first stage, which holds min(m, p) micro-batches at once.

    Of the 16 bytes of state per parameter 2 are weights, 2 gradients and 12 optimizer. Sharded state needs
    two gathered layers, 2·(P/layers)·2/t bytes, as a transient.
    """
    element = BYTES[workload.precision]
    held = shape.parameters / (split.tensor * split.pipeline) / 1e9
    optimizer = assumed().pretrain_state_bytes - 2 * element
    return Parts(
        weights=held * element / split.shard,
        gradients=held * element / split.shard,
        optimizer=held * optimizer / split.shard,
        activations=_activations(workload, shape, split),
        transient=2 * shape.parameters / shape.layers * element / split.tensor / 1e9
        if split.sharded
        else 0.0,
        overhead=assumed().framework_gb,
    )


def _activations(workload: TransformerPretrain, shape: Shape, split: Split) -> float:
    in_flight = min(split.micro_batches, split.pipeline)
    whole = activation_gb(
        shape.layers / split.pipeline * in_flight,
        shape.hidden,
        workload.seq_len,
        workload.micro_batch_per_gpu,
        checkpointing=split.checkpointing,
    )
    return whole / split.tensor


def layout_efficiency(
    resources: Resources, workload: TransformerPretrain, shape: Shape, gpu: Gpu, split: Split
) -> float:
    """Return m·c / step, the share of a step that computes, to 2 digits.

    With sharded state the weights of a stage are gathered for every micro-batch; else gradients are
    reduced once a step. Up to half of the computation hides either, as in fine-tuning. A GPU of unknown
    speed leaves the bubble and whether the link is usable at all.
    """
    across = link_between(split.world, resources)
    if gpu.peak_flops is None:
        return round((1 - split.bubble) * efficiency_by_link(across), 2)
    tokens = float(workload.seq_len) * workload.micro_batch_per_gpu
    held = shape.parameters / (split.tensor * split.pipeline)
    compute = compute_seconds(tokens, held, gpu.peak_flops)
    element = BYTES[workload.precision]
    boundary = tokens * shape.hidden * element
    visible = _tensor_seconds(resources, boundary, shape.layers, split) + _stage_seconds(
        across, boundary, split
    )
    m, slots = split.micro_batches, split.micro_batches + split.pipeline - 1
    size, layers = held * element, shape.layers / split.pipeline
    hidden = assumed().overlapped_share * m * compute
    exchange = 0.0
    if split.sharded:
        exchange = m * sharded_seconds(size, split.data, layers, across)
    elif split.data > 1:
        exchange = all_reduce_seconds(size, split.data, across)
    step = slots * (compute + visible) + max(0.0, exchange - hidden)
    return round(m * compute / step, 2)


def _tensor_seconds(resources: Resources, boundary: float, layers: int, split: Split) -> float:
    if split.tensor == 1:
        return 0.0
    given = assumed()
    times = given.recomputed_all_reduces if split.checkpointing else given.layer_all_reduces
    one = all_reduce_seconds(boundary, split.tensor, host_link(resources))
    return times * layers / split.pipeline * one


def _stage_seconds(across: Link, boundary: float, split: Split) -> float:
    if split.pipeline == 1:
        return 0.0
    # activations forward and their gradients back; each GPU of the tensor group sends its part
    return 2 * (boundary / split.tensor / across.bandwidth + across.latency)


class _Sizes:
    """The memory of one request's layouts; those that hold the same on a GPU are sized once."""

    def __init__(self, workload: TransformerPretrain, shape: Shape, gpu: Gpu) -> None:
        self._workload, self._shape, self._gpu = workload, shape, gpu
        self._known: dict[tuple[int, ...], tuple[Parts, bool]] = {}
        stated = workload.activation_checkpointing
        self._checkpointing = (False, True) if stated is None else (stated,)

    def leanest_needed(self, plain: Split) -> tuple[Split, Parts]:
        """Return the first variant of a layout that fits, else the leanest."""
        tensor, pipeline, data, micro_batches, *_ = plain
        in_flight = min(micro_batches, pipeline)
        for checkpointing in self._checkpointing:
            for sharded in (False, True) if data > 1 else (False,):
                # replicas matter only when they share the state
                key = (tensor, pipeline, data if sharded else 0, in_flight, checkpointing)
                sized = self._known.get(key)
                if sized is None:
                    sized = self._known[key] = self._size(Split(*plain[:4], sharded, checkpointing))
                parts, fitting = sized
                if fitting:
                    return Split(*plain[:4], sharded, checkpointing), parts
        return Split(*plain[:4], sharded, checkpointing), parts

    def _size(self, split: Split) -> tuple[Parts, bool]:
        parts = layout_parts(self._workload, self._shape, split)
        return parts, fits(parts, self._gpu)


def _trial(
    request: PlanRequest,
    workload: TransformerPretrain,
    shape: Shape,
    gpu: Gpu,
    sized: tuple[Split, Parts],
) -> Trial:
    split, parts = sized

    def minutes(share: float) -> float | None:
        if workload.train_tokens_m is None or gpu.peak_flops is None:
            return None
        tokens = workload.train_tokens_m * 1e6
        factor = penalty(checkpointing=split.checkpointing, quantized=False, offloaded=False)
        return token_minutes(tokens, shape.parameters, gpu.peak_flops, split.world, share, factor)

    return Trial(
        name=split.name,
        family="tensor_pipeline_data",
        world=split.world,
        parts=parts,
        efficiency=lambda: layout_efficiency(request.resources, workload, shape, gpu, split),
        minutes=minutes,
        checkpointing=split.checkpointing,
        layout=Layout(
            tensor=split.tensor,
            pipeline=split.pipeline,
            data=split.data,
            shard=split.shard,
            micro_batches=split.micro_batches,
            bubble=round(split.bubble, 4),
        ),
    )
