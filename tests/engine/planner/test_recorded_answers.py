"""The 60 requests that the public package answered, every candidate and every plan field."""

import json

import pytest

from engine.planner import PlanRequest, plan

LAUNCHERS = {"flashruntime-leases": "leases"}


def value(estimate):
    return None if estimate is None else estimate.value


def memory_of(thing, field):
    return None if thing.memory is None else getattr(thing.memory, field)


def candidate_row(verdict):
    return {
        "name": verdict.name,
        "family": verdict.family,
        "workers": verdict.workers,
        "status": verdict.status,
        "time_min": value(verdict.time),
        "cost_usd": value(verdict.cost),
        "memory_total_gb": memory_of(verdict, "total_gb"),
        "cpu_offload_gb": memory_of(verdict, "cpu_offload_gb"),
        "scaling_efficiency": verdict.scaling_efficiency,
        "profiling_required": verdict.profiling_required,
    }


def plan_row(selected):
    if selected is None:
        return None
    same = (
        "strategy_family launcher workload_mode workers gpus_per_worker colocated precision quantization "
        "peft activation_checkpointing offload scaling_efficiency profiling_required"
    )
    checkpoint = selected.checkpoint
    return {name: getattr(selected, name) for name in same.split()} | {
        "time_min": value(selected.time),
        "cost_usd": value(selected.cost),
        "memory_total_gb": memory_of(selected, "total_gb"),
        "checkpoint": checkpoint
        and {"backend": checkpoint.backend, "interval_seconds": checkpoint.interval_seconds},
    }


def recorded(row):
    selected = row["selected"]
    if selected is not None:
        selected = selected | {"launcher": LAUNCHERS.get(selected["launcher"], selected["launcher"])}
    return selected, row["candidates"]


@pytest.fixture(scope="module")
def rows(shared_dir):
    return json.loads((shared_dir / "oracles" / "planner.json").read_text(encoding="utf-8"))["rows"]


def test_every_candidate_and_every_plan_field_is_as_recorded(rows):
    assert len(rows) == 60
    for row in rows:
        report = plan(PlanRequest.read(row["request"]))
        ours = plan_row(report.selected), [candidate_row(verdict) for verdict in report.candidates]
        assert ours == recorded(row), row["id"]


def test_the_facts_of_each_recorded_hint_are_in_ours(rows):
    for row in rows:
        hint = plan(PlanRequest.read(row["request"])).hint
        theirs = row["hint"]
        assert (hint is None) == (theirs is None), row["id"]
        if theirs is None:
            continue
        if theirs.startswith("closest candidate"):
            assert f"'{hint.candidate}' missed VRAM by {hint.deficit_gb:.1f} GB" in theirs, row["id"]
        elif "violated the deadline/budget" in theirs:
            assert theirs.startswith(f"{hint.rejected_by_policy} candidate"), row["id"]
        elif "set resources.vram_gb" in theirs:
            assert hint.missing_field == "resources.vram_gb", row["id"]
        elif "set workload.parameters_b" in theirs:
            assert hint.missing_field == "workload.parameters_b", row["id"]
        else:
            assert hint.deficit_gb is None and hint.rejected_by_policy == 0, row["id"]
