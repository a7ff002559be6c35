"""What of a request and its plan determines the numbers of a profile, and what stands in for it here."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

from engine.planner.catalog import gpu, model_shape
from engine.planner.protocol import PlanRequest, TransformerFinetune, TransformerPretrain
from engine.planner.report import StrategyPlan
from engine.profiling.result import ProfileError

LARGEST_LAYERS = 2
LARGEST_HIDDEN = 256
LARGEST_SEQUENCE = 128
LARGEST_BATCH = 4
VOCABULARY = 256
PERCEPTRON_LAYERS = 4
PERCEPTRON_BATCH = 32
LARGEST_PERCEPTRON = 2_000_000
WARMUP_STEPS = 3
MEASURED_STEPS = 20

# They say how much is trained or how the plan runs it, not which model it is.
_NOT_THE_MODEL = {
    "activation_checkpointing",
    "activation_gb_per_gpu",
    "est_train_gpu_hours",
    "global_batch",
    "grad_accum",
    "micro_batch_per_gpu",
    "seq_len",
    "train_tokens_m",
}
_KNOBS = {
    "workers",
    "gpus_per_worker",
    "precision",
    "quantization",
    "peft",
    "grad_accum",
    "activation_checkpointing",
    "offload",
    "layout",
}


@dataclass(frozen=True)
class Task:
    """What the measuring process is told to train.

    Parameters
    ----------
    backend: the library that computes.
    network: which of the two small networks.
    layers, hidden: its shape; `batch` samples, for a transformer of `seq_len` tokens each.
    warmup, steps: how many steps to run before and while measuring.
    """

    backend: Literal["numpy", "torch"]
    network: Literal["transformer", "perceptron"]
    layers: int
    hidden: int
    batch: int
    seq_len: int = 1
    warmup: int = WARMUP_STEPS
    steps: int = MEASURED_STEPS

    def text(self) -> str:
        """Return the task as JSON."""
        return json.dumps(asdict(self))


def stand_in(request: PlanRequest, plan: StrategyPlan, backend: Literal["numpy", "torch"]) -> Task:
    """Return the small training job that this machine can run in the place of `plan`.

    Layers, width, sequence and batch are the plan's own as far as they are below the limits above.

    Raises
    ------
    ProfileError: for a workload without a training step.
    """
    workload = request.workload
    if isinstance(workload, TransformerFinetune | TransformerPretrain):
        shape = model_shape(workload)
        hidden = min(shape.hidden if shape else LARGEST_HIDDEN, LARGEST_HIDDEN)
        return Task(
            backend=backend,
            network="transformer",
            layers=min(shape.layers if shape else LARGEST_LAYERS, LARGEST_LAYERS),
            hidden=hidden,
            batch=min(_batch(request, plan) or 1, LARGEST_BATCH),
            seq_len=min(workload.seq_len, LARGEST_SEQUENCE),
        )
    if workload.kind == "pytorch_training":
        parameters = min(workload.parameters_m * 1e6, LARGEST_PERCEPTRON)
        hidden = max(1, round((parameters / PERCEPTRON_LAYERS) ** 0.5))
        return Task(backend, "perceptron", PERCEPTRON_LAYERS, hidden, PERCEPTRON_BATCH)
    raise ProfileError(f"A {workload.kind} workload has no training step, so there is nothing to measure.")


def cache_key(request: PlanRequest, plan: StrategyPlan, frameworks: dict[str, str]) -> str:
    """Return the name under which a profile of this request and plan is kept.

    It covers what determines the numbers and nothing else: the digest of the model, the strategy family and
    its knobs, the GPU class, the versions of the frameworks, and the sequence and batch buckets.
    """
    device = gpu(request.resources)
    parts = {
        "model": model_digest(request),
        "family": plan.strategy_family,
        "knobs": plan.model_dump(mode="json", include=_KNOBS),
        "gpu": [(request.resources.gpu_type or "").lower(), device.vram_gb if device else None],
        "frameworks": frameworks,
        "sequence": bucket(getattr(request.workload, "seq_len", None)),
        "batch": bucket(_batch(request, plan)),
    }
    return "pf_" + _digest(parts)[:32]


def model_digest(request: PlanRequest) -> str:
    """Return 16 hex digits that name the model and how it is trained, whatever the data and the fleet."""
    workload = request.workload
    shape = None
    if isinstance(workload, TransformerFinetune | TransformerPretrain):
        found = model_shape(workload)
        shape = found and [found.parameters, found.hidden, found.layers]
    stated = workload.model_dump(mode="json", exclude=_NOT_THE_MODEL)
    return _digest({"stated": stated, "shape": shape})[:16]


def bucket(count: int | None) -> int | None:
    """Return the next power of two at or above `count`, None for none."""
    return None if count is None else 1 << max(0, count - 1).bit_length()


def asked_parameters(request: PlanRequest) -> float | None:
    """Return how many parameters the workload's model has, if that is known."""
    workload = request.workload
    if isinstance(workload, TransformerFinetune | TransformerPretrain):
        shape = model_shape(workload)
        return shape.parameters if shape else None
    return workload.parameters_m * 1e6 if workload.kind == "pytorch_training" else None


def _batch(request: PlanRequest, plan: StrategyPlan) -> int | None:
    return plan.micro_batch_per_gpu or getattr(request.workload, "micro_batch_per_gpu", None)


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
