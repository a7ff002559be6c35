"""The four zones of a lab as pure functions of an outcome, the charts and the widgets."""

from labs.cockpit.ahead import play_ahead
from labs.cockpit.audit import log
from labs.cockpit.brief import coming, crisis
from labs.cockpit.formula import formula_panel
from labs.cockpit.header import badges, title
from labs.cockpit.levers import fact_list
from labs.cockpit.progress import open_acts
from labs.cockpit.session import mission, visit
from labs.cockpit.show import chart_figures, heading, on_own_log, page, placed, problem, zone
from labs.cockpit.stage import play, saved_work, set_scene
from labs.cockpit.telemetry import charts
from labs.cockpit.widgets import (
    ActTabs,
    Cards,
    FleetMap,
    JobLogButton,
    LeverPanel,
    PredictionForm,
    Rationale,
    Work,
)

__all__ = [
    "ActTabs",
    "Cards",
    "FleetMap",
    "JobLogButton",
    "LeverPanel",
    "PredictionForm",
    "Rationale",
    "Work",
    "badges",
    "chart_figures",
    "charts",
    "coming",
    "crisis",
    "fact_list",
    "formula_panel",
    "heading",
    "log",
    "mission",
    "on_own_log",
    "open_acts",
    "page",
    "placed",
    "play",
    "play_ahead",
    "problem",
    "saved_work",
    "set_scene",
    "title",
    "visit",
    "zone",
]
