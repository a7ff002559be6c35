"""The widgets of the cockpit: each is a script of `assets/`, markup from a zone, and a few traits.

Nothing of an outcome is in a trait before the act's prediction is sealed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import anywidget
import traitlets

from engine.errors import FleetlabError
from engine.missions import MissionPlan
from labs.cockpit.brief import prediction_form
from labs.cockpit.fleet_map import fleet_panel, picture
from labs.cockpit.header import act_tabs
from labs.cockpit.levers import lever_panel
from labs.cockpit.modules import module
from labs.cockpit.own_log import log_choice
from labs.cockpit.rationale import rationale_box, work_strip
from labs.cockpit.saved import SavedWork, SealedPrediction, opened, seal, sendable
from labs.cockpit.session import Visit
from labs.cockpit.stage import Scene, Stage
from labs.cockpit.telemetry import cards
from labs.cockpit.views import view


class ActTabs(anywidget.AnyWidget):
    """The tab bar: `act` is the chosen act, `opened` are those that may be played.

    The page sends `opened` back as `seen`, so that the chosen act is set on stage again when it opens.
    """

    _esm = module("acts.js")
    html = traitlets.Unicode().tag(sync=True)
    act = traitlets.Unicode().tag(sync=True)
    opened: traitlets.List[str] = traitlets.List(traitlets.Unicode()).tag(sync=True)
    seen: traitlets.List[str] = traitlets.List(traitlets.Unicode()).tag(sync=True)
    home = traitlets.Unicode().tag(sync=True)

    def __init__(self, plan: MissionPlan, visit: Visit) -> None:
        first = plan.acts[0].id
        super().__init__(html=str(act_tabs(plan)), act=first, opened=[first], seen=[first], home=visit.home)

    def unlock(self, acts: Sequence[str]) -> None:
        """Open these acts, and no others."""
        self.opened = list(acts)

    def opened_acts(self) -> list[str]:
        """Return the acts that may be played."""
        return list(self.opened)


class LeverPanel(anywidget.AnyWidget):
    """All levers of an act; `values` is their setting."""

    _esm = module("levers.js")
    html = traitlets.Unicode().tag(sync=True)
    values = traitlets.Dict().tag(sync=True)
    unlocked = traitlets.Bool(False).tag(sync=True)
    home = traitlets.Unicode().tag(sync=True)

    def __init__(self, plan: MissionPlan, visit: Visit) -> None:
        first = plan.acts[0]
        super().__init__(
            html=str(lever_panel(plan, first)), values=plan.start_values(first.id), home=visit.home
        )

    def show(self, scene: Scene) -> None:
        """Show the levers of the scene's act; they can be moved once its prediction is sealed."""
        self.html, self.unlocked = str(lever_panel(scene.plan, scene.act)), scene.open


class PredictionForm(anywidget.AnyWidget):
    """The prediction of each act. What the page offers is checked, and sealed once."""

    _esm = module("prediction.js")
    html = traitlets.Unicode().tag(sync=True)
    offers: traitlets.List[Any] = traitlets.List().tag(sync=True)
    sealed = traitlets.Dict().tag(sync=True)
    complaint = traitlets.Unicode().tag(sync=True)
    home = traitlets.Unicode().tag(sync=True)

    def __init__(self, plan: MissionPlan, visit: Visit) -> None:
        self._plan = plan
        super().__init__(home=visit.home)

    @traitlets.observe("offers")
    def _check(self, change: Mapping[str, Any]) -> None:
        for offer in change["new"]:
            try:
                prediction = seal(self._plan, offer)
            except FleetlabError as error:
                self.complaint = sendable(str(error))
                continue
            if prediction.act not in self.sealed:
                self.complaint = ""
                self.sealed = {**self.sealed, prediction.act: prediction.model_dump(mode="json")}

    def predictions(self) -> dict[str, SealedPrediction]:
        """Return the sealed predictions by act."""
        return {act: SealedPrediction.read(one) for act, one in self.sealed.items()}

    def show(self, scene: Scene) -> None:
        """Ask for the prediction of the scene's act, unless it is sealed."""
        self.html = str(prediction_form(scene))


class JobLogButton(anywidget.AnyWidget):
    """The button that opens a job log; `chosen` is the file's name and text, or empty for the students."""

    _esm = module("own_log.js")
    html = traitlets.Unicode().tag(sync=True)
    chosen = traitlets.Dict().tag(sync=True)

    def show(self, scene: Scene) -> None:
        """Offer a log to the scene's act, and say what was read or refused."""
        self.html = str(log_choice(scene.act, scene.visit.log, scene.visit.log_complaint))


