"""Filter, rank by the objective, and mint the plan."""

from __future__ import annotations

import math
from collections.abc import Callable

from engine.errors import InvalidInput
from engine.planner.candidates import Field, candidates
from engine.planner.hint import nearest_miss
from engine.planner.minting import mint
from engine.planner.protocol import PLANNER_VERSION, Measured, PlanRequest, request_digest
from engine.planner.report import Estimate, PlanReport, Verdict

Key = tuple[float, ...]


def plan(request: PlanRequest, measured: Measured | None = None, *, strict: bool = False) -> PlanReport:
    """Return the best plan that breaks no limit, and what became of every other candidate.

    Candidates are filtered by memory, communication, deadline and budget, and the survivors ranked by
    `objective.mode`: cheapest and balanced by (cost, time, workers), fastest by (time, cost, workers),
    reliable by (workers, offload, quantization, headroom). Unknown values sort last; ties keep the order in
    which candidates are tried. The same question gives the same report, byte for byte.

    Parameters
    ----------
    request: the workload, the resources and the objective.
    measured: what is known of the job's checkpoints and failures; none gives a static checkpoint interval
        and no goodput.
    strict: refuse more hosts than GPUs instead of warning about them.

    Returns
    -------
    The report: a selected plan, or a hint that says what would give one.

    Raises
    ------
    InvalidInput: for an adapter rank above the hidden size, and under `strict` for hosts without a GPU.
    """
    warnings = _odd(request, strict)
    field = candidates(request)
    ranked = sorted(field.survivors, key=_KEYS[request.objective.mode])
    digest = request_digest(request, measured)
    selected = mint(request, ranked, digest, measured) if ranked else None
    return PlanReport(
        planner_version=PLANNER_VERSION,
        request_digest=digest,
        selected=selected,
        candidates=_with_winner(field, ranked),
        warnings=(*warnings, *field.warnings),
        hint=None if ranked else nearest_miss(request, field),
    )


def _with_winner(field: Field, ranked: list[Verdict]) -> tuple[Verdict, ...]:
    return tuple(
        verdict.model_copy(update={"status": "selected"}) if ranked and verdict is ranked[0] else verdict
        for verdict in field.verdicts
    )


def _odd(request: PlanRequest, strict: bool) -> list[str]:
    warnings = []
    gpus, hosts = request.resources.gpus, request.resources.hosts
    if 0 < gpus < hosts:
        if strict:
            raise InvalidInput("resources.hosts", hosts, f"at most one host per GPU, {gpus}")
        warnings.append(
            f"{hosts} hosts are stated for {gpus} GPUs; each GPU is taken to have a host of its own."
        )
    if request.objective.allow_nvme_offload:
        warnings.append("Offloading to NVMe is allowed, but no candidate uses it yet.")
    return warnings


def _or_last(estimate: Estimate | None) -> float:
    return math.inf if estimate is None else estimate.value


def _cheapest(verdict: Verdict) -> Key:
    return _or_last(verdict.cost), _or_last(verdict.time), verdict.workers


def _fastest(verdict: Verdict) -> Key:
    return _or_last(verdict.time), _or_last(verdict.cost), verdict.workers


def _most_reliable(verdict: Verdict) -> Key:
    headroom = -math.inf if verdict.headroom_gb is None else verdict.headroom_gb
    return verdict.workers, verdict.offload != "none", verdict.quantized, -headroom


_KEYS: dict[str, Callable[[Verdict], Key]] = {
    "cheapest": _cheapest,
    "balanced": _cheapest,  # deadline and budget are hard limits already
    "fastest": _fastest,
    "reliable": _most_reliable,
}
