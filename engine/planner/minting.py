"""From the winning candidate to a plan that can be carried out."""

from __future__ import annotations

from typing import Any

from engine.planner.checkpointing import checkpoint_policy, plan_goodput
from engine.planner.protocol import (
    PLANNER_VERSION,
    ClassicalTraining,
    IndependentTasks,
    Measured,
    PlanRequest,
    PytorchTraining,
    TransformerFinetune,
    TransformerPretrain,
)
from engine.planner.report import LibraryRef, StrategyPlan, Verdict

_LEASED = ("lease_tasks", "sharded_partial_fit")


def mint(request: PlanRequest, ranked: list[Verdict], digest: str, measured: Measured | None) -> StrategyPlan:
    """Return the plan of the first of the ranked survivors, named by the request's digest."""
    winner = ranked[0]
    together = winner.workers > 1 and winner.family not in _LEASED
    return StrategyPlan(
        plan_id=f"pl_{digest}",
        planner_version=PLANNER_VERSION,
        strategy_family=winner.family,
        workers=winner.workers,
        gpus_per_worker=_gpus_per_worker(request),
        colocated=_colocated(request, winner),
        offload=winner.offload,
        layout=winner.layout,
        checkpoint=checkpoint_policy(winner.workers, measured) if together else None,
        goodput=plan_goodput(winner.workers, measured) if together else None,
        memory=winner.memory,
        time=winner.time,
        cost=winner.cost,
        scaling_efficiency=winner.scaling_efficiency,
        profiling_required=winner.profiling_required,
        selected_because=_because(ranked, request),
        libraries=_libraries(request, winner),
        **_how(winner, together),
        **_knobs(request, winner),
    )


def _how(winner: Verdict, together: bool) -> dict[str, Any]:
    if winner.family in _LEASED:
        return {"workload_mode": "independent_tasks", "launcher": "leases"}
    if together:
        return {"workload_mode": "coordinated_training", "launcher": "torchrun"}
    return {"workload_mode": "local", "launcher": "local"}


def _gpus_per_worker(request: PlanRequest) -> int:
    match request.workload:
        case ClassicalTraining():
            return 0
        case IndependentTasks(needs_gpu=needs_gpu):
            return int(needs_gpu)
        case _:
            return 1


def _colocated(request: PlanRequest, winner: Verdict) -> bool:
    if winner.family == "lease_tasks":
        return False
    if isinstance(request.workload, (TransformerFinetune, TransformerPretrain)):
        return winner.workers <= request.resources.gpus_per_host
    return True


def _knobs(request: PlanRequest, winner: Verdict) -> dict[str, Any]:
    match request.workload:
        case TransformerFinetune() as workload:
            return {
                "precision": workload.precision,
                "quantization": "nf4" if winner.quantized else None,
                "peft": None if workload.method == "full" else f"lora(r={workload.lora_rank})",
                "micro_batch_per_gpu": workload.micro_batch_per_gpu,
                "grad_accum": workload.grad_accum,
                "activation_checkpointing": winner.activation_checkpointing,
            }
        case TransformerPretrain() as workload:
            return {
                "precision": workload.precision,
                "micro_batch_per_gpu": workload.micro_batch_per_gpu,
                "grad_accum": winner.layout.micro_batches if winner.layout else None,
                "activation_checkpointing": winner.activation_checkpointing,
            }
        case PytorchTraining() as workload:
            return {"precision": workload.precision}
        case _:
            return {}


def _because(ranked: list[Verdict], request: PlanRequest) -> tuple[str, ...]:
    winner, mode = ranked[0], request.objective.mode
    reasons = [*winner.reasons, f"best-ranked of {len(ranked)} for {mode}"]
    if len(ranked) > 1:
        reasons.append(f"runner-up: {_with_numbers(ranked[1])}")
    return tuple(reasons)


def _with_numbers(verdict: Verdict) -> str:
    time = "time unknown" if verdict.time is None else verdict.time.words
    cost = "cost unknown" if verdict.cost is None else verdict.cost.words
    return f"{verdict.name} on {verdict.workers}, {time}, {cost}"


def _libraries(request: PlanRequest, winner: Verdict) -> tuple[LibraryRef, ...]:
    workload = request.workload
    named: list[tuple[str, str]] = []
    if isinstance(workload, ClassicalTraining):
        named.append(("scikit-learn" if workload.library == "sklearn" else "xgboost", "workload"))
    elif not isinstance(workload, IndependentTasks):
        named.append(("torch", "workload"))
    if isinstance(workload, TransformerFinetune):
        named.append(("transformers", "workload"))
        if workload.method != "full":
            named.append(("peft", "adapters"))
        if winner.quantized or workload.optimizer == "adamw_8bit":
            named.append(("bitsandbytes", "quantization" if winner.quantized else "optimizer"))
    by_family = {"zero3_cpu_offload": "deepspeed", "tensor_pipeline_data": "megatron-core"}
    if winner.family in by_family:
        named.append((by_family[winner.family], "strategy"))
    return tuple(LibraryRef(name=name, role=role) for name, role in named)