class Cards(anywidget.AnyWidget):
    """The ledger cards, with what changed since the last setting."""

    _esm = module("cards.js")
    html = traitlets.Unicode().tag(sync=True)

    def show(self, stage: Stage) -> None:
        """Show the cards of the stage's outcome."""
        self.html = str(cards(stage))


class FleetMap(anywidget.AnyWidget):
    """The map; a new setting is one change of one trait, so that no paint mixes two settings."""

    _esm = module("heatmap.js")
    html = traitlets.Unicode().tag(sync=True)
    picture = traitlets.Dict().tag(sync=True)
    ask = traitlets.Dict().tag(sync=True)
    answer = traitlets.Dict().tag(sync=True)

    def __init__(self) -> None:
        self._stage: Stage | None = None
        self._epoch = 0
        super().__init__()

    def show(self, stage: Stage) -> None:
        """Show the map of the stage's outcome."""
        self._stage, self._epoch = stage, self._epoch + 1
        self.html = str(fleet_panel(stage))
        self.picture = picture(stage, self._epoch)

    @traitlets.observe("ask")
    def _tell(self, change: Mapping[str, Any]) -> None:
        """Answer who holds a GPU, if the question is about the setting that is shown."""
        ask, stage = change["new"], self._stage
        if stage is None or not stage.open or ask.get("epoch") != self._epoch:
            return
        fleet = stage.outcome.fleet_map
        frame, gpu = ask.get("frame"), ask.get("gpu")
        known = isinstance(frame, int) and 0 <= frame < len(fleet.labels) and isinstance(gpu, int)
        if known and 0 <= gpu < fleet.shape.nodes * fleet.shape.gpus_per_node:
            self.answer = {
                "serial": ask["serial"],
                "sentence": view(stage.act).occupant(stage.outcome, frame, gpu),
            }


class Rationale(anywidget.AnyWidget):
    """The rationale box; `texts` holds one text an act, `sealed` is whether the act's prediction is."""

    _esm = module("rationale.js")
    html = traitlets.Unicode().tag(sync=True)
    act = traitlets.Unicode().tag(sync=True)
    sealed = traitlets.Bool(False).tag(sync=True)
    texts = traitlets.Dict().tag(sync=True)
    home = traitlets.Unicode().tag(sync=True)

    def __init__(self, plan: MissionPlan, visit: Visit) -> None:
        super().__init__(act=plan.acts[0].id, home=visit.home)

    def show(self, scene: Scene) -> None:
        """Ask the question of the scene's act."""
        self.act, self.sealed = scene.act.id, scene.sealed is not None
        self.html = str(rationale_box(scene))


class Work(anywidget.AnyWidget):
    """Save, open, start fresh. `record` is what is saved; the page adds what was typed since.

    `accepts` says which lever values and which units of a prediction the plan knows.
    """

    _esm = module("work.js")
    html = traitlets.Unicode().tag(sync=True)
    record = traitlets.Dict().tag(sync=True)
    accepts = traitlets.Dict().tag(sync=True)
    opened = traitlets.Dict().tag(sync=True)
    answer = traitlets.Dict().tag(sync=True)
    home = traitlets.Unicode().tag(sync=True)

    def __init__(self, plan: MissionPlan, visit: Visit) -> None:
        self._plan, self._visit = plan, visit
        accepts = {
            "levers": {name: list(lever.values) for name, lever in plan.levers.items()},
            "units": {act.id: list(act.prediction.units) for act in plan.acts},
        }
        super().__init__(html=str(work_strip()), home=visit.home, accepts=accepts)

    def show(self, work: SavedWork) -> None:
        """Keep `work` ready to be saved."""
        self.record = work.model_dump(mode="json")

    @traitlets.observe("opened")
    def _read(self, change: Mapping[str, Any]) -> None:
        file = change["new"]
        try:
            work, sentence = opened(self._plan, self._visit, str(file.get("name")), str(file.get("text")))
        except FleetlabError as error:
            self.answer = {"serial": file.get("serial"), "sentence": sendable(str(error)), "pieces": None}
            return
        kept = work.model_dump(mode="json", include={"levers", "sealed", "rationale"})
        self.answer = {"serial": file.get("serial"), "sentence": sendable(sentence), "pieces": kept}
