"""A `Chart` as a plotly figure."""

from __future__ import annotations

from math import log10
from typing import Any

import plotly.graph_objects as go

from labs.cockpit.charts import Axis, Chart, Series

CONFIG = {"displayModeBar": False, "responsive": True, "scrollZoom": False, "doubleClick": False, "showTips": False}
"""No mode bar and no zoom: a chart is read, not edited."""

# Names more than colours: the sheet turns each into its token, so that dark mode and print are one sheet.
_INK, _MUTED, _BIG, _ACCENT, _LINE = "rgb(20,32,43)", "rgb(82,96,108)", "rgb(30,67,128)", "rgb(29,91,184)", "rgb(213,221,227)"
_NUMBERS_PX = 96
"""Room on the right of the stems for their numbers."""
_STYLES: dict[str, dict[str, Any]] = {
    "strong": {"color": _INK, "width": 2},
    "dashed": {"color": _MUTED, "width": 1.75, "dash": "5px,3px"},
    "big": {"color": _BIG, "width": 2.5, "dash": "1.5px,2.5px"},
}
_FONT = {"size": 11, "color": _MUTED, "family": "system-ui, 'Segoe UI', 'Liberation Sans', Arial, sans-serif"}


class FittedFigure(go.Figure):
    """A figure that fills its frame: marimo draws one without a height 540 px high, and one of height null to fit."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figure as plotly's dictionary, with a height of None."""
        content: dict[str, Any] = super().to_dict()
        return content | {"layout": content["layout"] | {"height": None}}


def figure(chart: Chart) -> FittedFigure:
    """Return the figure of a chart: dots on stems when it has bars, else lines."""
    data = _dots(chart) if chart.bars else [_line(series) for series in chart.series]
    layout = {
        "autosize": True,
        "margin": {"l": 4, "r": _NUMBERS_PX if chart.bars else 8, "t": 16, "b": 4},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": False,
        "dragmode": False,
        "hovermode": "x unified" if chart.series else "closest",
        "hoverlabel": {"font": {"size": 12}},
        "font": _FONT,
        "uirevision": chart.name,
        "xaxis": _axis(chart.x),
        "yaxis": _names(chart) if chart.bars or chart.y is None else _axis(chart.y, titled=False),
        "shapes": _shapes(chart),
        "annotations": _annotations(chart),
    }
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
    """A stem from the axis to a dot, with its number: a bar's length means nothing on a logarithmic axis."""
    low, names = chart.x.low, [bar.label for bar in chart.bars]
    values = [max(low, bar.value) for bar in chart.bars]
    stems = {
        "type": "scatter", "mode": "lines", "hoverinfo": "skip", "line": {"color": _MUTED, "width": 1.5},
        "x": [x for value in values for x in (low, value, None)], "y": [y for name in names for y in (name, name, None)],
    }  # fmt: skip
    dots = {
        "type": "scatter", "mode": "markers", "x": values, "y": names, "cliponaxis": False, "hoverinfo": "text", "hovertext": [f"{bar.label}: {bar.says}" for bar in chart.bars],
        "marker": {"size": 9, "color": [_INK if bar.value else "rgba(0,0,0,0)" for bar in chart.bars],
                   "line": {"width": 1.5, "color": _INK}},
    }  # fmt: skip
    return [stems, dots]


def _axis(axis: Axis, *, titled: bool = True) -> dict[str, Any]:
    span = [log10(axis.low), log10(axis.high)] if axis.log else [axis.low, axis.high]
    return {
        "type": "log" if axis.log else "linear",
        "range": span,
        "tickvals": [at for at, _ in axis.ticks],
        "ticktext": [text for _, text in axis.ticks],
        "title": {"text": axis.label if titled else "", "standoff": 4, "font": {"size": 11}},
        "automargin": True,
        "fixedrange": True,
        "tickangle": 0,
        "ticklabelstandoff": 4,
        "gridcolor": _LINE,
        "zeroline": False,
        "showline": False,
        "ticks": "",
    }


def _names(chart: Chart) -> dict[str, Any]:
    return {
        "type": "category", "automargin": True, "fixedrange": True, "showgrid": False, "zeroline": False, "ticks": "",
        "ticklabelstandoff": 9, "categoryorder": "array", "categoryarray": [bar.label for bar in reversed(chart.bars)],
        "range": [-0.6, len(chart.bars) - 0.4],
    }  # fmt: skip


def _shapes(chart: Chart) -> list[dict[str, Any]]:
    bands = [{"type": "rect", "xref": "x", "yref": "paper", "x0": band.low, "x1": band.high, "y0": 0, "y1": 1,
              "layer": "below", "line": {"width": 0}, "fillcolor": "rgba(125,138,149,.14)"} for band in chart.bands]  # fmt: skip
    marks = [{"type": "line", "xref": "x", "yref": "paper", "x0": mark.x, "x1": mark.x, "y0": 0, "y1": 1,
              "line": {"color": _ACCENT if mark.action else _MUTED, "width": 1.5 if mark.action else 1}}
             for mark in chart.marks]  # fmt: skip
    rules = [{"type": "line", "xref": "paper", "yref": "y", "x0": 0, "x1": 1, "y0": rule.y, "y1": rule.y,
              "line": {"color": _MUTED, "width": 1, "dash": "dash"}} for rule in chart.rules]  # fmt: skip
    return [*bands, *marks, *rules]


def _annotations(chart: Chart) -> list[dict[str, Any]]:
    above = [{"x": mark.x, "xref": "x", "y": 1, "yref": "paper", "yanchor": "bottom", "xanchor": "left" if i == 0 else "right",
              "text": f"<b>{mark.label}</b>" if mark.action else mark.label, "showarrow": False, "font": {"size": 11}}
             for i, mark in enumerate(chart.marks)]  # fmt: skip
    numbers = [{"x": 1, "xref": "paper", "xshift": 8, "y": bar.label, "yref": "y", "xanchor": "left", "text": f"<b>{bar.says}</b>",
                "showarrow": False, "font": {"size": 11}} for bar in chart.bars]  # fmt: skip
    rules = [{"x": 0, "xref": "paper", "y": rule.y, "yref": "y", "yanchor": "bottom", "xanchor": "left", "text": rule.label,
              "showarrow": False} for rule in chart.rules]  # fmt: skip
    return [*above, *numbers, *rules]
