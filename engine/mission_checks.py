"""What a mission plan must keep beyond its shape: every name it uses is one that the engine offers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import Formatter
from typing import Any

import pint

from engine.errors import FleetlabError, UnknownName
from engine.facts import fact
from engine.mission_models import Act, MissionPlan
from engine.mission_yaml import FrontMatter, Path
from engine.scenarios.registry import SCENARIOS, ScenarioEntry
from engine.units import Quantity, quantity


def check(plan: MissionPlan, text: FrontMatter) -> None:
    """Check every reference of a plan.

    Raises
    ------
    PlanError: naming file and line of the first that leads nowhere.
    """
    _unique(text, ("acts",), [act.id for act in plan.acts], "act")
    _unique(text, ("rubric",), [item.id for item in plan.rubric], "rubric item")
    if not re.fullmatch(r"\d\d", plan.lab):
        raise text.problem(("lab",), f"the lab {plan.lab!r} is not a number of two digits, in quotes.")
    if not re.fullmatch(rf"{plan.lab}_[a-z0-9_]+", plan.notebook):
        said = f"the notebook {plan.notebook!r} is not a name such as {plan.lab}_fleet_orch."
        raise text.problem(("notebook",), said)
    for number, act in enumerate(plan.acts):
        _ActCheck(plan, text, act, ("acts", number)).run()
    for name, badge in plan.badges.items():
        _check_badge(plan, text, name, badge.act)
    for number, item in enumerate(plan.rubric):
        _known(text, ("rubric", number, "act"), "act", item.act, [act.id for act in plan.acts])


def _check_badge(plan: MissionPlan, text: FrontMatter, name: str, act_number: int) -> None:
    badge, path = plan.badges[name], ("badges", name)
    if act_number > len(plan.acts):
        raise text.problem((*path, "act"), f"there is no act {act_number}; the plan has {len(plan.acts)}.")
    values = SCENARIOS[plan.acts[act_number - 1].scenario].values
    if badge.value not in values:
        said = f"no outcome of act {act_number} computes {badge.value!r}; it computes {', '.join(values)}."
        raise text.problem((*path, "value"), said)
    unit = values[badge.value].unit
    if not _fits(badge.limit, unit):
        said = f"{badge.limit_text} is not in a unit of {badge.value}, such as {unit or 'a bare number'}."
        raise text.problem((*path, badge.comparison), said)


class _ActCheck:
    """The checks of one act."""

    def __init__(self, plan: MissionPlan, text: FrontMatter, act: Act, path: Path) -> None:
        self.plan, self.text, self.act, self.path = plan, text, act, path
        self.known("scenario", "scenario", act.scenario, SCENARIOS)
        self.entry: ScenarioEntry = SCENARIOS[act.scenario]

    def run(self) -> None:
        self.prediction()
        self.levers()
        self.badges_and_facts()
        self.sentences()
        for key in self.act.settings:
            self.known(("settings", key), "setting of this scenario", key, self.entry.settings)
        if self.entry.ready:
            self.accepted_by_the_scenario()

    def known(self, part: str | Path, kind: str, name: str, names: Iterable[str]) -> None:
        path = (part,) if isinstance(part, str) else part
        _known(self.text, (*self.path, *path), kind, name, list(names))

    def prediction(self) -> None:
        asked = self.act.prediction
        self.known(("prediction", "value"), "value of this scenario", asked.value, self.entry.values)
        for number, unit in enumerate(asked.units):
            if not _fits(_unit(unit), self.entry.values[asked.value].unit):
                place = (*self.path, "prediction", "units", number)
                raise self.text.problem(place, f"{unit!r} is not a unit of {asked.value}.")

    def levers(self) -> None:
        for name, moves in self.act.levers.items():
            place = ("levers", name)
            self.known(place, "lever of the plan", name, self.plan.levers)
            self.known(place, "lever of this scenario", name, self.entry.levers)
            for card in moves.cards:
                self.known((*place, "cards"), "card of the plan", card, self.plan.cards)
                self.known((*place, "cards"), "card of this scenario", card, self.entry.cards)
            for chart in moves.charts:
                self.known((*place, "charts"), "chart of this scenario", chart, self.entry.charts)

    def badges_and_facts(self) -> None:
        for number, badge in enumerate(self.act.badges):
            self.known(("badges", number), "badge of the plan", badge, self.plan.badges)
        for number, name in enumerate(self.act.facts):
            try:
                fact(name)
            except UnknownName as error:
                raise self.text.problem((*self.path, "facts", number), error.message, error.hint) from error

    def sentences(self) -> None:
        for place, sentence in self.act.sentences.items():
            try:
                parts = list(Formatter().parse(sentence))
            except ValueError as error:
                raise self.text.problem((*self.path, *place), "a brace { or } has no partner.") from error
            for _, word, form, conversion in parts:
                if word is not None:
                    asked = word + (f"!{conversion}" if conversion else "") + (f":{form}" if form else "")
                    self.known(place, "word of this scenario", asked, self.entry.words)

    def accepted_by_the_scenario(self) -> None:
        """Build the scenario with every value of every lever, so that a student cannot meet a refusal."""
        scenario = self.entry.scenario()
        settings: dict[str, object] = dict(self.act.settings)
        self.build(scenario, settings, ("settings",))
        for name in self.act.levers:
            for value in self.plan.levers[name].values:
                self.build(scenario, settings | {name: value}, (name,))

    def build(self, scenario: type[Any], values: dict[str, object], place: Path) -> None:
        try:
            scenario(**values)
        except FleetlabError as error:
            where = (*self.path, *place) if place == ("settings",) else ("levers", *place)
            raise self.text.problem(where, f"the scenario refuses it: {error.message}") from error


def _known(text: FrontMatter, path: Path, kind: str, name: str, names: list[str]) -> None:
    if name not in names:
        raise text.problem(path, f"there is no {kind} {name!r}; known: {', '.join(sorted(names)) or 'none'}.")


def _unique(text: FrontMatter, path: Path, ids: list[str], kind: str) -> None:
    for number, name in enumerate(ids):
        if name in ids[:number]:
            raise text.problem((*path, number, "id"), f"there are two {kind}s {name!r}.")


def _unit(name: str) -> pint.Quantity[Any] | None:
    try:
        return Quantity(1, name)
    except Exception:  # whatever pint raises for a text that is no unit
        return None


def _fits(found: pint.Quantity[Any] | None, unit: str) -> bool:
    return found is not None and bool(found.check(quantity((1, unit)).dimensionality))
