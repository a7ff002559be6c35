"""The nearest miss: why nothing survived, and which change of the request would help.

A change is suggested only after planning with it: it gives a plan, or it shrinks the memory that is missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from engine.planner.candidates import Field, candidates
from engine.planner.catalog import assumed
from engine.planner.protocol import ClassicalTraining, PlanRequest
from engine.planner.report import NearestMiss, Relaxation, Verdict


class _Change(NamedTuple):
    field: str
    relaxed: PlanRequest
    words: Callable[[Field], str]


def nearest_miss(request: PlanRequest, field: Field) -> NearestMiss:
    """Return why no candidate of `field` survived and what would change that."""
    if field.missing_field is not None:
        text = f"No plan: {field.missing_why}; set {field.missing_field}."
        return NearestMiss(text=text, missing_field=field.missing_field)
    closest = field.closest
    by_policy = sum(verdict.status == "rejected_policy" for verdict in field.verdicts)
    relaxations = tuple(_useful(request, field))
    return NearestMiss(
        text=" ".join([_what_failed(closest, by_policy), *_what_helps(relaxations)]),
        candidate=closest.name if closest else None,
        deficit_gb=closest.deficit_gb if closest else None,
        rejected_by_policy=by_policy,
        relaxations=relaxations,
    )


def _what_failed(closest: Verdict | None, by_policy: int) -> str:
    if by_policy:
        noun = "candidate is" if by_policy == 1 else "candidates are"
        return f"No plan: {by_policy} {noun} feasible but over the deadline or the budget."
    if closest is not None:
        return f"No plan: the closest candidate, {closest.name}, misses {closest.deficit_gb:.1f} GB per GPU."
    return "No plan: no candidate came close."


def _what_helps(relaxations: tuple[Relaxation, ...]) -> list[str]:
    unlocking = [r.change for r in relaxations if r.outcome == "gives a plan"]
    shrinking = [r.change for r in relaxations if r.outcome == "shrinks the deficit"]
    words = [f"There is a plan with {', or with '.join(unlocking)}."] if unlocking else []
    return words + ([f"Less memory is missing with {', or with '.join(shrinking)}."] if shrinking else [])


def _useful(request: PlanRequest, before: Field) -> Iterator[Relaxation]:
    missing = before.closest.deficit_gb if before.closest else None
    for change in _changes(request, before):
        after = candidates(change.relaxed)
        if after.survivors:
            yield Relaxation(field=change.field, change=change.words(after), outcome="gives a plan")
        elif missing and after.closest and (after.closest.deficit_gb or 0.0) < missing:
            yield Relaxation(
                field=change.field,
                change=change.words(after),
                outcome="shrinks the deficit",
                deficit_gb=after.closest.deficit_gb,
            )


def _changes(request: PlanRequest, before: Field) -> Iterator[_Change]:
    objective = request.objective
    if any(verdict.status == "rejected_policy" for verdict in before.verdicts):
        yield from _without_gates(request)
    if not objective.allow_quantization:
        yield _set(request, "objective", "quantization allowed", allow_quantization=True)
    if not objective.allow_cpu_offload:
        yield _set(request, "objective", "CPU offload allowed", allow_cpu_offload=True)
    yield from _more_gpus(request)
    yield from _larger(request, before)
    if any(v.scaling_efficiency is not None and v.scaling_efficiency < 1 for v in before.verdicts):
        faster = "same_host_nvlink" if request.resources.hosts == 1 else "multi_node_ib"
        yield _set(request, "resources", f"the link {faster}", interconnect=faster)


def _without_gates(request: PlanRequest) -> Iterator[_Change]:
    objective = request.objective
    if objective.deadline_minutes is not None:
        yield _Change(*_set(request, "objective", "", deadline_minutes=None)[:2], _longer)
    if objective.max_cost_usd is not None:
        yield _Change(*_set(request, "objective", "", max_cost_usd=None)[:2], _dearer)
    if objective.deadline_minutes is not None and objective.max_cost_usd is not None:
        words = "neither the deadline nor the budget"
        yield _set(request, "objective", words, deadline_minutes=None, max_cost_usd=None)


def _longer(after: Field) -> str:
    shortest = min((v.time for v in after.survivors if v.time), key=lambda time: time.value)
    return f"a deadline of {shortest.words}"


def _dearer(after: Field) -> str:
    cheapest = min((v.cost for v in after.survivors if v.cost), key=lambda cost: cost.value)
    return f"a budget of {cheapest.words}"


def _more_gpus(request: PlanRequest) -> Iterator[_Change]:
    gpus, hosts = request.resources.gpus, request.resources.hosts
    more = 2 * gpus or 1
    yield _set(
        request, "resources", f"{more} GPUs", gpus=more, hosts=2 * hosts if gpus and hosts > 1 else hosts
    )


def _larger(request: PlanRequest, before: Field) -> Iterator[_Change]:
    closest = before.closest
    if closest is not None and closest.memory is not None:
        enough = float(math.ceil(closest.memory.total_gb / assumed().vram_cap + 0.01))
        yield _set(request, "resources", f"GPUs of {enough:g} GB", vram_gb=enough)
    needed = max((_host_gb(request, v) for v in before.verdicts), default=0.0)
    if needed:
        ram = float(math.ceil(needed / assumed().host_ram_cap + 0.01))
        yield _set(request, "resources", f"{ram:g} GB of host memory", cpu_ram_gb=ram)


def _host_gb(request: PlanRequest, verdict: Verdict) -> float:
    if verdict.status != "infeasible" or verdict.deficit_gb is not None:
        return 0.0
    if isinstance(request.workload, ClassicalTraining):
        return assumed().classical_copies * request.workload.dataset_mb / 1000
    return verdict.memory.cpu_offload_gb if verdict.memory and verdict.scaling_efficiency is None else 0.0


def _set(request: PlanRequest, group: str, words: str, **values: Any) -> _Change:
    changed = getattr(request, group).model_copy(update=values)
    field = f"{group}.{next(iter(values))}"
    return _Change(field, request.model_copy(update={group: changed}), lambda _: words)
