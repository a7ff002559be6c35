"""Zone 2: the engineering levers, from the mission plan; and the facts that the numbers rest on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, assert_never

from markupsafe import Markup

from engine.errors import InvalidInput, UnknownName
from engine.facts import Fact, fact
from engine.missions import Act, ChoiceLever, Lever, MissionPlan, RangeLever, SwitchLever
from labs.cockpit.format import fact_value
from labs.cockpit.markup import tag
from labs.cockpit.views import ready


def accepted_levers(plan: MissionPlan, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return `values` after checking that the plan has each lever and each value.

    Raises
    ------
    UnknownName: for a lever that the plan does not have.
    InvalidInput: for a value that the lever does not take.
    """
    for name, value in values.items():
        if name not in plan.levers:
            raise UnknownName("lever", name, list(plan.levers))
        known = plan.levers[name].values
        if not _takes(known, value):
            raise InvalidInput(f"lever {name}", value, "one of " + ", ".join(str(one) for one in known))
    return dict(values)


def known_levers(plan: MissionPlan, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of a page's `values` that the plan knows: what else is there is not saved."""
    known = {name: lever.values for name, lever in plan.levers.items()}
    return {name: value for name, value in values.items() if _takes(known.get(name, ()), value)}


def setting(plan: MissionPlan, act: Act, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the setting of an act: `values` of its levers, start values for those that are not given."""
    chosen = {name: value for name, value in values.items() if name in act.levers}
    return plan.start_values(act.id) | accepted_levers(plan, chosen)


def lever_panel(plan: MissionPlan, act: Act) -> Markup:
    """Return the levers of an act: those that move something in it, at their start values."""
    levers = [_lever(name, plan.levers[name]) for name in act.levers] if ready(act) else []
    hint = None if levers else tag("p", "The levers come with the act.", class_="fl-hint")
    return tag("div", levers, hint, class_="fl-levers")


def fact_list(act: Act) -> Markup:
    """Return the constants that the act's numbers rest on, each with its source and how far to trust it."""
    rows = [_fact(fact(name)) for name in act.facts] if ready(act) else []
    if not rows:
        return Markup("")
    heading = tag("h2", "What the numbers rest on")
    return tag(
        "div", heading, tag("dl", rows, tabindex=0, aria_label="Facts and their sources"), class_="fl-facts"
    )


def _takes(known: Iterable[Any], value: Any) -> bool:
    return any(type(value) is type(one) and value == one for one in known)


def _lever(name: str, lever: Lever) -> Markup:
    match lever:
        case ChoiceLever():
            return _choice(name, lever)
        case SwitchLever():
            return _switch(name, lever)
        case RangeLever():
            return _range(name, lever)
    assert_never(lever)


def _choice(name: str, lever: ChoiceLever) -> Markup:
    segments = [
        tag(
            "label",
            tag("input", type="radio", name=name, value=option.value, checked=option.value == lever.start),
            tag("span", option.label),
            title=option.hint or None,
        )
        for option in lever.options
    ]
    hints = [
        tag("p", option.hint, class_="fl-hint", data_for=option.value, hidden=option.value != lever.start)
        for option in lever.options
        if option.hint
    ]
    return tag(
        "fieldset",
        tag("legend", lever.label),
        tag("div", segments, class_="fl-segments"),
        hints,
        class_="fl-lever",
        data_lever="choice",
        data_name=name,
    )


def _switch(name: str, lever: SwitchLever) -> Markup:
    words = tag(
        "span", tag("span", lever.label, class_="fl-switch-label"), tag("span", lever.hint, class_="fl-hint")
    )
    box = tag("input", type="checkbox", role="switch", name=name, checked=lever.start)
    knob = tag("i", class_="fl-knob", aria_hidden="true")
    label = tag("label", words, box, knob, class_="fl-switch")
    return tag("div", label, class_="fl-lever", data_lever="switch", data_name=name)


def _range(name: str, lever: RangeLever) -> Markup:
    last, start = len(lever.labels) - 1, lever.labels.index(lever.start)
    typed = tag("input", type="text", value=lever.start, id=f"{name}-typed", class_="fl-typed", size=8,
                autocomplete="off", aria_describedby=f"{name}-error")  # fmt: skip
    slider = tag("input", type="range", min=0, max=last, step=1, value=start, aria_label=lever.label,
                 aria_valuetext=lever.start)  # fmt: skip
    ends = tag(
        "div",
        tag("span", lever.labels[0]),
        tag("span", lever.labels[-1]),
        class_="fl-ends",
        aria_hidden="true",
    )
    return tag(
        "div",
        tag("div", tag("label", lever.label, for_=f"{name}-typed"), typed, class_="fl-lever-head"),
        tag("div", slider, _band(lever, last), class_="fl-rail", style=f"--fl-at:{start / last:.4f}"),
        ends,
        tag("p", class_="fl-lever-error", role="alert", id=f"{name}-error"),
        class_="fl-lever",
        data_lever="range",
        data_name=name,
        data_labels=json.dumps(lever.labels),
        data_steps=json.dumps(lever.magnitudes),
        data_unit=lever.unit,
    )


def _band(lever: RangeLever, last: int) -> Markup | None:
    if lever.band is None or lever.band_span is None:
        return None
    low, high = lever.band_span
    style = f"--fl-from:{low / last:.4f};--fl-to:{high / last:.4f}"
    return tag("div", tag("span", lever.band.label), class_="fl-band", style=style)


def _fact(one: Fact) -> Markup:
    source = tag(
        "dd",
        tag("em", one.mark),
        f" · {one.source}, {one.date[:4]}",
        class_="fl-source",
        title=f"{one.source}. {one.note}",
    )
    return tag("div", tag("dt", one.label), tag("dd", str(fact_value(one))), source, data_mark=one.mark)
