"""Which view shows which scenario: an act's cards, charts, map and log, read from its outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

import pint

from engine.errors import UnknownName
from engine.missions import Act, MissionPlan
from engine.scenarios.registry import SCENARIOS
from labs.cockpit.charts import Chart
from labs.cockpit.format import Shown

if TYPE_CHECKING:
    from labs.cockpit.formula import Formula
    from labs.cockpit.telemetry import Card

_VIEWS = {
    "fragmentation_audit": "labs.cockpit.view_audit",
    "checkpoint_gamble": "labs.cockpit.view_gamble",
    "elastic_rescale": "labs.cockpit.view_rescale",
}


class View(Protocol):
    """What a zone asks of the view of a scenario. Every function is pure.

    `ANSWER` names, beside a sealed prediction, whose value stands there.
    """

    ANSWER: str

    def shown(self, outcome: Any, value: str) -> Shown:
        """Return a value of the outcome, by the name that plans use, as it is written."""

    def moment(self, outcome: Any) -> str:
        """Return when the crisis comes, in words."""

    def crisis_hours(self, outcome: Any) -> float:
        """Return when the crisis comes, in hours from the opening of the books."""

    def cards(self, outcome: Any, plan: MissionPlan, act: Act) -> Sequence[Card]:
        """Return the ledger cards."""

    def charts(self, outcome: Any) -> Mapping[str, Chart]:
        """Return the charts by name."""

    def big_job(self, outcome: Any) -> str:
        """Return what the map shows in its own colour, such as a job; empty when it has no such thing."""

    def shown_frame(self, outcome: Any) -> int:
        """Return the frame at which the map opens."""

    def occupant(self, outcome: Any, frame: int, gpu: int) -> str:
        """Return who holds a GPU, in words; empty when nobody does."""

    def formula(self, outcome: Any) -> Formula | None:
        """Return the formulas that stand beside the levers; None when the act has none."""


def ready(act: Act) -> bool:
    """Return whether there is an engine behind an act and a view before it."""
    return act.scenario in _VIEWS and SCENARIOS[act.scenario].ready


def view(act: Act) -> View:
    """Return the view of an act.

    Raises
    ------
    UnknownName: if the act's scenario has none.
    """
    if act.scenario not in _VIEWS:
        raise UnknownName("view", act.scenario, list(_VIEWS))
    return cast(View, import_module(_VIEWS[act.scenario]))


def hours(value: pint.Quantity[Any]) -> float:
    """Return a time in hours, for an axis."""
    return float(value.to("h").magnitude)
