"""Zone 3: the four ledger cards, and the captions of the charts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from markupsafe import Markup

from labs.cockpit.charts import Chart
from labs.cockpit.format import Shown
from labs.cockpit.markup import tag
from labs.cockpit.stage import Stage
from labs.cockpit.views import view


class Goal(NamedTuple):
    """A limit on a card's bar: where the value and the limit stand between 0 and 1, and the words."""

    filled: float
    limit: float
    label: str


class Card(NamedTuple):
    """A ledger card: its value as shown and as a number in that unit, which way is better, and a word."""

    name: str
    shown: Shown
    value: float
    places: int | None
    better: Literal["up", "down"]
    aside: str
    goal: Goal | None = None


def cards(stage: Stage) -> Markup:
    """Return the ledger cards of the outcome; nothing before a prediction is sealed."""
    if not stage.open:
        return Markup("")
    found = view(stage.act).cards(stage.outcome, stage.plan, stage.act)
    return tag(
        "div",
        [_card(stage, card) for card in found],
        class_="fl-cards",
    )


def charts(stage: Stage) -> Mapping[str, Chart]:
    """Return the charts of the outcome by name; none before a prediction is sealed."""
    return view(stage.act).charts(stage.outcome) if stage.open else {}


def caption(chart: Chart) -> Markup:
    """Return a chart's title with its unit, its key and what it shows in words."""
    key = [
        tag("li", tag("i", class_=f"fl-line fl-line-{series.style}", aria_hidden="true"), series.name)
        for series in chart.series
    ]
    key += [
        tag("li", tag("i", class_=f"fl-symbol fl-symbol-{points.symbol}", aria_hidden="true"), points.name)
        for points in chart.points
    ]
    return tag(
        "figcaption",
        tag("h2", chart.title, tag("span", chart.unit)),
        tag("ul", key, class_="fl-key-list") if len(key) > 1 else None,
        tag("p", chart.remark, class_="fl-remark"),
        tag("p", chart.alt, class_="fl-sr"),
    )


def _card(stage: Stage, card: Card) -> Markup:
    words, (number, unit) = stage.plan.cards[card.name], card.shown
    delta = tag(
        "span",
        class_="fl-delta",
        data_card=card.name,
        data_act=stage.act.id,
        data_value=f"{card.value!r}",
        data_places="" if card.places is None else card.places,
        data_unit=unit,
        data_shown=str(card.shown),
        data_better=card.better,
    )
    return tag(
        "article",
        tag("h2", words.label),
        tag("p", number, tag("span", f" {unit}", class_="fl-unit"), class_="fl-value"),
        tag("p", card.aside, class_="fl-aside"),
        tag(
            "p",
            delta,
            tag("span", card.goal.label, class_="fl-note") if card.goal else None,
            class_="fl-card-foot",
        ),
        _bar(card.goal) if card.goal else None,
        class_="fl-card",
        data_card=card.name,
        title=words.hint or None,
    )


def _bar(goal: Goal) -> Markup:
    style = f"--fl-filled:{min(1.0, goal.filled):.4f};--fl-limit:{goal.limit:.4f}"
    return tag("i", class_="fl-bar", style=style, aria_hidden="true")
