"""Candidates for fine-tuning a transformer and for training any other PyTorch model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine.planner.catalog import Gpu, Shape
from engine.planner.communication import (
    all_reduce_seconds,
    compute_seconds,
    efficiency,
    efficiency_by_link,
    link_between,
    sharded_seconds,
)
from engine.planner.judging import Trial
from engine.planner.memory import BYTES, MemoryNeed, finetune_parts, generic_parts, trained_parameters
from engine.planner.protocol import PlanRequest, PytorchTraining, TransformerFinetune
from engine.planner.timecost import gpu_hour_minutes, penalty, token_minutes


def world_sizes(gpus: int) -> list[int]:
    """Return the numbers of GPUs to try: 1, the powers of two below `gpus`, then `gpus`."""
    powers = [1 << exponent for exponent in range(gpus.bit_length()) if 1 << exponent < gpus]
    return [*powers, gpus] if gpus else []


@dataclass(frozen=True, slots=True)
class Strategy:
    """A family on a number of GPUs, on plain or quantized weights."""

    family: str
    world: int
    quantized: bool = False

    @property
    def sharded(self) -> bool:
        """Whether weights, gradients and optimizer state are divided among the GPUs."""
        return self.family in ("fsdp2", "zero3_cpu_offload")

    @property
    def offloaded(self) -> bool:
        """Whether optimizer state lives in host memory."""
        return self.family == "zero3_cpu_offload"


def finetune_trials(
    request: PlanRequest, workload: TransformerFinetune, shape: Shape, gpu: Gpu
) -> Iterator[Trial]:
    """Yield every way to fine-tune, in the order in which they are tried."""
    for strategy in _finetune_strategies(request, workload):
        yield _finetune_trial(request, workload, shape, gpu, strategy)


def generic_trials(request: PlanRequest, workload: PytorchTraining, gpu: Gpu) -> Iterator[Trial]:
    """Yield every way to train a model of unknown shape."""
    for strategy in _families(request.resources.gpus, offload=False):
        yield _generic_trial(request, workload, gpu, strategy)


def _families(gpus: int, *, offload: bool, quantized: bool = False) -> Iterator[Strategy]:
    for world in world_sizes(gpus):
        if world == 1:
            yield Strategy("single_gpu", 1, quantized)
            continue
        yield Strategy("ddp", world, quantized)
        if not quantized:  # sharding 4-bit weights with FSDP2 is not done
            yield Strategy("fsdp2", world)
        if offload:
            yield Strategy("zero3_cpu_offload", world, quantized)


def _finetune_strategies(request: PlanRequest, workload: TransformerFinetune) -> Iterator[Strategy]:
    gpus, objective = request.resources.gpus, request.objective
    offload = objective.allow_cpu_offload
    yield from _families(gpus, offload=offload, quantized=workload.method == "qlora")
    if workload.method == "lora" and objective.allow_quantization:
        yield from _families(gpus, offload=offload, quantized=True)


def _finetune_trial(
    request: PlanRequest, workload: TransformerFinetune, shape: Shape, gpu: Gpu, strategy: Strategy
) -> Trial:
    name = strategy.family
    if strategy.quantized and workload.method == "lora":
        name = f"qlora_{name}"
    checkpointing, memory = _with_or_without_checkpointing(workload, shape, gpu, strategy)
    if checkpointing and workload.activation_checkpointing is None:
        name += "+ackpt"
    factor = penalty(checkpointing=checkpointing, quantized=strategy.quantized, offloaded=strategy.offloaded)

    def minutes(share: float) -> float | None:
        if workload.train_tokens_m is None or gpu.peak_flops is None:
            return None
        tokens = workload.train_tokens_m * 1e6
        return token_minutes(tokens, shape.parameters, gpu.peak_flops, strategy.world, share, factor)

    return Trial(
        name=name,
        family=strategy.family,
        world=strategy.world,
        memory=memory,
        efficiency=lambda: _finetune_efficiency(request, workload, shape, gpu, strategy),
        minutes=minutes,
        quantized=strategy.quantized,
        offloaded=strategy.offloaded,
        checkpointing=checkpointing,
    )


def _with_or_without_checkpointing(
    workload: TransformerFinetune, shape: Shape, gpu: Gpu, strategy: Strategy
) -> tuple[bool, MemoryNeed]:
    def need(checkpointing: bool) -> MemoryNeed:
        parts = finetune_parts(
            shape,
            workload,
            strategy.world,
            sharded=strategy.sharded,
            offloaded=strategy.offloaded,
            quantized=strategy.quantized,
            checkpointing=checkpointing,
        )
        return MemoryNeed(parts, gpu)

    if workload.activation_checkpointing is not None:
        return workload.activation_checkpointing, need(workload.activation_checkpointing)
    without = need(False)
    if not without.fits and (lean := need(True)).fits:
        return True, lean
    return False, without


def _finetune_efficiency(
    request: PlanRequest, workload: TransformerFinetune, shape: Shape, gpu: Gpu, strategy: Strategy
) -> float:
    over = link_between(strategy.world, request.resources)
    if gpu.peak_flops is None:
        return efficiency_by_link(over)
    tokens = float(workload.seq_len) * workload.micro_batch_per_gpu
    compute = compute_seconds(tokens, shape.parameters, gpu.peak_flops)
    element = BYTES[workload.precision]
    if strategy.sharded:
        size = shape.parameters * element
        return efficiency(compute, sharded_seconds(size, strategy.world, shape.layers, over))
    size = trained_parameters(shape, workload) * element
    # gradients are reduced once, after all accumulated micro-batches
    return efficiency(compute * workload.grad_accum, all_reduce_seconds(size, strategy.world, over))


def _generic_trial(request: PlanRequest, workload: PytorchTraining, gpu: Gpu, strategy: Strategy) -> Trial:
    def minutes(share: float) -> float | None:
        hours = workload.est_train_gpu_hours
        return None if hours is None else gpu_hour_minutes(hours, strategy.world, share)

    return Trial(
        name=strategy.family,
        family=strategy.family,
        world=strategy.world,
        memory=MemoryNeed(generic_parts(workload, strategy.world, sharded=strategy.sharded), gpu),
        efficiency=lambda: efficiency_by_link(link_between(strategy.world, request.resources)),
        minutes=minutes,
        rename_when_fitting=f"{strategy.family}_x{strategy.world}" if strategy.world > 1 else None,
    )
