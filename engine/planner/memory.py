"""Memory of one GPU in training, part by part, before anything is rounded.

GB are 1e9 bytes. A part that is sharded is divided by the number of GPUs; optimizer state that is
offloaded is host memory instead. The bytes per element are in `facts/planner.toml`.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

from engine.planner.catalog import Gpu, Shape, assumed
from engine.planner.protocol import PytorchTraining, TransformerFinetune
from engine.planner.report import MemoryBreakdown

BYTES = {"bf16": 2, "fp16": 2, "fp32": 4}
"""Bytes of a weight or a gradient."""
OPTIMIZER_BYTES = {"adamw": 12, "adamw_8bit": 6, "sgd_momentum": 8}
"""Bytes of optimizer state per trained parameter, the 4 of its master copy among them."""


class Parts(NamedTuple):
    """Memory of one GPU in GB; `offloaded` is on the host and not in the total."""

    weights: float
    gradients: float
    optimizer: float
    activations: float
    transient: float
    overhead: float
    offloaded: float = 0.0


class MemoryNeed:
    """What one GPU must hold against what it has; everything that is said of it is worked out once."""

    def __init__(self, parts: Parts, gpu: Gpu) -> None:
        self.parts, self._gpu = parts, gpu
        self.total = round(math.fsum(parts[:6]), 2)  # `sum` differs from Python 3.12 on
        self.cap = assumed().vram_cap * gpu.vram_gb
        self.fits = self.total <= self.cap
        self.headroom = round(gpu.vram_gb - self.total, 2)  # negative when the GPU is too small

    @property
    def deficit(self) -> float:
        """GB by which the need misses the hard cap."""
        return round(self.total - self.cap, 2)

    @cached_property
    def breakdown(self) -> MemoryBreakdown:
        """The parts to 2 digits beside the total of the unrounded ones, which is what is judged."""
        parts = self.parts
        weights = round(parts.weights, 2)
        return MemoryBreakdown(
            weights_gb=weights,
            # often the same number, and rounding is what takes the time
            gradients_gb=weights if parts.gradients == parts.weights else round(parts.gradients, 2),
            optimizer_gb=round(parts.optimizer, 2),
            activations_gb=round(parts.activations, 2),
            transient_gb=round(parts.transient, 2),
            overhead_gb=round(parts.overhead, 2),
            total_gb=self.total,
            cpu_offload_gb=round(parts.offloaded, 2),
        )

    @cached_property
    def words(self) -> str:
        """The need for a reader, and why it is refused if it does not fit."""
        if self.fits:
            return f"needs {self.total:.2f} GB of the {self._gpu.vram_gb:g} GB of a GPU"
        share = assumed().vram_cap
        return f"needs {self.total:.2f} GB, more than {self.cap:.2f} GB ({share:.0%} of a GPU)"


def trained_parameters(shape: Shape, workload: TransformerFinetune) -> float:
    """Return the parameters that training changes: all of them, or 8·hidden·rank·layers for adapters."""
    if workload.method == "full":
        return shape.parameters
    return 8.0 * shape.hidden * workload.lora_rank * shape.layers


def activation_gb(
    layers: float, hidden: int, seq_len: int, micro_batch: int, *, checkpointing: bool, live_layers: float = 1
) -> float:
    """Return the activations of `layers` layers: seq·micro·hidden·18 bytes each.

    With activation checkpointing each keeps 2 bytes an element, and `live_layers` is recomputed at a time.
    """
    elements = float(seq_len) * micro_batch * hidden
    given = assumed()
    if checkpointing:
        kept = layers * elements * given.checkpointed_bytes + live_layers * elements * given.activation_bytes
    else:
        kept = layers * elements * given.activation_bytes
    return kept / 1e9


def finetune_parts(
    shape: Shape,
    workload: TransformerFinetune,
    world: int,
    *,
    sharded: bool,
    offloaded: bool,
    quantized: bool,
    checkpointing: bool,
) -> Parts:
    """Return the memory of one GPU that fine-tunes a transformer among `world`.

    weights P·b (adapters: P·b or P·0.55 quantized, plus T·b), gradients T·b, optimizer T·k, each divided
    by `world` when sharded; transient 2·(P/layers)·b when weights are sharded; 2.5 GB flat.
    """
    element = BYTES[workload.precision]
    trained = trained_parameters(shape, workload)
    ways = world if sharded else 1
    weights = shape.parameters * element
    if workload.method != "full":
        frozen = assumed().quantized_bytes if quantized else element
        weights = shape.parameters * frozen + trained * element
    optimizer = trained * OPTIMIZER_BYTES[workload.optimizer] / ways / 1e9
    return Parts(
        weights=weights / ways / 1e9,
        gradients=trained * element / ways / 1e9,
        optimizer=0.0 if offloaded else optimizer,
        activations=activation_gb(
            shape.layers,
            shape.hidden,
            workload.seq_len,
            workload.micro_batch_per_gpu,
            checkpointing=checkpointing,
        ),
        transient=2 * (shape.parameters / shape.layers) * element / 1e9 if sharded else 0.0,
        overhead=assumed().framework_gb,
        offloaded=optimizer if offloaded else 0.0,
    )


def generic_parts(workload: PytorchTraining, world: int, *, sharded: bool) -> Parts:
    """Return the memory of one GPU that trains a model of unknown shape: no transient is known."""
    element = BYTES[workload.precision]
    parameters = workload.parameters_m * 1e6
    trained = parameters * workload.trainable_fraction
    ways = world if sharded else 1
    return Parts(
        weights=parameters * element / ways / 1e9,
        gradients=trained * element / ways / 1e9,
        optimizer=trained * OPTIMIZER_BYTES[workload.optimizer] / ways / 1e9,
        activations=workload.activation_gb_per_gpu or assumed().generic_activation_gb,
        transient=0.0,
        overhead=assumed().framework_gb,
    )
