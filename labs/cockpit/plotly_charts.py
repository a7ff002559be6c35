"""A `Chart` as a plotly figure."""

from __future__ import annotations

from math import log10
from typing import Any

import plotly.graph_objects as go  # type: ignore[import-untyped]

from labs.cockpit.charts import Axis, Bar, Chart, Rule, Series, label_sides
from labs.cockpit.plotly_colours import ACCENT, BIG, CLEAR, INK, MUTED, SHADE
from labs.cockpit.plotly_points import lane_totals, lane_trace, note, point_trace

CONFIG = {"displayModeBar": False, "responsive": True, "scrollZoom": False, "doubleClick": False}
"""No mode bar and no zoom: a chart is read, not edited."""

_NUMBERS_PX = 96
"""Room on the right of the stems for their numbers."""
_TOTALS_PX = 52
"""Room on the right of lanes for their totals."""
_LAST_TICK_PX = 14
"""Room on the right for half the label of a tick at the end of the axis, which plotly hides without it."""
_STYLES: dict[str, dict[str, Any]] = {
    "strong": {"color": INK, "width": 2},
    "dashed": {"color": MUTED, "width": 1.75, "dash": "5px,3px"},
    "big": {"color": BIG, "width": 2.5, "dash": "1.5px,2.5px"},
    "faded": {"color": MUTED, "width": 1.25, "dash": "2px,4px"},
    "accent": {"color": ACCENT, "width": 3},
    "halo": {"color": ACCENT, "width": 10},
}
_OPACITY = {"faded": 0.7, "halo": 0.28}
_PLAIN = {"fixedrange": True, "zeroline": False, "ticks": "", "automargin": True}


class FittedFigure(go.Figure):  # type: ignore[misc]
    """A figure that fills its frame: marimo draws one without a height at 540 px, of height null to fit."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figure as plotly's dictionary, with a height of None."""
        content: dict[str, Any] = super().to_dict()
        return content | {"layout": content["layout"] | {"height": None}}


def figure(chart: Chart) -> FittedFigure:
    """Return the figure of a chart: dots on stems when it has bars, else lines."""
    layout = {
        "autosize": True,
        "margin": {"l": 4, "r": _right(chart), "t": 4 if chart.square else 16, "b": 4},
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "showlegend": False,
        "dragmode": False,
        "hovermode": "x unified" if chart.series and not chart.points else "closest",
        "hoverlabel": {"font": {"size": 12}},
        "font": {"size": 11},
        "uirevision": chart.name,
        "xaxis": _axis(chart.x),
        "yaxis": _axis(chart.y, titled=False) if chart.y else _names(chart.bars),
        "shapes": _shapes(chart),
        "annotations": [
            *_above(chart),
            *_numbers(chart.bars),
            *lane_totals(chart.lanes),
            *map(_rule_label, chart.rules),
            *map(note, chart.notes),
        ],
    }
    if chart.square:
        layout |= _one_scale(chart)
    return FittedFigure({"data": _traces(chart), "layout": layout})


def _traces(chart: Chart) -> list[dict[str, Any]]:
    if chart.bars:
        return _dots(chart)
    return [*map(lane_trace, chart.lanes), *map(_line, chart.series), *map(point_trace, chart.points)]


def _right(chart: Chart) -> int:
    return _NUMBERS_PX if chart.bars else _TOTALS_PX if chart.lanes else _LAST_TICK_PX


def _one_scale(chart: Chart) -> dict[str, Any]:
    """Return axes that are not drawn and have one scale, for a chart that shows a shape."""
    assert chart.y is not None
    hidden = {"visible": False, "fixedrange": True, "constrain": "domain"}
    return {
        "xaxis": hidden | {"range": [chart.x.low, chart.x.high]},
        "yaxis": hidden | {"range": [chart.y.low, chart.y.high], "scaleanchor": "x"},
    }


def _line(series: Series) -> dict[str, Any]:
    said = {"text": series.says, "hovertemplate": "%{text}<extra></extra>"}
    return (said if series.says else {"hoverinfo": "skip"}) | {
        "type": "scatter",
        "mode": "lines",
        "name": series.name,
        "x": series.x,
        "y": series.y,
        "line": _STYLES[series.style],
        "opacity": _OPACITY.get(series.style, 1),
        "connectgaps": False,
        "cliponaxis": False,
    }


