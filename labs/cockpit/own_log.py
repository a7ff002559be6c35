"""Bring your own cluster: a job log in place of the synthetic students, from a file one chooses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from engine.errors import FleetlabError
from engine.fleet.traces import load_job_log
from engine.missions import Act, MissionPlan
from engine.scenarios.registry import SCENARIOS
from labs.cockpit.markup import tag

FORMATS = "SWF, sacct -p, Philly, Helios, Acme, openb"
NAME_LIMIT = 80
Progress = Callable[[float], None]


@dataclass(frozen=True)
class OwnLog:
    """A log that an act is played on: which act, the scenario without levers, and what was read."""

    act: str
    scenario: Any
    summary: str

    @property
    def digest(self) -> str:
        """A name of its content."""
        return str(self.scenario.log.digest)


def takes_log(act: Act) -> bool:
    """Return whether an act can be played on a job log."""
    entry = SCENARIOS[act.scenario]
    return entry.ready and hasattr(entry.scenario(), "of_log")


def read_own_log(
    plan: MissionPlan, chosen: Mapping[str, Any], progress: Progress
) -> tuple[OwnLog | None, str]:
    """Return the log in the chosen file and no complaint; or None and why it cannot be used, in one sentence.

    Parameters
    ----------
    plan: its first act that takes a log is played on it.
    chosen: the `name` and `text` of the file, or nothing for the students.
    progress: called with the share of the file that was read.
    """
    act = next((act for act in plan.acts if takes_log(act)), None)
    if not chosen or act is None:
        return None, ""
    name = str(chosen.get("name", "log"))[:NAME_LIMIT].encode(errors="replace").decode()
    try:
        log = load_job_log(str(chosen.get("text", "")).encode(errors="replace"), name=name, progress=progress)
        scenario = SCENARIOS[act.scenario].scenario().of_log(log, name, **act.settings)
    except FleetlabError as error:
        return None, f"{error} The students stay."
    return OwnLog(act.id, scenario, f"{name}, {log.summary()}"), ""


def log_choice(act: Act, log: OwnLog | None, complaint: str = "") -> Markup:
    """Return the buttons with which an act takes a job log, what was read, and why one was not taken."""
    if not takes_log(act):
        return Markup("")
    choose = tag("button", "Use a job log", type="button", class_="fl-plain", data_do="choose")
    back = tag("button", "Back to the students", type="button", class_="fl-plain", data_do="students")
    hint = (
        f"Jobs of {log.summary}"
        if log
        else f"In place of the students: {FORMATS}; at least {_hours(act)} of submissions."
    )
    file = tag("input", type="file", hidden=True, aria_label="Job log")
    buttons = tag("div", choose, back if log else None, class_="fl-buttons")
    refused = tag("p", complaint, class_="fl-error", role="alert") if complaint else None
    return tag("div", buttons, refused, tag("p", hint, class_="fl-hint"), file, class_="fl-own-log")


def _hours(act: Act) -> str:
    """Return how long a log must be: from the opening of the books to the end of the horizon."""
    scenario = SCENARIOS[act.scenario].scenario()(**act.settings)
    return f"{(scenario.crisis_after + scenario.horizon).to('h').magnitude:g}\N{NO-BREAK SPACE}h"


def reading(share: float, name: str) -> Markup:
    """Return how far the reading of a log is."""
    percent = f"{share:.0%}".replace("%", "\N{NO-BREAK SPACE}%")
    bar = tag("progress", value=f"{share:.2f}", max="1", aria_label=f"Reading {name}")
    return tag("p", f"Reading {name}: {percent} ", bar, role="status")
