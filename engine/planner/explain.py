"""A report in words: the decision, its numbers, what was rejected and why."""

from __future__ import annotations

from engine.planner.report import PlanReport, StrategyPlan, Verdict

_MARKS = {
    "selected": "selected",
    "feasible": "feasible",
    "infeasible": "infeasible",
    "rejected_policy": "over a limit",
    "rejected_dominated": "dominated",
}


def explain(report: PlanReport) -> str:
    """Return the whole report as plain text, one fact a line."""
    lines = [headline(report), *plan_lines(report)]
    lines += [f"warning: {warning}" for warning in report.warnings]
    lines += [f"{_row_name(verdict)}: {'; '.join(verdict.reasons)}" for verdict in report.candidates]
    return "\n".join(lines)


def headline(report: PlanReport) -> str:
    """Return the decision in one sentence."""
    plan = report.selected
    if plan is None:
        return report.hint.text if report.hint else "No plan."
    return f"Plan {plan.plan_id}: {plan.strategy_family} on {_workers(plan)}, launched by {plan.launcher}."


def plan_lines(report: PlanReport) -> list[str]:
    """Return the selected plan's numbers and reasons, one a line; nothing when there is no plan."""
    plan = report.selected
    if plan is None:
        return []
    named = {
        "layout": _layout(plan),
        "knobs": _knobs(plan),
        "memory": f"{plan.memory.total_gb:.2f} GB per GPU" if plan.memory else "",
        "time": plan.time.words if plan.time else "",
        "cost": plan.cost.words if plan.cost else "",
        "scaling efficiency": "" if plan.scaling_efficiency is None else f"{plan.scaling_efficiency:.2f}",
        "checkpoint": _checkpoint(plan),
        "goodput": f"{plan.goodput.value:.1%} ({plan.goodput.basis})" if plan.goodput else "",
        "because": "; ".join(plan.selected_because),
    }
    return [f"{name}: {value}" for name, value in named.items() if value]


def row(verdict: Verdict) -> tuple[str, ...]:
    """Return one candidate as a table row: name, workers, status, memory, time, cost, efficiency, reason.

    The reason is the one that rejected it; a survivor needs none.
    """
    efficiency = verdict.scaling_efficiency
    rejected = verdict.status not in ("selected", "feasible")
    return (
        verdict.name,
        str(verdict.workers),
        _MARKS[verdict.status],
        "" if verdict.memory is None else f"{verdict.memory.total_gb:.2f} GB",
        verdict.time.words if verdict.time else "",
        verdict.cost.words if verdict.cost else "",
        "" if efficiency is None else f"{efficiency:.2f}",
        verdict.reasons[-1] if rejected and verdict.reasons else "",
    )


def _row_name(verdict: Verdict) -> str:
    return f"{verdict.name} on {verdict.workers}, {_MARKS[verdict.status]}"


def _workers(plan: StrategyPlan) -> str:
    if plan.gpus_per_worker == 0:
        return f"{plan.workers} process{'es' if plan.workers > 1 else ''}"
    return f"{plan.workers} GPU{'s' if plan.workers > 1 else ''}"


def _layout(plan: StrategyPlan) -> str:
    layout = plan.layout
    if layout is None:
        return ""
    shard = f", state sharded over {layout.shard}" if layout.shard > 1 else ""
    return (
        f"tensor {layout.tensor} x pipeline {layout.pipeline} x data {layout.data}{shard}, "
        f"{layout.micro_batches} micro-batches, bubble {layout.bubble:.1%}"
    )


def _knobs(plan: StrategyPlan) -> str:
    named = [
        plan.precision,
        plan.quantization,
        plan.peft,
        "activation checkpointing" if plan.activation_checkpointing else None,
        "optimizer in host memory" if plan.offload != "none" else None,
        "profile it first" if plan.profiling_required else None,
    ]
    return ", ".join(name for name in named if name)


def _checkpoint(plan: StrategyPlan) -> str:
    policy = plan.checkpoint
    if policy is None:
        return ""
    return f"every {policy.interval_seconds:g} s with {policy.backend} ({policy.note})"
