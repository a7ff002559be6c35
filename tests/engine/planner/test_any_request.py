"""What must hold for every request."""

import json
import math

import pytest
from hypothesis import assume, given, settings

from engine.errors import InvalidInput
from engine.planner import PlanReport, PlanRequest, plan
from engine.planner.candidates import candidates, outlook
from tests.engine.planner.random_requests import requests

ALWAYS_LAST = math.inf


def answered(data):
    """Return request and report, or drop the example when its numbers cannot be."""
    request = PlanRequest.read(data)
    try:
        return request, plan(request)
    except InvalidInput as error:
        assume(error.fields["parameter"] != "workload.lora_rank")
        raise


def breaches(request, report):
    """Return the limits that the selected plan breaks, worked out from the request alone."""
    selected, resources, objective = report.selected, request.resources, request.objective
    catalog_gb = {"h100": 80, "a100-40gb": 40, "a100-80gb": 80, "rtx4090": 24, "l4": 24, "t4": 16}
    vram = resources.vram_gb or catalog_gb.get((resources.gpu_type or "").lower())
    on_gpus = request.workload.kind in ("transformer_finetune", "transformer_pretrain", "pytorch_training")
    asked_for_qlora = getattr(request.workload, "method", None) == "qlora"
    memory = selected.memory
    checks = {
        "gpus": selected.workers * selected.gpus_per_worker > resources.gpus,
        "memory": on_gpus and memory.total_gb > 0.95 * vram,
        "host memory": on_gpus and memory.cpu_offload_gb > 0.8 * resources.cpu_ram_gb + 0.005,
        "efficiency": on_gpus and selected.scaling_efficiency < 0.5,
        "deadline": selected.time and selected.time.value > (objective.deadline_minutes or ALWAYS_LAST),
        "budget": selected.cost and selected.cost.value > (objective.max_cost_usd or ALWAYS_LAST),
        "quantization": selected.quantization and not objective.allow_quantization and not asked_for_qlora,
        "offload": selected.offload != "none" and not objective.allow_cpu_offload,
        "profile": on_gpus and memory.total_gb > 0.8 * vram and not selected.profiling_required,
    }
    return [name for name, broken in checks.items() if broken]


def numbers(value):
    if isinstance(value, dict):
        return [number for item in value.values() for number in numbers(item)]
    if isinstance(value, list):
        return [number for item in value for number in numbers(item)]
    return [value] if isinstance(value, float) else []


@settings(max_examples=2000)
@given(requests)
def test_a_request_gets_one_lawful_and_finite_answer(data):
    request, report = answered(data)
    text = report.model_dump_json()
    again = plan(PlanRequest.read_json(request.model_dump_json())).model_dump_json()
    assert again == text
    assert PlanReport.read_json(text) == report
    assert all(math.isfinite(number) for number in numbers(json.loads(text)))
    statuses = [verdict.status for verdict in report.candidates]
    assert (report.hint is None) == (report.selected is not None)
    assert statuses.count("selected") == (report.selected is not None)
    if report.selected is None:
        assert "feasible" not in statuses
        assert report.hint.text
    else:
        assert breaches(request, report) == []


def rank_by_hand(mode, verdict):
    def last(estimate):
        return (estimate is None, estimate.value if estimate else 0)

    time, cost = last(verdict.time), last(verdict.cost)
    no_headroom = verdict.headroom_gb is None
    return {
        "cheapest": (cost, time, verdict.workers),
        "balanced": (cost, time, verdict.workers),
        "fastest": (time, cost, verdict.workers),
        "reliable": (
            verdict.workers,
            verdict.offload != "none",
            verdict.quantized,
            (no_headroom, -(verdict.headroom_gb or 0)),
        ),
    }[mode]


@settings(max_examples=300)
@given(requests)
def test_the_winner_is_the_first_of_the_best_by_the_stated_order(data):
    request, report = answered(data)
    survivors = [v for v in report.candidates if v.status in ("selected", "feasible")]
    if survivors:
        best = min(rank_by_hand(request.objective.mode, verdict) for verdict in survivors)
        first = next(v for v in survivors if rank_by_hand(request.objective.mode, v) == best)
        assert first.status == "selected"


@settings(max_examples=300)
@given(requests)
def test_every_allowance_that_a_hint_suggests_does_what_it_says(data):
    request, report = answered(data)
    for relaxation in report.hint.relaxations if report.hint else ():
        group, name = relaxation.field.split(".")
        if not name.startswith("allow_"):
            continue
        relaxed = request.variant(**{group: getattr(request, group).variant(**{name: True})})
        after = plan(relaxed)
        if relaxation.outcome == "gives a plan":
            assert after.selected is not None
        else:
            assert after.selected is None
            assert after.hint.deficit_gb == relaxation.deficit_gb < report.hint.deficit_gb


@pytest.mark.parametrize("mode", ["cheapest", "fastest", "balanced", "reliable"])
def test_unknown_cost_never_wins_by_omission(mode):
    request = PlanRequest.read(
        {
            "workload": {"kind": "pytorch_training", "parameters_m": 300, "est_train_gpu_hours": 4},
            "resources": {"gpus": 4, "gpu_type": "h100"},
            "objective": {"mode": mode},
        }
    )
    selected = plan(request).selected
    assert selected.cost is None
    assert selected.workers == (1 if mode == "reliable" else 4)


@settings(max_examples=400)
@given(requests)
def test_an_outlook_is_what_planning_comes_to(data):
    request, _ = answered(data)
    field, found = candidates(request), outlook(request)
    assert found.survives == bool(field.survivors)
    if not found.survives:
        assert found.deficit_gb == (field.closest.deficit_gb if field.closest else None)
