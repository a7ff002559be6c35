"""Models, GPUs and links by name, and the planner's assumptions."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from engine.facts import fact
from engine.paths import shipped
from engine.planner.protocol import Resources, TransformerFinetune, TransformerPretrain

_ENDINGS = ("-instruct", "-chat", "-base", "-hf")


@dataclass(frozen=True, slots=True)
class Assumptions:
    """The constants of `facts/planner.toml` under their names there."""

    quantized_bytes: float
    activation_bytes: float
    checkpointed_bytes: float
    framework_gb: float
    generic_activation_gb: float
    vram_cap: float
    profile_above: float
    host_ram_cap: float
    flops_utilisation: float
    efficiency_floor: float
    efficiency_warning: float
    smallest_efficiency: float
    overlapped_share: float
    checkpointing_penalty: float
    quantized_penalty: float
    offload_penalty: float
    generic_layers: float
    classical_copies: float
    shard_mb: float
    cores_per_task: float
    checkpoint_interval: float
    pretrain_state_bytes: float
    largest_tensor_group: float
    largest_pretraining_fleet: float
    layer_all_reduces: float
    recomputed_all_reduces: float


@dataclass(frozen=True, slots=True)
class Shape:
    """A transformer as the estimates see it; `source` says where its numbers are from."""

    parameters: float
    hidden: int
    layers: int
    source: str


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU: memory in GB, and the dense peak in FLOP/s if it is known."""

    vram_gb: float
    peak_flops: float | None
    source: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link between GPUs: effective bytes a second, and seconds per message."""

    name: str
    bandwidth: float
    latency: float


@cache
def assumed() -> Assumptions:
    """Return the planner's assumptions."""
    return Assumptions(**{field.name: fact(f"planner.{field.name}").value for field in fields(Assumptions)})


@cache
def catalog() -> dict[str, Any]:
    """Return the catalog file: models, shapes by size, GPUs and links, each with its source and mark."""
    return tomllib.loads(shipped("engine", "planner", "catalog.toml").read_text(encoding="utf-8"))


def model_shape(workload: TransformerFinetune | TransformerPretrain) -> Shape | None:
    """Return the shape of the workload's model, or none when its parameters are unknown.

    What the workload states wins over the catalog; what neither states is taken from a typical model of
    the same size.
    """
    known = catalog()["models"]["entries"].get(_plain(workload.model))
    if known is None and workload.parameters_b is None:
        return None
    billions = workload.parameters_b or known["parameters_b"]
    like = known or next(row for row in catalog()["shapes"]["entries"] if billions <= row["up_to_b"])
    return Shape(
        parameters=billions * 1e9,
        hidden=workload.hidden_size or like["hidden"],
        layers=workload.num_layers or like["layers"],
        source="catalog" if known else "typical shape for its size",
    )


def gpu(resources: Resources) -> Gpu | None:
    """Return the GPU of the resources, or none when its memory is unknown."""
    known = catalog()["gpus"]["entries"].get(_plain(resources.gpu_type or ""))
    if resources.vram_gb is None and known is None:
        return None
    return Gpu(
        vram_gb=resources.vram_gb or float(known["vram_gb"]),
        peak_flops=known["peak_tflops"] * 1e12 if known else None,
        source="stated" if resources.vram_gb else "catalog",
    )


@cache
def link(name: str) -> Link:
    """Return a link by its name in the protocol."""
    entry = catalog()["links"]["entries"][name]
    return Link(name, entry["gb_per_s"] * 1e9, entry["latency_us"] * 1e-6)


def _plain(name: str) -> str:
    short = name.lower().rsplit("/", 1)[-1]
    while short.endswith(_ENDINGS):
        short = short.rsplit("-", 1)[0]
    return short