def _dots(chart: Chart) -> list[dict[str, Any]]:
    """Return a stem and a dot for each bar: on a logarithmic axis the length of a bar means nothing."""
    low, names = chart.x.low, [bar.label for bar in chart.bars]
    values = [max(low, bar.value) for bar in chart.bars]
    shared = {"type": "scatter", "cliponaxis": False}
    stems = shared | {
        "mode": "lines",
        "hoverinfo": "skip",
        "line": {"color": MUTED, "width": 1.5},
        "x": [x for value in values for x in (low, value, None)],
        "y": [y for name in names for y in (name, name, None)],
    }
    dots = shared | {
        "mode": "markers",
        "hoverinfo": "text",
        "hovertext": [f"{bar.label}: {bar.says}" for bar in chart.bars],
        "marker": {
            "size": 9,
            "color": [INK if bar.value else CLEAR for bar in chart.bars],
            "line": {"width": 1.5, "color": INK},
        },
        "x": values,
        "y": names,
    }
    return [stems, dots]


def _axis(axis: Axis, *, titled: bool = True) -> dict[str, Any]:
    return _PLAIN | {
        "type": "log" if axis.log else "linear",
        "range": [log10(axis.low), log10(axis.high)] if axis.log else [axis.low, axis.high],
        "tickvals": [at for at, _ in axis.ticks],
        "ticktext": [text for _, text in axis.ticks],
        "tickangle": 0,
        "ticklabelstandoff": 4,
        "title": {"text": axis.label if titled else "", "standoff": 4, "font": {"size": 11}},
    }


def _names(bars: tuple[Bar, ...]) -> dict[str, Any]:
    return _PLAIN | {
        "type": "category",
        "showgrid": False,
        "ticklabelstandoff": 9,
        "categoryorder": "array",
        "categoryarray": [bar.label for bar in reversed(bars)],
        "range": [-0.6, len(bars) - 0.4],
    }


def _shapes(chart: Chart) -> list[dict[str, Any]]:
    upright = {"xref": "x", "yref": "paper", "y0": 0, "y1": 1}
    bands = [
        upright
        | {"type": "rect", "x0": band.low, "x1": band.high, "layer": "below", "fillcolor": SHADE}
        | {"line": {"width": 0}}
        for band in chart.bands
    ]
    marks = [
        upright
        | {"type": "line", "x0": mark.x, "x1": mark.x}
        | {"line": {"color": ACCENT if mark.action else MUTED, "width": 1.5 if mark.action else 1}}
        for mark in chart.marks
    ]
    rules = [
        {"type": "line", "xref": "paper", "yref": "y", "x0": 0, "x1": 1, "y0": rule.y, "y1": rule.y}
        | {"line": {"color": MUTED, "width": 1, "dash": "dash"}}
        for rule in chart.rules
    ]
    return [*bands, *marks, *rules]


def _note(text: str, *, strong: bool = False, **place: Any) -> dict[str, Any]:
    return {"text": f"<b>{text}</b>" if strong else text, "showarrow": False, "font": {"size": 11}} | place


def _above(chart: Chart) -> list[dict[str, Any]]:
    """Return the labels of marks above the plot."""
    return [
        _note(
            mark.label,
            strong=mark.action,
            x=log10(mark.x) if chart.x.log else mark.x,  # an annotation, unlike a shape, counts in decades
            xref="x",
            xanchor="left" if side == "right" else "right",
            y=1,
            yref="paper",
            yanchor="bottom",
        )
        for mark, side in zip(chart.marks, label_sides(chart), strict=True)
    ]


def _numbers(bars: tuple[Bar, ...]) -> list[dict[str, Any]]:
    return [
        _note(bar.says, strong=True, x=1, xref="paper", xshift=8, xanchor="left", y=bar.label, yref="y")
        for bar in bars
    ]


def _rule_label(rule: Rule) -> dict[str, Any]:
    return _note(rule.label, x=0, xref="paper", xanchor="left", y=rule.y, yref="y", yanchor="bottom")
