"""What the planner is asked: a workload, the resources for it, and what matters."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Literal

from pydantic import Field

from engine.model import Frozen
from engine.planner.fields import (
    Batch,
    Depth,
    Dollars,
    Gigabytes,
    GigabytesOrNone,
    HourlyPrice,
    Hours,
    Megabytes,
    Minutes,
    Parameters,
    SequenceLength,
    Share,
    Tokens,
    Width,
    between,
)
from engine.units import PositiveTime, Time

PLANNER_VERSION = "1"
"""Changes whenever the same request may get another answer."""

Precision = Literal["bf16", "fp16", "fp32"]
Optimizer = Literal["adamw", "adamw_8bit", "sgd_momentum"]
Basis = Literal["static", "profiled", "ledger"]
LinkName = Literal[
    "same_host_nvlink", "same_host_pcie", "multi_node_ib", "multi_node_100g", "multi_node_10g", "wan"
]
Name = Annotated[str, Field(min_length=1, max_length=200)]


class TransformerFinetune(Frozen):
    """Fine-tuning a language model: all of it, low-rank adapters, or adapters on quantized weights.

    `parameters_b`, `hidden_size` and `num_layers` win over the catalog. Without `train_tokens_m` there
    is no time and no cost. `activation_checkpointing` unset leaves the choice to the planner.
    """

    kind: Literal["transformer_finetune"] = "transformer_finetune"
    model: Name
    parameters_b: Parameters | None = None
    method: Literal["full", "lora", "qlora"] = "lora"
    lora_rank: Annotated[int, between(1, 10**5)] = 16
    precision: Precision = "bf16"
    optimizer: Optimizer = "adamw"
    seq_len: SequenceLength = 2048
    micro_batch_per_gpu: Batch = 1
    grad_accum: Batch = 8
    activation_checkpointing: bool | None = None
    hidden_size: Width | None = None
    num_layers: Depth | None = None
    train_tokens_m: Tokens | None = None


class TransformerPretrain(Frozen):
    """Pre-training a language model with tensor, pipeline and data parallelism and AdamW.

    `global_batch` is the number of sequences in one step. Without `train_tokens_m` there is no time.
    """

    kind: Literal["transformer_pretrain"] = "transformer_pretrain"
    model: Name = "custom"
    parameters_b: Parameters | None = None
    precision: Literal["bf16", "fp16"] = "bf16"
    seq_len: SequenceLength = 4096
    global_batch: Annotated[int, between(1, 10**7)] = 1024
    micro_batch_per_gpu: Batch = 1
    activation_checkpointing: bool | None = None
    hidden_size: Width | None = None
    num_layers: Depth | None = None
    train_tokens_m: Tokens | None = None


class PytorchTraining(Frozen):
    """Training any other PyTorch model, whose shape the planner cannot know.

    Activations and the hours on one GPU are the user's to state.
    """

    kind: Literal["pytorch_training"] = "pytorch_training"
    model: Name = "custom"
    parameters_m: Parameters
    trainable_fraction: Share = 1.0
    precision: Precision = "fp32"
    optimizer: Optimizer = "adamw"
    activation_gb_per_gpu: Gigabytes | None = None
    est_train_gpu_hours: Hours | None = None


class ClassicalTraining(Frozen):
    """Classical machine learning on a data set that is held in memory."""

    kind: Literal["classical_ml"] = "classical_ml"
    library: Literal["sklearn", "xgboost"] = "sklearn"
    algorithm: Name = "unspecified"
    dataset_mb: Megabytes
    supports_partial_fit: bool = False


class IndependentTasks(Frozen):
    """Tasks that do not talk to each other: a search, cross-validation, batch inference, evaluation."""

    kind: Literal["independent_tasks"] = "independent_tasks"
    task_kind: Literal["hyperparameter_search", "batch_inference", "evaluation", "preprocessing", "other"] = (
        "hyperparameter_search"
    )
    task_count: Annotated[int, between(1, 10**9)]
    est_minutes_per_task: Minutes = 10.0
    needs_gpu: bool = False
    vram_gb_per_task: GigabytesOrNone = 0.0


Workload = Annotated[
    TransformerFinetune | TransformerPretrain | PytorchTraining | ClassicalTraining | IndependentTasks,
    Field(discriminator="kind"),
]


class Resources(Frozen):
    """What the plan may use: GPUs over hosts, the links between them, and each host's memory and cores.

    `interconnect` is the link between the GPUs. Where it joins hosts, the link inside a host is PCIe unless
    `host_interconnect` says otherwise.
    """

    gpus: Annotated[int, between(0, 10**6)] = 0
    gpu_type: Name | None = None
    vram_gb: Gigabytes | None = None
    hosts: Annotated[int, between(1, 10**6)] = 1
    interconnect: LinkName = "same_host_pcie"
    host_interconnect: Literal["same_host_nvlink", "same_host_pcie"] | None = None
    cpu_ram_gb: Gigabytes = 32.0
    cpu_cores: Annotated[int, between(1, 10**5)] = 8
    hourly_cost_usd_per_gpu: HourlyPrice | None = None

    @property
    def gpus_per_host(self) -> int:
        """GPUs that share a host's own link; the rest is reached over the declared one."""
        return max(1, self.gpus // self.hosts)


class Objective(Frozen):
    """What a plan must keep to, and which of the plans that do is wanted."""

    mode: Literal["cheapest", "fastest", "balanced", "reliable"] = "balanced"
    max_cost_usd: Dollars | None = None
    deadline_minutes: Minutes | None = None
    allow_quantization: bool = True
    allow_cpu_offload: bool = True
    allow_nvme_offload: bool = False


class PlanRequest(Frozen):
    """One question to the planner."""

    workload: Workload
    resources: Resources = Resources()
    objective: Objective = Objective()


class Measured(Frozen):
    """What was measured of the job and its fleet, in place of the planner's static defaults.

    Parameters
    ----------
    checkpoint_write: time to write one checkpoint, during which no work is done.
    gpu_mttf: mean time to failure of one GPU with its share of the host; n GPUs fail n times as often.
    restart: time from a failure until the job works again.
    basis: `profiled` when measured on this job, `ledger` when taken from past runs.
    """

    checkpoint_write: PositiveTime | None = None
    gpu_mttf: PositiveTime | None = None
    restart: Time = "0 s"
    basis: Literal["profiled", "ledger"] = "profiled"


def request_digest(request: PlanRequest, measured: Measured | None = None) -> str:
    """Return the name of a decision: the first 16 hex digits of a SHA-256.

    It covers the request as canonical JSON (defaults filled in, keys sorted, no spaces), what was
    measured if anything was, and the planner's version.
    """
    asked = request.model_dump(mode="json")
    if measured is not None:
        asked["measured"] = measured.model_dump(mode="json")
    canonical = json.dumps(asked, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256((canonical + PLANNER_VERSION).encode()).hexdigest()[:16]
