"""When a measurement is worth its cost, and what follows from one that failed: nothing."""

from __future__ import annotations

from typing import Literal

from engine.model import Frozen
from engine.planner.catalog import gpu
from engine.planner.protocol import PlanRequest
from engine.planner.report import StrategyPlan
from engine.profiling.cache import ProfileCache
from engine.profiling.profiler import BUDGET_SECONDS, Profiler, checked_budget
from engine.profiling.result import ProfileError, ProfileResult

COMFORTABLE_SHARE = 0.60
"""At or below this share of the GPU's memory the static estimate is good enough."""
LARGEST_COST_SHARE = 0.05
"""Above this share of the job's time a profile is not worth it."""
_ROUNDING = 1 + 1e-9  # so that exactly 60 % and exactly 5 % are on the right side of their limits


class Measurement(Frozen):
    """What became of the wish to measure.

    Parameters
    ----------
    basis: what the plan's numbers rest on now; `"static"` unless there is a result.
    origin: where the result is from, or why there is none.
    reason: the same in a sentence.
    result: what was measured, if anything.
    """

    basis: Literal["static", "profiled"]
    origin: Literal["measured", "cache", "skipped", "failed"]
    reason: str
    result: ProfileResult | None = None


def skip_reason(
    request: PlanRequest, plan: StrategyPlan, budget_seconds: float = BUDGET_SECONDS
) -> str | None:
    """Return why `plan` need not be profiled, none if it should be; what is unknown is no reason.

    It need not when its static memory is at most 60 % of the GPU's, or when the budget is more than 5 % of
    the job's estimated time.
    """
    budget_s = checked_budget(budget_seconds)
    device = gpu(request.resources)
    if plan.memory is not None and device is not None:
        share = plan.memory.total_gb / device.vram_gb
        if share <= COMFORTABLE_SHARE * _ROUNDING:
            limit = f"{COMFORTABLE_SHARE:.0%}"
            return f"Static memory is {share:.0%} of the GPU's, and up to {limit} is comfortable."
    if plan.time is not None:
        job_s = float(plan.time.quantity.to("s").magnitude)
        if budget_s > LARGEST_COST_SHARE * job_s * _ROUNDING:
            return (
                f"A profile of up to {budget_s:g} s is more than {LARGEST_COST_SHARE:.0%} of the job's "
                f"{job_s:,.0f} s."
            )
    return None


def measure(
    request: PlanRequest,
    plan: StrategyPlan,
    profiler: Profiler,
    cache: ProfileCache | None = None,
    budget_seconds: float = BUDGET_SECONDS,
    force: bool = False,
) -> Measurement:
    """Return a profile of `plan` from the cache or from a run, unless it is not worth it or fails.

    Only a finished run enters the cache; a failed one leaves no trace and the plan static.

    Parameters
    ----------
    request, plan: the question, and the answer whose numbers are wanted.
    profiler: measures.
    cache: is asked first and told last, if given.
    budget_seconds: the most a run may take.
    force: measure even when the cache knows or the rules say that it is not worth it.
    """
    key = cache.key(request, plan, profiler.backend) if cache else ""
    if not force:
        known = cache.get(key) if cache else None
        if known is not None:
            return Measurement(basis="profiled", origin="cache", reason="Measured before.", result=known)
        if reason := skip_reason(request, plan, budget_seconds):
            return Measurement(basis="static", origin="skipped", reason=reason)
    try:
        result = profiler.profile(request, plan, budget_seconds)
    except ProfileError as error:
        return Measurement(basis="static", origin="failed", reason=str(error))
    if cache:
        cache.put(key, result)
    return Measurement(basis="profiled", origin="measured", reason="Measured now.", result=result)
