"""What is on stage: an act and its prediction (a scene), then the levers and what the engine made of them.

The zones are functions of a scene or a stage. Until a prediction is sealed a stage has no outcome: a zone
cannot show what it does not have. What depends on the scene alone is not drawn again when a lever moves.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from engine.errors import FleetlabError
from engine.missions import Act, MissionPlan
from engine.scenarios.registry import SCENARIOS, ScenarioEntry
from labs.cockpit.levers import known_levers, setting
from labs.cockpit.progress import act_before
from labs.cockpit.saved import Returned, SavedWork, SealedPrediction, fitting
from labs.cockpit.session import Visit
from labs.cockpit.views import ready

_OF_STUDENTS = {
    "fleet.mean_load",
    "fleet.student_run_median",
    "fleet.student_run_sigma",
    "fleet.daily_swing",
}


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One act of one visit, with its prediction once that is sealed."""

    plan: MissionPlan
    visit: Visit
    act: Act
    """The act, told in the numbers of the fleet as it was found."""
    sealed: SealedPrediction | None
    as_found: Any
    """The outcome when nobody acts; None for a locked act. Before a seal, zones read only its past."""
    waits_for: Act | None = None
    """The act that must be done before this one opens; None once it is."""

    @property
    def entry(self) -> ScenarioEntry:
        """What the act's scenario computes."""
        return SCENARIOS[self.act.scenario]

    @property
    def ready(self) -> bool:
        """Whether the act can be played."""
        return ready(self.act) and self.waits_for is None

    @property
    def asks(self) -> bool:
        """Whether the act waits for a prediction."""
        return self.ready and self.sealed is None

    @property
    def open(self) -> bool:
        """Whether the levers may be moved and the telemetry seen."""
        return self.ready and self.sealed is not None


@dataclass(frozen=True, kw_only=True)
class Stage(Scene):
    """A scene with a setting of its levers. `complaint` tells which lever values were not accepted."""

    levers: Mapping[str, Any]
    outcome: Any
    """The outcome of the levers; None until the scene is open."""
    complaint: str

    @property
    def stamp(self) -> str:
        """The act and the levers as text, by which a zone tells what it shows; empty when nothing."""
        return json.dumps([self.act.id, dict(sorted(self.levers.items()))]) if self.open else ""


def set_scene(
    plan: MissionPlan,
    visit: Visit,
    act_id: str,
    sealed: Mapping[str, SealedPrediction],
    opened: Collection[str] | None = None,
) -> Scene:
    """Return the scene of an act, for a visit and its sealed predictions; without `opened` all are open."""
    act = plan.act(act_id)
    as_found = run(act, visit, plan.start_values(act_id)) if ready(act) else None
    told = act.told(SCENARIOS[act.scenario].said(as_found))
    if visit.log and visit.log.act == act_id:  # the students are not there
        told = told.model_copy(
            update={"facts": tuple(name for name in act.facts if name not in _OF_STUDENTS)}
        )
    is_open = opened is None or act_id in opened or act_id in sealed
    return Scene(
        plan=plan,
        visit=visit,
        act=told,
        sealed=sealed.get(act_id),
        as_found=as_found,
        waits_for=None if is_open else act_before(plan, act_id),
    )


def play(scene: Scene, levers: Mapping[str, Any]) -> Stage:
    """Return the stage of a scene for the levers of the panel.

    A value that the plan does not know is told in `complaint`, and the start values are used.
    """
    complaint = ""
    try:
        values = setting(scene.plan, scene.act, levers)
    except FleetlabError as error:
        values, complaint = scene.plan.start_values(scene.act.id), str(error)
    outcome = run(scene.act, scene.visit, values) if scene.open else None
    return Stage(**vars(scene), levers=values, outcome=outcome, complaint=complaint)


def run(act: Act, visit: Visit, levers: Mapping[str, Any]) -> Any:
    """Return the engine's outcome of an act for these levers, on the visit's job log or seed if any."""
    if visit.log and visit.log.act == act.id:
        return visit.log.scenario.variant(**levers).outcome()
    entry = SCENARIOS[act.scenario]
    settings: dict[str, Any] = dict(act.settings)
    if "seed" in entry.settings and (visit.seed != visit.plan_seed or "seed" not in settings):
        settings["seed"] = visit.seed
    return entry.scenario()(**settings, **levers).outcome()


def saved_work(
    stage: Stage, sealed: Mapping[str, SealedPrediction], levers: Mapping[str, Any], texts: Mapping[str, str]
) -> SavedWork:
    """Return the work as it stands: with what the engine returned, once the act's prediction is sealed.

    What a page sent that does not fit is left out, so that one broken piece does not cost the rest.
    """
    returned = None
    if stage.open:
        outcome = stage.outcome.model_dump(mode="json", exclude={"fleet_map", "through_time"})
        returned = Returned(act=stage.act.id, levers=dict(stage.levers), outcome=outcome)
    return SavedWork(
        lab=stage.visit.lab,
        plan=stage.visit.plan,
        student=stage.visit.student,
        seed=stage.visit.seed,
        log=stage.visit.log.digest if stage.visit.log else "",
        levers={**known_levers(stage.plan, levers), **stage.levers},
        sealed=dict(sealed),
        rationale=fitting(texts),
        returned=returned,
    )
