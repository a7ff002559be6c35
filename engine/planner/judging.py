"""One candidate against the limits: memory, host memory, communication, then deadline and budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from engine.planner.catalog import Gpu, assumed
from engine.planner.memory import MemoryNeed
from engine.planner.protocol import Objective, PlanRequest
from engine.planner.report import Estimate, Layout, Status, Verdict
from engine.planner.timecost import cost_estimate, time_estimate


class Trial(NamedTuple):
    """One way to train, before it is judged.

    `efficiency` and `minutes` are called only when the memory fits; `minutes` takes the efficiency.
    """

    name: str
    family: str
    world: int
    memory: MemoryNeed
    efficiency: Callable[[], float]
    minutes: Callable[[float], float | None]
    quantized: bool = False
    offloaded: bool = False
    checkpointing: bool | None = None
    layout: Layout | None = None
    rename_when_fitting: str | None = None


def judge(trial: Trial, gpu: Gpu, request: PlanRequest) -> Verdict:
    """Return the verdict on one trial; the first limit that it breaks decides."""
    given, memory = assumed(), trial.memory
    if not memory.fits:
        deficit = round(memory.total - memory.cap, 2)
        return _verdict(trial, "infeasible", [memory.words], deficit_gb=deficit)
    reasons = [memory.words]
    host, ram = memory.parts.offloaded, given.host_ram_cap * request.resources.cpu_ram_gb
    if host > ram:
        reasons.append(f"offloads {host:.2f} GB per GPU, more than {ram:.2f} GB of the host")
        return _verdict(trial, "infeasible", reasons)
    efficiency = trial.efficiency() if trial.world > 1 else 1.0
    if efficiency < given.efficiency_floor:
        reasons.append(f"scaling efficiency {efficiency:.2f} is below {given.efficiency_floor:g}")
        return _verdict(trial, "infeasible", reasons, scaling_efficiency=efficiency)
    return _priced(trial, gpu, request, efficiency, reasons)


def _priced(trial: Trial, gpu: Gpu, request: PlanRequest, efficiency: float, reasons: list[str]) -> Verdict:
    given = assumed()
    time = time_estimate(trial.minutes(efficiency))
    cost = cost_estimate(time, trial.world, request.resources)
    tight = trial.memory.total > given.profile_above * gpu.vram_gb
    if tight:
        reasons.append(f"above {given.profile_above:.0%} of the memory: measure it before a long run")
    if efficiency < given.efficiency_warning:
        reasons.append(
            f"scaling efficiency {efficiency:.2f} is below {given.efficiency_warning:g}: much waiting"
        )
    broken = broken_gates(time, cost, request.objective)
    return _verdict(
        trial,
        "rejected_policy" if broken else "feasible",
        reasons + broken,
        time=time,
        cost=cost,
        scaling_efficiency=efficiency,
        profiling_required=tight,
    )


def broken_gates(time: Estimate | None, cost: Estimate | None, objective: Objective) -> list[str]:
    """Return which of deadline and budget an estimate breaks; an unknown one breaks none."""
    deadline, budget = objective.deadline_minutes, objective.max_cost_usd
    broken = []
    if time is not None and deadline is not None and time.value > deadline:
        broken.append(f"{time.words} is over the deadline of {deadline:,g} min")
    if cost is not None and budget is not None and cost.value > budget:
        broken.append(f"{cost.words} is over the budget of {budget:,g} USD")
    return broken


def _verdict(trial: Trial, status: Status, reasons: list[str], **numbers: Any) -> Verdict:
    fitting = status != "infeasible" and trial.rename_when_fitting
    return Verdict(
        name=fitting or trial.name,
        family=trial.family,
        workers=trial.world,
        status=status,
        memory=trial.memory.breakdown,
        headroom_gb=trial.memory.headroom,
        quantized=trial.quantized,
        offload="optimizer_cpu" if trial.offloaded else "none",
        activation_checkpointing=trial.checkpointing,
        layout=trial.layout,
        reasons=tuple(reasons),
        **numbers,
    )
