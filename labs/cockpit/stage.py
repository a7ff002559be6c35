"""What is on stage: the act, what was predicted, the levers, and as much of the outcome as may be seen.

The zones are functions of a stage. Until a prediction is sealed, `outcome` is None: a zone cannot show
what it does not have.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.errors import FleetlabError
from engine.missions import Act, MissionPlan
from engine.scenarios.registry import SCENARIOS, ScenarioEntry
from labs.cockpit.levers import setting
from labs.cockpit.saved import Returned, SavedWork, SealedPrediction
from labs.cockpit.session import Visit
from labs.cockpit.views import ready


@dataclass(frozen=True)
class Stage:
    """One act of one visit, at one moment."""

    plan: MissionPlan
    visit: Visit
    act: Act
    levers: Mapping[str, Any]
    sealed: SealedPrediction | None
    as_found: Any
    """The outcome when nobody acts; None without an engine. Before a seal, zones read only its past from it."""
    outcome: Any
    """The outcome of the levers; None until the prediction is sealed."""
    complaint: str = ""

    @property
    def entry(self) -> ScenarioEntry:
        """What the act's scenario computes."""
        return SCENARIOS[self.act.scenario]

    @property
    def ready(self) -> bool:
        """Whether the act can be played."""
        return ready(self.act)

    @property
    def asks(self) -> bool:
        """Whether the act waits for a prediction."""
        return self.ready and self.sealed is None

    @property
    def open(self) -> bool:
        """Whether the telemetry may be seen."""
        return self.outcome is not None

    @property
    def stamp(self) -> str:
        """The act and the levers as text, by which a zone tells what it shows; empty while it shows nothing."""
        return json.dumps([self.act.id, dict(sorted(self.levers.items()))]) if self.open else ""


def set_stage(
    plan: MissionPlan,
    visit: Visit,
    act_id: str,
    sealed: Mapping[str, SealedPrediction],
    levers: Mapping[str, Any],
) -> Stage:
    """Return the stage for an act, a visit, the sealed predictions and the levers of the panel.

    A lever value that the plan does not know is told in `complaint`, and the start value is used.
    """
    act, complaint, prediction = plan.act(act_id), visit.complaint, sealed.get(act_id)
    try:
        values = setting(plan, act, levers)
    except FleetlabError as error:
        values, complaint = plan.start_values(act_id), f"{complaint} {error}".strip()
    entry = SCENARIOS[act.scenario]
    as_found = run(act, visit, plan.start_values(act_id)) if entry.ready else None
    told = act.told(entry.said(as_found))
    outcome = run(act, visit, values) if prediction and ready(act) else None
    return Stage(plan, visit, told, values, prediction, as_found, outcome, complaint)


def run(act: Act, visit: Visit, levers: Mapping[str, Any]) -> Any:
    """Return the engine's outcome of an act for these levers and the visit's seed."""
    scenario = SCENARIOS[act.scenario].scenario()
    settings: dict[str, Any] = dict(act.settings)
    if "seed" in SCENARIOS[act.scenario].settings:
        settings["seed"] = visit.seed
    return scenario(**settings, **levers).outcome()


def saved_work(stage: Stage, sealed: Mapping[str, SealedPrediction], texts: Mapping[str, str]) -> SavedWork:
    """Return the work as it stands; what the engine returned is part of it once a prediction is sealed."""
    returned = None
    if stage.open:
        outcome = stage.outcome.model_dump(mode="json", exclude={"fleet_map", "through_time"})
        returned = Returned(act=stage.act.id, levers=dict(stage.levers), outcome=outcome)
    visit = stage.visit
    return SavedWork(lab=visit.lab, plan=visit.plan, student=visit.student, seed=visit.seed, levers=dict(stage.levers),
                     sealed=dict(sealed), rationale=dict(texts), returned=returned)  # fmt: skip
