"""Time and cost: none when an input is missing, never a guess."""

from __future__ import annotations

from engine.planner.catalog import assumed
from engine.planner.protocol import Resources
from engine.planner.report import Estimate


def token_minutes(
    tokens: float, parameters: float, peak_flops: float, world: int, efficiency: float, penalty: float
) -> float:
    """Return minutes = tokens · penalty / (n · efficiency · utilisation · peak / 6P) / 60."""
    share = max(assumed().smallest_efficiency, efficiency)
    rate_of_one = assumed().flops_utilisation * peak_flops / (6 * parameters)
    return tokens * penalty / (world * share * rate_of_one) / 60


def gpu_hour_minutes(hours: float, world: int, efficiency: float) -> float:
    """Return the minutes on `world` GPUs of a job that takes `hours` on one."""
    return hours * 60 / (world * max(assumed().smallest_efficiency, efficiency))


def penalty(*, checkpointing: bool, quantized: bool, offloaded: bool) -> float:
    """Return by how much the chosen savings of memory multiply the time."""
    given = assumed()
    factor = given.checkpointing_penalty if checkpointing else 1.0
    factor *= given.quantized_penalty if quantized else 1.0
    return factor * (given.offload_penalty if offloaded else 1.0)


def time_estimate(minutes: float | None, note: str = "") -> Estimate | None:
    """Return minutes as an estimate to 1 digit."""
    return None if minutes is None else Estimate(value=round(minutes, 1), unit="min", note=note)


def cost_estimate(time: Estimate | None, world: int, resources: Resources) -> Estimate | None:
    """Return rounded minutes/60 · n · price, to 2 digits."""
    rate = resources.hourly_cost_usd_per_gpu
    if time is None or rate is None:
        return None
    return Estimate(
        value=round(time.value / 60 * world * rate, 2), unit="USD", note=f"{world} GPU at {rate:g} USD/h"
    )
