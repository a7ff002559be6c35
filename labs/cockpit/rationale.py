"""Zone 4: the rationale box, and the strip that saves, opens and starts afresh."""

from __future__ import annotations

from markupsafe import Markup

from labs.cockpit.markup import tag
from labs.cockpit.progress import LEAST_WORDS, act_after
from labs.cockpit.saved import TEXT_LIMIT
from labs.cockpit.stage import Scene


def rationale_box(scene: Scene) -> Markup:
    """Return the box in which the student argues; its question is the act's."""
    after = act_after(scene.plan, scene.act.id)
    opens = f"Act {after.number}" if after else None
    head = tag(
        "div",
        tag("h2", tag("label", "Rationale", for_="fl-why")),
        tag("span", class_="fl-count", data_least=LEAST_WORDS, data_opens=opens),
        class_="fl-panel-head",
    )
    area = tag("textarea", id="fl-why", rows=4, maxlength=TEXT_LIMIT, placeholder=scene.act.rationale)
    saved = tag("span", "Kept in this browser as you type", class_="fl-saved", role="status")
    return tag("div", head, area, tag("p", saved), class_="fl-rationale")


def work_strip() -> Markup:
    """Return the buttons for the student's work; starting afresh asks first."""
    buttons = tag(
        "div",
        tag("button", "Save my work", type="button", class_="fl-primary", data_do="save"),
        tag("button", "Open saved work", type="button", class_="fl-plain", data_do="open"),
        tag("button", "Start fresh", type="button", class_="fl-plain", data_do="fresh"),
        class_="fl-buttons",
    )
    ask = tag(
        "div",
        tag(
            "p",
            "Start fresh removes your text, levers and sealed predictions from this browser. "
            "Save them first if you want them.",
        ),
        tag("button", "Keep my work", type="button", class_="fl-primary", data_do="keep"),
        tag("button", "Remove and start fresh", type="button", class_="fl-plain", data_do="clear"),
        class_="fl-ask",
        role="alertdialog",
        aria_label="Start fresh",
        hidden=True,
    )
    file = tag("input", type="file", accept=".json,application/json", hidden=True, aria_label="Saved work")
    status = tag("p", class_="fl-status", role="status", hidden=True)
    return tag("div", buttons, ask, status, file, class_="fl-work")
