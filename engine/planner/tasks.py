"""Candidates for work without communication: classical training and independent tasks."""

from __future__ import annotations

from engine.planner.catalog import Gpu, assumed
from engine.planner.judging import broken_gates
from engine.planner.protocol import ClassicalTraining, IndependentTasks, PlanRequest
from engine.planner.report import MemoryBreakdown, Verdict
from engine.planner.timecost import time_estimate

_SMALLEST_SHARDS, _LARGEST_SHARDS = 2, 16


def classical_verdicts(request: PlanRequest, workload: ClassicalTraining) -> list[Verdict]:
    """Return one process that holds the data, and shards of it if the learner is incremental."""
    given, ram = assumed(), request.resources.cpu_ram_gb
    needed = given.classical_copies * workload.dataset_mb / 1000
    fits = needed <= given.host_ram_cap * ram
    words = "fits in" if fits else "is more than"
    verdicts = [
        Verdict(
            name="local_process",
            family="local_process",
            workers=1,
            status="feasible" if fits else "infeasible",
            reasons=(f"{needed:g} GB of data and copies {words} {given.host_ram_cap:.0%} of {ram:g} GB",),
        )
    ]
    if workload.supports_partial_fit:
        shards = int(workload.dataset_mb // given.shard_mb)
        workers = max(_SMALLEST_SHARDS, min(_LARGEST_SHARDS, shards))
        verdicts.append(
            Verdict(
                name="sharded_partial_fit",
                family="sharded_partial_fit",
                workers=workers,
                status="feasible",
                reasons=(f"{workers} shards learned one after another and merged",),
            )
        )
    return verdicts


def task_verdicts(request: PlanRequest, workload: IndependentTasks, gpu: Gpu | None) -> list[Verdict]:
    """Return leased tasks over all slots, and the same tasks one after another.

    A slot is a GPU when tasks need one, else a few cores of a host.
    """
    if gpu is not None and workload.needs_gpu:
        cap = assumed().vram_cap * gpu.vram_gb
        if workload.vram_gb_per_task > cap:
            return [_too_large(workload, gpu, cap)]
    slots = _slots(request, workload)
    if slots == 0:
        reason = "a task needs a GPU and there is none"
        return [
            Verdict(
                name="lease_tasks", family="lease_tasks", workers=0, status="infeasible", reasons=(reason,)
            )
        ]
    workers = min(slots, workload.task_count)
    leases = _timed(request, workload, "lease_tasks", "lease_tasks", workers)
    alone = _timed(request, workload, "local_sequential", "local_process", 1)
    if workers > 1:
        reason = f"one after another takes {workers} times as long as {workers} at once"
        alone = alone.model_copy(update={"status": "rejected_dominated", "reasons": (*alone.reasons, reason)})
    return [leases, alone]


def _slots(request: PlanRequest, workload: IndependentTasks) -> int:
    resources = request.resources
    if workload.needs_gpu:
        return resources.gpus
    return resources.hosts * max(1, resources.cpu_cores // int(assumed().cores_per_task))


def _timed(request: PlanRequest, workload: IndependentTasks, name: str, family: str, workers: int) -> Verdict:
    rounds = -(-workload.task_count // workers)
    time = time_estimate(rounds * workload.est_minutes_per_task)
    broken = broken_gates(time, None, request.objective)
    return Verdict(
        name=name,
        family=family,
        workers=workers,
        status="rejected_policy" if broken else "feasible",
        time=time,
        reasons=(f"{workload.task_count} tasks in {rounds} rounds of {workers}", *broken),
    )


def _too_large(workload: IndependentTasks, gpu: Gpu, cap: float) -> Verdict:
    task = workload.vram_gb_per_task
    return Verdict(
        name="lease_tasks",
        family="lease_tasks",
        workers=0,
        status="infeasible",
        memory=MemoryBreakdown(total_gb=round(task, 2)),
        deficit_gb=task - gpu.vram_gb,
        reasons=(f"a task needs {task:g} GB, more than {cap:.2f} GB of a GPU of {gpu.vram_gb:g} GB",),
    )
