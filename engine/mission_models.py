"""What a mission plan says: persona, badges, levers, cards, acts and rubric, as frozen models."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pint
from pydantic import Field, ValidationInfo, field_validator, model_validator

from engine.errors import UnknownName
from engine.mission_levers import ChoiceLever, Lever, Option, RangeLever, SwitchLever
from engine.mission_part import Name, PlanPart, Said, rejected
from engine.units import quantity, si

Comparison = Literal["below", "above", "at_least", "at_most"]
_RULES: dict[Comparison, tuple[str, Any]] = {
    "below": ("<", operator.lt),
    "above": (">", operator.gt),
    "at_least": ("≥", operator.ge),
    "at_most": ("≤", operator.le),
}
Threshold = Annotated[float, Field(strict=True)] | Said
Setting = bool | int | float | str
Count = Annotated[int, Field(ge=1, strict=True)]


class Persona(PlanPart):
    """Whose shoes the student stands in."""

    name: Said
    scale: Said


class Badge(PlanPart):
    """A constraint: a value of an act's outcome, and the limit it is held against.

    The label may say `{rule}`, which becomes for instance `< 20 %`, or `{limit}`: `20 %`.
    """

    value: Name
    below: Threshold | None = None
    above: Threshold | None = None
    at_least: Threshold | None = None
    at_most: Threshold | None = None
    act: Count
    label: Said

    @field_validator("below", "above", "at_least", "at_most")
    @classmethod
    def _is_a_quantity(cls, value: float | str | None) -> float | str | None:
        if value is not None:
            limit = quantity(value, "limit", "a number or a quantity such as '4 h'")
            si(value, f"{limit.units:~C}", "limit", low=0.0)
        return value

    @field_validator("label")
    @classmethod
    def _fill_in(cls, label: str, info: ValidationInfo) -> str:
        given = [name for name in _RULES if info.data.get(name) is not None]
        if len(given) != 1:
            return label  # the next validator refuses it
        limit = _limit_text(info.data[given[0]])
        return label.replace("{rule}", f"{_RULES[given[0]][0]} {limit}").replace("{limit}", limit)

    @model_validator(mode="after")
    def _has_one_limit(self) -> Badge:
        given = [name for name in _RULES if getattr(self, name) is not None]
        if len(given) != 1:
            raise rejected(
                None, f"a badge has exactly one of {', '.join(_RULES)}; this one has {len(given)}."
            )
        return self

    @property
    def comparison(self) -> Comparison:
        """Which of the four limits the badge has."""
        return next(name for name in _RULES if getattr(self, name) is not None)

    @property
    def limit(self) -> pint.Quantity[Any]:
        """The limit as a quantity; a bare number is a share or a count."""
        return quantity(getattr(self, self.comparison), "limit")

    @property
    def limit_text(self) -> str:
        """The limit as the plan writes it."""
        return _limit_text(getattr(self, self.comparison))

    @property
    def rule(self) -> str:
        """The rule in short, for instance `< 20 %`."""
        return f"{_RULES[self.comparison][0]} {self.limit_text}"

    def judge(self, value: Any) -> bool | None:
        """Return whether `value`, a quantity or a number, keeps the limit; None when there is no value.

        Raises
        ------
        InvalidInput: if the value has another dimension than the limit, or is not a number.
        """
        if value is None:
            return None
        unit = f"{self.limit.units:~C}"
        found = si(value, unit, self.label, low=-float("inf"), infinite=True)
        return bool(_RULES[self.comparison][1](found, float(self.limit.magnitude)))


def _limit_text(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


class CardWords(PlanPart):
    """The words of a ledger card."""

    label: Said
    hint: str = ""


class Prediction(PlanPart):
    """What a student commits before the act opens: a question, the value that answers it, units accepted."""

    ask: Said
    value: Name
    units: tuple[Said, ...] = Field(min_length=1)


class Moves(PlanPart):
    """What a lever moves in an act: cards, charts, and whether the map."""

    cards: tuple[Name, ...]
    charts: tuple[Name, ...]
    map: Annotated[bool, Field(strict=True)]

    @model_validator(mode="after")
    def _something(self) -> Moves:
        if not (self.cards or self.charts or self.map):
            raise rejected(None, "this lever moves nothing in the act; leave it out.")
        return self


class Act(PlanPart):
    """One act: a crisis, a prediction, the levers it shows with what they move, badges, facts, a question."""

    id: Name
    number: Said
    title: Said
    minutes: Count
    scenario: Name
    settings: dict[str, Setting]
    crisis: Said
    prediction: Prediction
    levers: dict[str, Moves]
    badges: tuple[Name, ...]
    facts: tuple[Said, ...]
    rationale: Said

    @property
    def sentences(self) -> dict[tuple[str, ...], str]:
        """The texts in which `{words}` of the scenario may stand, by their place in the act."""
        return {
            ("crisis",): self.crisis,
            ("prediction", "ask"): self.prediction.ask,
            ("rationale",): self.rationale,
        }

    def told(self, words: Mapping[str, str]) -> Act:
        """Return the act with the scenario's `words` in its crisis, its question and its rationale."""
        crisis, ask, rationale = (text.format_map(words) for text in self.sentences.values())
        asked = self.prediction.model_copy(update={"ask": ask})
        return self.model_copy(update={"crisis": crisis, "prediction": asked, "rationale": rationale})


