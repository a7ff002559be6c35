"""A `Chart` as SVG: for print and exported files, without a script."""

from __future__ import annotations

from math import log10

from markupsafe import Markup

from labs.cockpit.charts import Axis, Chart, Series
from labs.cockpit.markup import tag

WIDTH, HEIGHT = 340.0, 200.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 40.0, 10.0, 16.0, 34.0
_NAMES, _NUMBERS = 84.0, 92.0


class _Frame:
    """Where the plot is, and where a value falls in it."""

    def __init__(self, chart: Chart) -> None:
        self.left, self.right = (_NAMES, WIDTH - _NUMBERS) if chart.bars else (_LEFT, WIDTH - _RIGHT)
        self.top, self.bottom = _TOP, HEIGHT - _BOTTOM
        self.chart = chart

    def x(self, value: float) -> float:
        return self.left + _share(self.chart.x, value) * (self.right - self.left)

    def y(self, value: float) -> float:
        axis = self.chart.y or Axis(label="rows", low=0, high=len(self.chart.bars), ticks=())
        return self.bottom - _share(axis, value) * (self.bottom - self.top)


def svg(chart: Chart) -> Markup:
    """Return the drawing of a chart, with its text alternative."""
    frame = _Frame(chart)
    parts = [_grid(frame), _marks(frame), _bars(frame), *(_line(frame, series) for series in chart.series)]
    box = f"0 0 {WIDTH:g} {HEIGHT:g}"
    return tag("svg", parts, viewBox=box, role="img", aria_label=f"{chart.title}. {chart.remark} {chart.alt}", class_="fl-svg")


def _share(axis: Axis, value: float) -> float:
    low, high = axis.low, axis.high
    if axis.log:
        low, high, value = log10(low), log10(high), log10(max(value, low))
    return min(1.0, max(0.0, (value - low) / (high - low)))


def _at(value: float) -> str:
    return f"{value:.1f}"


def _text(words: str, x: float, y: float, anchor: str) -> Markup:
    return tag("text", words, x=_at(x), y=_at(y), text_anchor=anchor)


def _rule(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    return tag("path", d=f"M{_at(x1)} {_at(y1)}L{_at(x2)} {_at(y2)}", class_=f"fl-svg-{kind}")


def _grid(frame: _Frame) -> list[Markup]:
    chart, parts = frame.chart, []
    for value, label in chart.x.ticks:
        parts += [
            _rule(frame.x(value), frame.top, frame.x(value), frame.bottom, "grid"),
            _text(label, frame.x(value), frame.bottom + 13, "middle"),
        ]
    for value, label in chart.y.ticks if chart.y else ():
        parts += [
            _rule(frame.left, frame.y(value), frame.right, frame.y(value), "grid"),
            _text(label, frame.left - 5, frame.y(value) + 3.5, "end"),
        ]
    return [*parts, _text(chart.x.label, frame.right, HEIGHT - 4, "end")]


def _marks(frame: _Frame) -> list[Markup]:
    parts = []
    for band in frame.chart.bands:
        x, width = frame.x(band.low), frame.x(band.high) - frame.x(band.low)
        parts.append(tag("rect", x=_at(x), y=_at(frame.top), width=_at(width), height=_at(frame.bottom - frame.top),
                         class_="fl-svg-band"))  # fmt: skip
    for number, mark in enumerate(frame.chart.marks):
        x, kind = frame.x(mark.x), "action" if mark.action else "mark"
        parts += [
            _rule(x, frame.top, x, frame.bottom, kind),
            _text(mark.label, x, frame.top - 4, "end" if number else "start"),
        ]
    for rule in frame.chart.rules:
        y = frame.y(rule.y)
        parts += [_rule(frame.left, y, frame.right, y, "rule"), _text(rule.label, frame.left + 4, y - 4, "start")]
    return parts


def _bars(frame: _Frame) -> list[Markup]:
    parts, number = [], len(frame.chart.bars)
    for row, bar in enumerate(frame.chart.bars):
        y, x = frame.y(number - row - 0.5), frame.x(bar.value)
        kind = "dot" if bar.value else "none"
        parts += [
            _rule(frame.left, y, x, y, "stem"),
            tag("circle", cx=_at(x), cy=_at(y), r="4", class_=f"fl-svg-{kind}"),
            _text(bar.label, frame.left - 8, y + 3.5, "end"),
            _text(bar.says, WIDTH, y + 3.5, "end"),
        ]
    return parts


def _line(frame: _Frame, series: Series) -> Markup:
    """Return a series as one path that breaks off where a point has no value."""
    path, pen = "", "M"
    for x, y in zip(series.x, series.y, strict=True):
        if y is None:
            pen = "M"
            continue
        path += f"{pen}{_at(frame.x(x))} {_at(frame.y(y))}"
        pen = "L"
    return tag("path", d=path, class_=f"fl-svg-line fl-svg-{series.style}")
