"""Zones, widgets and charts as a marimo output. The only file that knows how marimo shows things."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import marimo as mo
from markupsafe import Markup

from engine.missions import MissionPlan
from labs.cockpit.charts import Chart
from labs.cockpit.markup import join, tag, zone
from labs.cockpit.own_log import read_own_log, reading
from labs.cockpit.plotly_charts import CONFIG, figure
from labs.cockpit.session import Visit
from labs.cockpit.telemetry import caption


def page(*zones: Markup) -> mo.Html:
    """Return the output of a cell: plain text to marimo, since it serialises a subclass of str as `{}`."""
    return mo.Html(str(join(zones)))


def placed(element: Any) -> Markup:
    """Return a widget or a plot as markup, to stand inside a zone."""
    return Markup(mo.as_html(element).text)


def heading(text: str) -> Markup:
    """Return the heading of a zone."""
    return tag("h2", text)


def on_own_log(plan: MissionPlan, guest: Visit, chosen: Mapping[str, Any]) -> tuple[Visit, mo.Html]:
    """Read the chosen job log, showing how far it is; return the visit on it, or why it is not taken."""

    def progress(share: float) -> None:
        mo.output.replace(page(_notice(reading(share, str(chosen["name"])))))

    log, complaint = read_own_log(plan, chosen, progress)
    return guest.variant(log=log, log_complaint=complaint), page(_notice(None))


def _notice(content: Markup | None) -> Markup:
    return zone("notice", content, label="Job log", hidden=content is None)


def problem(sentence: str) -> mo.Html:
    """Return the page of a lab that cannot open: the one sentence that says why."""
    return page(
        zone("problem", heading("This lab cannot open"), tag("p", sentence, role="alert"), label="Problem")
    )


def chart_figures(charts: Mapping[str, Chart]) -> Markup:
    """Return each chart with its caption, drawn by plotly."""
    return Markup("").join(
        tag(
            "figure",
            caption(chart),
            tag("div", placed(mo.ui.plotly(figure(chart), config=CONFIG)), class_="fl-plot"),
            class_="fl-chart",
            data_chart=name,
        )
        for name, chart in charts.items()
    )


__all__ = ["chart_figures", "heading", "on_own_log", "page", "placed", "problem", "zone"]
