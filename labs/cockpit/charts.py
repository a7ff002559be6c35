"""Charts as data: what a chart says, apart from what draws it, be it plotly or the SVG writer."""

from __future__ import annotations

from math import log10
from typing import Literal

from pydantic import Field

from engine.model import Frozen

Style = Literal["strong", "dashed", "big", "faded", "accent", "halo"]
"""How a series is drawn: ink, muted dashes, dots in the big job's colour, dots that fade, the accent, or a
halo behind another line. Never by colour alone."""

Symbol = Literal["dot", "ring", "cross", "here"]
"""How a point is drawn: filled, open, crossed out, or as the place where the student is."""


class Axis(Frozen):
    """An axis: what it measures with its unit, from where to where, and the ticks that carry a text."""

    label: str = Field(min_length=1)
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    log: bool = False


class Series(Frozen):
    """A line: a name, x and y of its points (a None interrupts it), and what they say on hover, if any."""

    name: str
    style: Style
    x: tuple[float | None, ...]
    y: tuple[float | None, ...]
    says: tuple[str, ...] = ()


class Points(Frozen):
    """Points: name, symbol, size in px, x and y, what each says on hover, and how low and high it may be."""

    name: str
    symbol: Symbol
    x: tuple[float, ...]
    y: tuple[float, ...]
    says: tuple[str, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    size: float = 7


class Lane(Frozen):
    """A row of a strip: its place on the y axis, the stretches that it covers, and what they come to."""

    y: float
    kind: Literal["good", "plain", "bad"]
    spans: tuple[tuple[float, float], ...]
    says: str


class Note(Frozen):
    """Words inside the plot, centred on a point."""

    x: float
    y: float
    text: str


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
    """One chart: lines, points and lanes over two axes, or labelled bars over one.

    On a `square` chart x and y have one scale and no axis is drawn, since it shows a shape.
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
    points: tuple[Points, ...] = ()
    lanes: tuple[Lane, ...] = ()
    notes: tuple[Note, ...] = ()
    square: bool = False


def share_of_axis(axis: Axis, value: float) -> float:
    """Return where a value falls on an axis: 0 at its low end, 1 at its high end, and never beyond."""
    low, high = axis.low, axis.high
    if axis.log:
        low, high, value = log10(low), log10(high), log10(max(value, low))
    return min(1.0, max(0.0, (value - low) / (high - low)))


def label_sides(chart: Chart) -> list[Literal["left", "right"]]:
    """Return to which side of its line the label of each mark grows: the last one right, the others left.

    Where that would leave the plot, a label grows the other way.
    """
    if not chart.marks:
        return []
    last = max(mark.x for mark in chart.marks)
    places = [(share_of_axis(chart.x, mark.x), mark.x == last) for mark in chart.marks]
    return ["right" if at < 0.12 or (is_last and at < 0.8) else "left" for at, is_last in places]
