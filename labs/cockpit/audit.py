"""Zone 4: the consequence log that the simulation wrote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from labs.cockpit.format import SPACE, count
from labs.cockpit.markup import join, tag
from labs.cockpit.stage import Stage
from labs.cockpit.views import view

_OUT_OF_SIGHT = 4  # newer events that would fill the log
_MARKS = {"note": "·", "fail": "×", "cost": "▾", "done": "✓"}


def known_events(stage: Stage) -> Sequence[Any]:
    """Return the events that may be seen: all, or those up to the crisis until a prediction is sealed."""
    if stage.open:
        return tuple(stage.outcome.events)
    if not stage.ready:
        return ()
    crisis = view(stage.act).crisis_hours(stage.as_found)
    return tuple(event for event in stage.as_found.events if event.hours <= crisis)


def _opens_on(stage: Stage, events: Sequence[Any]) -> Any:
    """Return the last event up to the moment that the map opens on, once a prediction is sealed."""
    if not stage.open or not events:
        return None
    shown = stage.outcome.fleet_map.hours[view(stage.act).shown_frame(stage.outcome)]
    later = sum(event.hours > shown for event in events)
    return events[-1 - later] if _OUT_OF_SIGHT <= later < len(events) else None


def _count(events: int) -> Markup:
    order = tag("span", ", newest first") if events > 1 else None
    return tag("span", f"{count(events)} event{'' if events == 1 else 's'}", order, class_="fl-count")


def _clock(said: str) -> tuple[str, str]:
    """Return a moment in two lines, `20:00` and `day 1`; or in one that does not break, `+1.75 min`."""
    moment, _, day = said.partition(", ")
    return moment.replace(" ", SPACE), day


def log(stage: Stage) -> Markup:
    """Return the audit trail, newest first; on a wide screen it opens on what the map shows."""
    events = known_events(stage)
    opens_on = _opens_on(stage, events)
    items = [
        tag(
            "li",
            tag("time", clock, tag("span", day) if day else None),
            tag("span", _MARKS[event.kind], " ", tag("span", event.name), class_="fl-kind"),
            tag("p", event.sentence),
            data_kind=event.kind,
            data_shown=event is opens_on,
        )
        for event in reversed(events)
        for clock, day in [_clock(event.clock)]
    ]
    head = tag(
        "div",
        tag("h2", "Audit trail"),
        _count(len(events)),
        class_="fl-panel-head",
    )
    complaint = tag("p", stage.complaint, class_="fl-complaint", role="alert") if stage.complaint else None
    listed = tag("ol", items) if items else tag("p", "Nothing has happened here yet.", class_="fl-hint")
    box = tag("div", listed, class_="fl-log", role="log", aria_label="Consequence log", tabindex=0)
    return join([head, complaint, box])
