"""The nearest miss: why nothing survived, and which change of the request would help.

A change is suggested only after trying it: it gives a plan, or it shrinks the memory that is missing. Another
deadline or budget needs no planning anew, for the candidates stay what they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from engine.planner.candidates import Field, outlook
from engine.planner.catalog import assumed
from engine.planner.judging import broken_gates
from engine.planner.protocol import ClassicalTraining, Objective, PlanRequest, TransformerFinetune
from engine.planner.report import NearestMiss, Relaxation, Verdict


class _Change(NamedTuple):
    field: str
    words: str
    relaxed: PlanRequest


def nearest_miss(request: PlanRequest, field: Field) -> NearestMiss:
    """Return why no candidate of `field` survived and what would change that."""
    if field.missing_field is not None:
        text = f"No plan: {field.missing_why}; set {field.missing_field}."
        return NearestMiss(text=text, missing_field=field.missing_field)
    closest = field.closest
    by_policy = sum(verdict.status == "rejected_policy" for verdict in field.verdicts)
    relaxations = (*_other_gates(request, field), *_useful(request, field))
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


def _other_gates(request: PlanRequest, before: Field) -> Iterator[Relaxation]:
    """Yield what a later deadline or a larger budget gives: the candidates are known, only gates change."""
    objective = request.objective
    deadline, budget = objective.deadline_minutes is not None, objective.max_cost_usd is not None
    late = _within(before, objective.model_copy(update={"deadline_minutes": None}))
    dear = _within(before, objective.model_copy(update={"max_cost_usd": None}))
    if deadline and late:
        shortest = min((v.time for v in late if v.time), key=lambda time: time.value)
        yield _gives("objective.deadline_minutes", f"a deadline of {shortest.words}")
    if budget and dear:
        cheapest = min((v.cost for v in dear if v.cost), key=lambda cost: cost.value)
        yield _gives("objective.max_cost_usd", f"a budget of {cheapest.words}")
    if deadline and budget and any(verdict.status == "rejected_policy" for verdict in before.verdicts):
        yield _gives("objective.deadline_minutes", "neither the deadline nor the budget")


def _within(before: Field, objective: Objective) -> list[Verdict]:
    over = [verdict for verdict in before.verdicts if verdict.status == "rejected_policy"]
    return [verdict for verdict in over if not broken_gates(verdict.time, verdict.cost, objective)]


def _gives(field: str, change: str) -> Relaxation:
    return Relaxation(field=field, change=change, outcome="gives a plan")


def _useful(request: PlanRequest, before: Field) -> Iterator[Relaxation]:
    missing = before.closest.deficit_gb if before.closest else None
    for field, words, relaxed in _changes(request, before):
        after = outlook(relaxed)
        if after.survives:
            yield _gives(field, words)
        elif missing and after.deficit_gb is not None and after.deficit_gb < missing:
            yield Relaxation(
                field=field, change=words, outcome="shrinks the deficit", deficit_gb=after.deficit_gb
            )


def _changes(request: PlanRequest, before: Field) -> Iterator[_Change]:
    objective = request.objective
    if isinstance(request.workload, TransformerFinetune):  # no other workload can use either
        if not objective.allow_quantization:
            yield _set(request, "objective", "quantization allowed", allow_quantization=True)
        if not objective.allow_cpu_offload:
            yield _set(request, "objective", "CPU offload allowed", allow_cpu_offload=True)
    yield from _more_gpus(request)
    yield from _larger(request, before)
    if any(v.scaling_efficiency is not None and v.scaling_efficiency < 1 for v in before.verdicts):
        faster = "same_host_nvlink" if request.resources.hosts == 1 else "multi_node_ib"
        yield _set(request, "resources", f"the link {faster}", interconnect=faster)


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
    return _Change(field, words, request.model_copy(update={group: changed}))
