"""Points, lanes and words of a `Chart` as parts of a plotly figure."""

from __future__ import annotations

from typing import Any

from labs.cockpit.charts import Lane, Note, Points
from labs.cockpit.plotly_colours import ACCENT, BAD, BIG, CLEAR, GOOD, INK, MUTED

_LANE = 0.62
"""The share of a row's height that a lane fills."""
_LANES = {"good": GOOD, "plain": BIG, "bad": BAD}
_SYMBOLS: dict[str, dict[str, Any]] = {
    "dot": {"symbol": "circle", "color": INK, "line": {"width": 0}},
    "ring": {"symbol": "circle", "color": CLEAR, "line": {"width": 1.75, "color": INK}},
    "cross": {"symbol": "x-thin", "color": BAD, "line": {"width": 2.25, "color": BAD}},
    "here": {"symbol": "circle", "color": ACCENT, "line": {"width": 0}},
}


def point_trace(series: Points) -> dict[str, Any]:
    """Return the trace of a series of points, with bars where it is known how low and high each may be."""
    trace = {
        "type": "scatter",
        "mode": "markers",
        "name": series.name,
        "x": series.x,
        "y": series.y,
        "text": series.says,
        "hovertemplate": "%{text}<extra></extra>",
        "marker": _SYMBOLS[series.symbol] | {"size": series.size, "opacity": 1},
        "cliponaxis": False,
    }
    if not series.low:
        return trace
    up = [high - y for y, high in zip(series.y, series.high, strict=True)]
    down = [y - low for y, low in zip(series.y, series.low, strict=True)]
    bars = {"type": "data", "symmetric": False, "array": up, "arrayminus": down}
    return trace | {"error_y": bars | {"color": MUTED, "thickness": 1.25, "width": 3}}


def lane_trace(row: Lane) -> dict[str, Any]:
    """Return the stretches of a lane as one filled outline: one path, however many there are.

    Nothing is simplified: stretches narrower than a pixel must add up to a tint, not vanish.
    """
    top, bottom = row.y + _LANE / 2, row.y - _LANE / 2
    return {
        "type": "scatter",
        "mode": "lines",
        "fill": "toself",
        "fillcolor": _LANES[row.kind],
        "line": {"width": 0, "simplify": False},
        "hoverinfo": "skip",
        "x": [x for low, high in row.spans for x in (low, high, high, low, low, None)],
        "y": [y for _ in row.spans for y in (bottom, bottom, top, top, bottom, None)],
    }


def lane_totals(rows: tuple[Lane, ...]) -> list[dict[str, Any]]:
    """Return what the stretches of each lane come to, beside the plot."""
    place = {"x": 1, "xref": "paper", "xshift": 8, "xanchor": "left", "yref": "y", "showarrow": False}
    return [place | {"text": f"<b>{row.says}</b>", "y": row.y, "font": {"size": 11}} for row in rows]


def note(words: Note) -> dict[str, Any]:
    """Return words that are centred on a point."""
    place = {"x": words.x, "y": words.y, "xref": "x", "yref": "y", "showarrow": False}
    return place | {"text": words.text, "font": {"size": 11}}
