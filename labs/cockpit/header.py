"""Zone 1: the command header: title, persona, the acts and the constraint badges."""

from __future__ import annotations

from typing import NamedTuple

from markupsafe import Markup

from engine.missions import MissionPlan
from labs.cockpit.markup import tag
from labs.cockpit.progress import act_before, what_opens
from labs.cockpit.stage import Stage
from labs.cockpit.views import ready, view

_MARKS = {"true": "✓", "false": "✗", "unknown": "?", "later": "–"}


class BadgeState(NamedTuple):
    """How a constraint stands: its label, whether it is met, and the words for it."""

    label: str
    met: str
    value: str
    verdict: str


def title(plan: MissionPlan) -> Markup:
    """Return the lab's number, persona and title."""
    persona = f"Lab {plan.lab} · {plan.persona.name}, {plan.persona.scale}"
    return tag(
        "div",
        tag("p", persona, class_="fl-eyebrow"),
        tag("h1", plan.title),
        class_="fl-title",
        title=plan.invariant,
    )


def act_tabs(plan: MissionPlan) -> Markup:
    """Return the tab bar. Acts open in order: a locked tab says what opens it."""
    tabs = []
    for act in plan.acts:
        before = act_before(plan, act.id)
        locked = before is not None or not ready(act)
        lock = tag("span", " · locked", class_="fl-act-lock", hidden=not locked)
        tabs.append(
            tag(
                "button",
                tag("span", f"Act {act.number}", lock, class_="fl-act-number"),
                tag("span", act.title, class_="fl-act-title"),
                type="button",
                role="tab",
                class_="fl-act",
                data_act=act.id,
                data_state="locked" if locked else "open",
                data_opens=what_opens(before) if before else None,
                aria_selected="false",
            )
        )
    return tag("div", tabs, class_="fl-acts", role="tablist", aria_label="Acts")


def badge_states(stage: Stage) -> list[BadgeState]:
    """Return how each constraint of the act stands; before a prediction is sealed none is known."""
    return [_state(stage, name) for name in stage.act.badges]


def badges(stage: Stage) -> Markup:
    """Return the constraint badges: a mark and a word beside the colour; screen readers tell a turn."""
    items = [
        tag(
            "li",
            tag("span", _MARKS[badge.met], class_="fl-badge-mark", aria_hidden="true"),
            tag(
                "span",
                tag("span", badge.label, class_="fl-badge-name"),
                tag(
                    "span",
                    tag("b", badge.value),
                    " " if badge.value else "",
                    badge.verdict,
                    class_="fl-badge-rule",
                ),
                class_="fl-badge-words",
            ),
            class_="fl-badge",
            data_met=badge.met,
            data_badge=name,
        )
        for name, badge in zip(stage.act.badges, badge_states(stage), strict=True)
    ]
    return tag(
        "div",
        tag("ul", items, class_="fl-badges"),
        role="status",
        aria_label="Constraints",
        class_="fl-badge-zone",
    )


def _state(stage: Stage, name: str) -> BadgeState:
    badge, judged_in = stage.plan.badges[name], stage.plan.judged_in(name)
    if judged_in.id != stage.act.id:
        return BadgeState(badge.label, "later", "", f"judged in Act {judged_in.number}")
    if not stage.open:
        return BadgeState(badge.label, "unknown", "", "not yet known")
    met = badge.judge(stage.entry.value(stage.outcome, badge.value))
    shown = str(view(stage.act).shown(stage.outcome, badge.value))
    if met is None:
        return BadgeState(badge.label, "unknown", shown, "no GPU is free")
    return BadgeState(badge.label, "true" if met else "false", shown, "met" if met else "missed")
