"""A `Chart` as SVG: for print and exported files, without a script."""

from __future__ import annotations

from markupsafe import Markup

from labs.cockpit.charts import Chart, Series, label_sides
from labs.cockpit.markup import tag
from labs.cockpit.svg_frame import HEIGHT, WIDTH, Frame, at, stroke, text
from labs.cockpit.svg_points import lane, note, points


def svg(chart: Chart) -> Markup:
    """Return the drawing of a chart, with its text alternative."""
    frame = Frame(chart)
    parts = [
        *(() if chart.square else (_grid(frame), _marks(frame))),
        _bars(frame),
        [lane(frame, one) for one in chart.lanes],
        [_line(frame, one) for one in chart.series],
        [points(frame, one) for one in chart.points],
        [note(frame, one) for one in chart.notes],
    ]
    box = f"0 0 {WIDTH:g} {HEIGHT:g}"
    words = f"{chart.title}. {chart.remark} {chart.alt}"
    return tag("svg", parts, viewBox=box, role="img", aria_label=words, class_="fl-svg")


def _grid(frame: Frame) -> list[Markup]:
    chart, parts = frame.chart, []
    for value, label in chart.x.ticks:
        parts += [
            stroke(frame.x(value), frame.top, frame.x(value), frame.bottom, "grid"),
            text(label, frame.x(value), frame.bottom + 13, "middle"),
        ]
    for value, label in chart.y.ticks if chart.y else ():
        parts += [
            stroke(frame.left, frame.y(value), frame.right, frame.y(value), "grid"),
            text(label, frame.left - 5, frame.y(value) + 3.5, "end"),
        ]
    return [*parts, text(chart.x.label, frame.right, HEIGHT - 4, "end")]


def _marks(frame: Frame) -> list[Markup]:
    parts = []
    for band in frame.chart.bands:
        x, width = frame.x(band.low), frame.x(band.high) - frame.x(band.low)
        box = {"x": at(x), "y": at(frame.top), "width": at(width), "height": at(frame.bottom - frame.top)}
        parts.append(tag("rect", class_="fl-svg-band", **box))
    for mark, side in zip(frame.chart.marks, label_sides(frame.chart), strict=True):
        x, kind = frame.x(mark.x), "action" if mark.action else "mark"
        parts += [
            stroke(x, frame.top, x, frame.bottom, kind),
            text(
                mark.label,
                x + (3 if side == "right" else -3),
                frame.top - 4,
                "start" if side == "right" else "end",
            ),
        ]
    for rule in frame.chart.rules:
        y = frame.y(rule.y)
        parts += [
            stroke(frame.left, y, frame.right, y, "rule"),
            text(rule.label, frame.left + 4, y - 4, "start"),
        ]
    return parts


def _bars(frame: Frame) -> list[Markup]:
    parts, number = [], len(frame.chart.bars)
    for row, bar in enumerate(frame.chart.bars):
        y, x = frame.y(number - row - 0.5), frame.x(bar.value)
        kind = "dot" if bar.value else "none"
        parts += [
            stroke(frame.left, y, x, y, "stem"),
            tag("circle", cx=at(x), cy=at(y), r="4", class_=f"fl-svg-{kind}"),
            text(bar.label, frame.left - 8, y + 3.5, "end"),
            text(bar.says, WIDTH, y + 3.5, "end"),
        ]
    return parts


def _line(frame: Frame, series: Series) -> Markup:
    """Return a series as one path that breaks off where a point has no value."""
    path, pen = "", "M"
    for x, y in zip(series.x, series.y, strict=True):
        if x is None or y is None:
            pen = "M"
            continue
        path += f"{pen}{at(frame.x(x))} {at(frame.y(y))}"
        pen = "L"
    return tag("path", d=path, class_=f"fl-svg-line fl-svg-{series.style}")
