"""The formula panel beside the levers: how the act's numbers come about, with those of the setting."""

from __future__ import annotations

from typing import NamedTuple

from markupsafe import Markup

from labs.cockpit.markup import tag
from labs.cockpit.stage import Stage
from labs.cockpit.views import view


class Term(NamedTuple):
    """One line: what is computed, by which formula, and what comes out."""

    label: str
    formula: str
    value: str


class Formula(NamedTuple):
    """A heading, what the letters stand for, and the lines."""

    heading: str
    letters: str
    terms: tuple[Term, ...]


def formula_panel(stage: Stage) -> Markup:
    """Return the act's formulas with their numbers; nothing before a prediction is sealed, or without any."""
    found = view(stage.act).formula(stage.outcome) if stage.open else None
    if found is None:
        return Markup("")
    rows = [
        tag(
            "div",
            tag("dt", term.label),
            tag("dd", term.value, class_="fl-result"),
            tag("dd", term.formula, class_="fl-maths") if term.formula else None,
        )
        for term in found.terms
    ]
    letters = tag("p", found.letters, class_="fl-hint") if found.letters else None
    return tag("div", tag("h2", found.heading), tag("dl", rows), letters, class_="fl-formula")
