"""Points, lanes and words of a `Chart` as SVG."""

from __future__ import annotations

from markupsafe import Markup

from labs.cockpit.charts import Lane, Note, Points
from labs.cockpit.markup import tag
from labs.cockpit.svg_frame import WIDTH, Frame, at, stroke, text

_LANE = 0.62
"""The share of a row's height that a lane fills."""


def points(frame: Frame, series: Points) -> list[Markup]:
    """Return the symbols of a series of points, behind them the bars of how low and how high each may be."""
    places = [(frame.x(x), frame.y(y)) for x, y in zip(series.x, series.y, strict=True)]
    bars = [
        stroke(x, frame.y(low), x, frame.y(high), "span")
        for (x, _), low, high in zip(places, series.low, series.high, strict=False)
    ]
    return [*bars, *(_symbol(series, x, y, said) for (x, y), said in zip(places, series.says, strict=True))]


def lane(frame: Frame, row: Lane) -> list[Markup]:
    """Return the stretches of a lane as one path, and what they come to at its end."""
    top, bottom = frame.y(row.y + _LANE / 2), frame.y(row.y - _LANE / 2)
    path = "".join(
        f"M{at(frame.x(low))} {at(top)}H{at(frame.x(high))}V{at(bottom)}H{at(frame.x(low))}Z"
        for low, high in row.spans
    )
    total = text(row.says, WIDTH, frame.y(row.y) + 3.5, "end")
    return [tag("path", d=path, class_=f"fl-svg-lane fl-svg-{row.kind}"), total]


def note(frame: Frame, words: Note) -> Markup:
    """Return words that are centred on a point."""
    return text(words.text, frame.x(words.x), frame.y(words.y) + 3.5, "middle")


def _symbol(series: Points, x: float, y: float, said: str) -> Markup:
    half = series.size / 2
    kind = f"fl-svg-point fl-svg-{series.symbol}"
    title = tag("title", said)
    if series.symbol == "cross":
        left, right, top, bottom = at(x - half), at(x + half), at(y - half), at(y + half)
        d = f"M{left} {top}L{right} {bottom}M{right} {top}L{left} {bottom}"
        return tag("g", title, tag("path", d=d, class_=kind))
    return tag("g", title, tag("circle", cx=at(x), cy=at(y), r=f"{half:g}", class_=kind))
