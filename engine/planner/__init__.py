"""The strategy planner: which way of training fits, why, and what was rejected.

`plan(request)` filters every candidate, ranks the survivors by the objective and returns a report.
"""

from engine.planner.protocol import (
    PLANNER_VERSION,
    ClassicalTraining,
    IndependentTasks,
    Measured,
    Objective,
    PlanRequest,
    PytorchTraining,
    Resources,
    TransformerFinetune,
    TransformerPretrain,
    request_digest,
)
from engine.planner.report import (
    CheckpointPolicy,
    Estimate,
    MemoryBreakdown,
    NearestMiss,
    PlanReport,
    Relaxation,
    StrategyPlan,
    Verdict,
)
from engine.planner.selector import plan

__all__ = [
    "PLANNER_VERSION",
    "CheckpointPolicy",
    "ClassicalTraining",
    "Estimate",
    "IndependentTasks",
    "Measured",
    "MemoryBreakdown",
    "NearestMiss",
    "Objective",
    "PlanReport",
    "PlanRequest",
    "PytorchTraining",
    "Relaxation",
    "Resources",
    "StrategyPlan",
    "TransformerFinetune",
    "TransformerPretrain",
    "Verdict",
    "plan",
    "request_digest",
]
