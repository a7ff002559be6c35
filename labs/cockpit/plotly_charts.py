"""A `Chart` as a plotly figure. Colours of text and lines come from the sheet, so that dark mode is one sheet."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from labs.cockpit.charts import Axis, Chart, Series

CONFIG = {"displayModeBar": False, "responsive": True, "scrollZoom": False, "doubleClick": False, "showTips": False}
"""No mode bar and no zoom: a chart is read, not edited."""

_INK, _MUTED, _BIG, _ACCENT, _LINE = "#52606c", "#7d8a95", "#3f74c4", "#1d5bb8", "#d5dde3"
_STYLES: dict[str, dict[str, Any]] = {
    "strong": {"color": _INK, "width": 2},
    "dashed": {"color": _MUTED, "width": 1.75, "dash": "5px,3px"},
    "big": {"color": _BIG, "width": 2.5, "dash": "1.5px,2.5px"},
}
_FONT = {"size": 11, "color": _MUTED, "family": "system-ui, 'Segoe UI', 'Liberation Sans', Arial, sans-serif"}


def figure(chart: Chart) -> go.Figure:
    """Return the figure of a chart: bars when it has bars, else lines."""
    data = _dots(chart) if chart.bars else [_line(series) for series in chart.series]
    layout = {
        "autosize": True,
        "margin": {"l": 4, "r": 8, "t": 16, "b": 4},
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
    return go.Figure({"data": data, "layout": layout}, skip_invalid=False)


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
        "type": "scatter", "mode": "markers+text", "x": values, "y": names, "cliponaxis": False,
        "text": [f"<b>{bar.says}</b>" for bar in chart.bars], "hoverinfo": "text",
        "hovertext": [f"{bar.label}: {bar.says}" for bar in chart.bars],
        "textposition": ["middle left" if _position(chart.x, value) > 0.55 else "middle right" for value in values],
        "marker": {"size": 9, "color": [_INK if bar.value else "rgba(0,0,0,0)" for bar in chart.bars],
                   "line": {"width": 1.5, "color": _INK}},
    }  # fmt: skip
    return [stems, dots]


def _position(axis: Axis, value: float) -> float:
    from math import log10

    return log10(value / axis.low) / log10(axis.high / axis.low)


def _axis(axis: Axis, *, titled: bool = True) -> dict[str, Any]:
    from math import log10

    span = [log10(axis.low), log10(axis.high)] if axis.log else [axis.low, axis.high]
    return {
        "type": "log" if axis.log else "linear",
        "range": span,
        "tickvals": [at for at, _ in axis.ticks],
        "ticktext": [text for _, text in axis.ticks],
        "title": {"text": axis.label if titled else "", "standoff": 4, "font": {"size": 11}},
        "automargin": True,
        "fixedrange": True,
        "gridcolor": _LINE,
        "zeroline": False,
        "showline": False,
        "ticks": "",
    }


def _names(chart: Chart) -> dict[str, Any]:
    return {
        "type": "category", "automargin": True, "fixedrange": True, "showgrid": False, "zeroline": False, "ticks": "",
        "categoryorder": "array", "categoryarray": [bar.label for bar in reversed(chart.bars)],
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
    rules = [{"x": 0, "xref": "paper", "y": rule.y, "yref": "y", "yanchor": "bottom", "xanchor": "left", "text": rule.label,
              "showarrow": False} for rule in chart.rules]  # fmt: skip
    return [*above, *rules]
