"""Charts as data: what a chart says, apart from what draws it, be it plotly or the SVG writer."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from engine.model import Frozen

Style = Literal["strong", "dashed", "big"]
"""How a series is drawn: ink, dashed muted ink, or the big job's colour. Never by colour alone."""


class Axis(Frozen):
    """An axis: what it measures with its unit, from where to where, and the ticks that carry a text."""

    label: str = Field(min_length=1)
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    log: bool = False


class Series(Frozen):
    """A line: a name, x and y of its points (a None interrupts it) and what each point says on hover."""

    name: str
    style: Style
    x: tuple[float, ...]
    y: tuple[float | None, ...]
    says: tuple[str, ...]


class Bar(Frozen):
    """A labelled amount, with its number and unit as it is written beside it."""

    label: str
    value: float = Field(ge=0)
    says: str


class Rule(Frozen):
    """A horizontal line that marks a limit."""

    y: float
    label: str


class Mark(Frozen):
    """A moment: a vertical line with what happened then. An `action` is one of the student's."""

    x: float
    label: str
    action: bool = False


class Band(Frozen):
    """A marked stretch of the x axis."""

    low: float
    high: float
    label: str


class Chart(Frozen):
    """One chart: either lines over two axes or labelled bars over one.

    `remark` says in words what the lines show, so that a flat line does not look like a broken one; `alt` is
    the whole chart in words for those who do not see it.
    """

    name: str
    title: str
    unit: str
    remark: str
    alt: str
    x: Axis
    y: Axis | None = None
    series: tuple[Series, ...] = ()
    bars: tuple[Bar, ...] = ()
    rules: tuple[Rule, ...] = ()
    marks: tuple[Mark, ...] = ()
    bands: tuple[Band, ...] = ()
