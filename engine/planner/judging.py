"""One candidate against the limits: memory, host memory, communication, then deadline and budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from engine.planner.catalog import Gpu, assumed
from engine.planner.memory import MemoryNeed
from engine.planner.protocol import Objective, PlanRequest, Resources
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
    layout: Callable[[], Layout] | None = None
    rename_when_fitting: str | None = None

    def scaling(self) -> float:
        """Return the scaling efficiency; one GPU waits for nobody."""
        return self.efficiency() if self.world > 1 else 1.0

    def price(self, resources: Resources, efficiency: float) -> tuple[Estimate | None, Estimate | None]:
        """Return time and cost, as far as they can be known."""
        time = time_estimate(self.minutes(efficiency))
        return time, cost_estimate(time, self.world, resources)


def survives(trial: Trial, request: PlanRequest) -> bool:
    """Return whether a trial breaks no limit; the same as `judge` finds, without its numbers and words."""
    if not trial.memory.fits or trial.memory.parts.offloaded > _host_ram(request):
        return False
    efficiency = trial.scaling()
    if efficiency < assumed().efficiency_floor:
        return False
    return not broken_gates(*trial.price(request.resources, efficiency), request.objective)


def judge(trial: Trial, gpu: Gpu, request: PlanRequest) -> Verdict:
    """Return the verdict on one trial; the first limit that it breaks decides."""
    given, memory, objective = assumed(), trial.memory, request.objective
    reasons = [memory.words]
    if not memory.fits:
        return _verdict(trial, "infeasible", reasons, deficit_gb=memory.deficit)
    host, ram = memory.parts.offloaded, _host_ram(request)
    if host > ram:
        reasons.append(f"offloads {host:.2f} GB per GPU, more than {ram:.2f} GB of the host")
        return _verdict(trial, "infeasible", reasons)
    efficiency = trial.scaling()
    if efficiency < given.efficiency_floor:
        reasons.append(f"scaling efficiency {efficiency:.2f} is below {given.efficiency_floor:g}")
        return _verdict(trial, "infeasible", reasons, scaling_efficiency=efficiency)
    time, cost = trial.price(request.resources, efficiency)
    tight = memory.total > given.profile_above * gpu.vram_gb
    if tight:
        reasons.append(f"above {given.profile_above:.0%} of the memory: measure it before a long run")
    if efficiency < given.efficiency_warning:
        reasons.append(
            f"scaling efficiency {efficiency:.2f} is below {given.efficiency_warning:g}: much waiting"
        )
    broken = broken_gates(time, cost, objective)
    return _verdict(
        trial,
        "rejected_policy" if broken else "feasible",
        reasons + broken,
        time=time,
        cost=cost,
        scaling_efficiency=efficiency,
        profiling_required=tight,
    )


def _host_ram(request: PlanRequest) -> float:
    return assumed().host_ram_cap * request.resources.cpu_ram_gb


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
        layout=trial.layout() if trial.layout else None,
        reasons=tuple(reasons),
        **numbers,
    )
