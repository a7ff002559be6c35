"""A `Chart` as a plotly figure."""

from __future__ import annotations

from math import log10
from typing import Any

import plotly.graph_objects as go

from labs.cockpit.charts import Axis, Bar, Chart, Mark, Rule, Series

CONFIG = {"displayModeBar": False, "responsive": True, "scrollZoom": False, "doubleClick": False}
"""No mode bar and no zoom: a chart is read, not edited."""

# Names more than colours: the sheet turns each into its token, so that dark mode and print are one sheet.
_INK, _MUTED, _BIG, _ACCENT = "rgb(20,32,43)", "rgb(82,96,108)", "rgb(30,67,128)", "rgb(29,91,184)"
_CLEAR, _SHADE = "rgba(0,0,0,0)", "rgba(125,138,149,.14)"
_NUMBERS_PX = 96
"""Room on the right of the stems for their numbers."""
_STYLES: dict[str, dict[str, Any]] = {
    "strong": {"color": _INK, "width": 2},
    "dashed": {"color": _MUTED, "width": 1.75, "dash": "5px,3px"},
    "big": {"color": _BIG, "width": 2.5, "dash": "1.5px,2.5px"},
}
_PLAIN = {"fixedrange": True, "zeroline": False, "ticks": "", "automargin": True}


class FittedFigure(go.Figure):  # type: ignore[misc]
    """A figure that fills its frame: marimo draws one without a height at 540 px, one of height null to fit."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figure as plotly's dictionary, with a height of None."""
        content: dict[str, Any] = super().to_dict()
        return content | {"layout": content["layout"] | {"height": None}}


def figure(chart: Chart) -> FittedFigure:
    """Return the figure of a chart: dots on stems when it has bars, else lines."""
    layout = {
        "autosize": True,
        "margin": {"l": 4, "r": _NUMBERS_PX if chart.bars else 8, "t": 16, "b": 4},
        "paper_bgcolor": _CLEAR,
        "plot_bgcolor": _CLEAR,
        "showlegend": False,
        "dragmode": False,
        "hovermode": "x unified" if chart.series else "closest",
        "hoverlabel": {"font": {"size": 12}},
        "font": {"size": 11},
        "uirevision": chart.name,
        "xaxis": _axis(chart.x),
        "yaxis": _axis(chart.y, titled=False) if chart.y else _names(chart.bars),
        "shapes": _shapes(chart),
        "annotations": [*_above(chart.marks), *_numbers(chart.bars), *map(_rule_label, chart.rules)],
    }
    data = _dots(chart) if chart.bars else [_line(series) for series in chart.series]
    return FittedFigure({"data": data, "layout": layout})


def _line(series: Series) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": series.name,
        "x": series.x,
        "y": series.y,
        "text": series.says,
        "hovertemplate": "%{text}<extra></extra>",
        "line": _STYLES[series.style],
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
        "line": {"color": _MUTED, "width": 1.5},
        "x": [x for value in values for x in (low, value, None)],
        "y": [y for name in names for y in (name, name, None)],
    }
    dots = shared | {
        "mode": "markers",
        "hoverinfo": "text",
        "hovertext": [f"{bar.label}: {bar.says}" for bar in chart.bars],
        "marker": {
            "size": 9,
            "color": [_INK if bar.value else _CLEAR for bar in chart.bars],
            "line": {"width": 1.5, "color": _INK},
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
        | {"type": "rect", "x0": band.low, "x1": band.high, "layer": "below", "fillcolor": _SHADE}
        | {"line": {"width": 0}}
        for band in chart.bands
    ]
    marks = [
        upright
        | {"type": "line", "x0": mark.x, "x1": mark.x}
        | {"line": {"color": _ACCENT if mark.action else _MUTED, "width": 1.5 if mark.action else 1}}
        for mark in chart.marks
    ]
    rules = [
        {"type": "line", "xref": "paper", "yref": "y", "x0": 0, "x1": 1, "y0": rule.y, "y1": rule.y}
        | {"line": {"color": _MUTED, "width": 1, "dash": "dash"}}
        for rule in chart.rules
    ]
    return [*bands, *marks, *rules]


def _note(text: str, *, strong: bool = False, **place: Any) -> dict[str, Any]:
    return {"text": f"<b>{text}</b>" if strong else text, "showarrow": False, "font": {"size": 11}} | place


def _above(marks: tuple[Mark, ...]) -> list[dict[str, Any]]:
    """Return the labels of marks above the plot; the first grows to the right, the others to the left."""
    return [
        _note(
            mark.label,
            strong=mark.action,
            x=mark.x,
            xref="x",
            xanchor="right" if number else "left",
            y=1,
            yref="paper",
            yanchor="bottom",
        )
        for number, mark in enumerate(marks)
    ]


def _numbers(bars: tuple[Bar, ...]) -> list[dict[str, Any]]:
    return [
        _note(bar.says, strong=True, x=1, xref="paper", xshift=8, xanchor="left", y=bar.label, yref="y")
        for bar in bars
    ]


def _rule_label(rule: Rule) -> dict[str, Any]:
    return _note(rule.label, x=0, xref="paper", xanchor="left", y=rule.y, yref="y", yanchor="bottom")