class RubricItem(PlanPart):
    """One thing that a rationale is checked for, with its points and the words that a student reads.

    `check` names how: `interval` (the chosen interval is within `tolerance`, a share, of Young's for the job
    that the student had), `mttf` (the fleet's mean time to failure is stated), `tradeoff` (both directions,
    each with its cost) or `optimum` (a square root, a named rule with a number, a zero derivative, or equal
    costs).
    """

    id: Name
    act: Name
    points: Count
    says: Said
    check: Literal["interval", "mttf", "tradeoff", "optimum"]
    tolerance: Annotated[float, Field(gt=0, lt=1, strict=True)] | None = None

    @model_validator(mode="after")
    def _tolerance_where_it_counts(self) -> RubricItem:
        if (self.tolerance is None) == (self.check == "interval"):
            raise rejected(None, "the check 'interval' needs a tolerance, and no other check takes one.")
        return self


class MissionPlan(PlanPart):
    """One lab: everything a student reads and every threshold, from one Markdown file.

    `file` is its name, `digest` the first 16 hex digits of the SHA-256 of its bytes, `body` the Markdown.
    """

    lab: Said
    notebook: Said
    title: Said
    topics: tuple[Said, ...]
    invariant: Said
    struggle: Said
    persona: Persona
    badges: dict[Name, Badge]
    levers: dict[Name, Lever]
    cards: dict[Name, CardWords]
    acts: tuple[Act, ...] = Field(min_length=1)
    rubric: tuple[RubricItem, ...]
    file: str = Field(default="", exclude=True)
    digest: str = Field(default="", exclude=True)
    body: str = Field(default="", exclude=True)

    def act(self, act_id: str) -> Act:
        """Return an act by its id.

        Raises
        ------
        UnknownName: listing the acts of this plan.
        """
        for act in self.acts:
            if act.id == act_id:
                return act
        raise UnknownName("act", act_id, [act.id for act in self.acts])

    def start_values(self, act_id: str) -> dict[str, str | bool]:
        """Return the value at which each lever of an act opens, by the lever's name."""
        return {name: self.levers[name].start for name in self.act(act_id).levers}

    def judged_in(self, badge: str) -> Act:
        """Return the act whose outcome a badge is read from; in another act the badge only says so."""
        return self.acts[self.badges[badge].act - 1]


__all__ = [
    "Act",
    "Badge",
    "CardWords",
    "ChoiceLever",
    "Lever",
    "MissionPlan",
    "Moves",
    "Option",
    "Persona",
    "Prediction",
    "RangeLever",
    "RubricItem",
    "SwitchLever",
]
