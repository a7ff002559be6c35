"""The crisis of the act, the prediction form, and the prediction beside what the engine says."""

from __future__ import annotations

from markupsafe import Markup

from labs.cockpit.format import quantity_text
from labs.cockpit.markup import tag
from labs.cockpit.progress import what_opens
from labs.cockpit.saved import TEXT_LIMIT
from labs.cockpit.stage import Scene
from labs.cockpit.views import view


def crisis(scene: Scene) -> Markup:
    """Return the crisis in words, what was not accepted, and the verdict once a prediction is sealed."""
    said = scene.visit.complaint
    complaint = tag("p", said, class_="fl-complaint", role="alert") if said else None
    return tag("div", tag("div", complaint, _moment(scene)), _verdict(scene), class_="fl-brief")


def prediction_form(scene: Scene) -> Markup:
    """Return the form that asks for a prediction, or nothing when none is wanted."""
    if not scene.asks:
        return Markup("")
    asked = scene.act.prediction
    units = [tag("option", unit, value=unit, selected=unit == asked.units[-1]) for unit in asked.units]
    value = tag(
        "input", type="text", inputmode="decimal", name="value", size=6, required=True, autocomplete="off"
    )
    why = tag(
        "input", type="text", name="why", required=True, placeholder="one sentence", maxlength=TEXT_LIMIT
    )
    fields = tag(
        "div",
        tag("label", tag("span", "Your prediction"),
            tag("span", value, tag("select", units, name="unit", aria_label="Unit"), class_="fl-joined")),
        tag("label", tag("span", "Because"), why, class_="fl-grow"),
        class_="fl-fields",
    )  # fmt: skip
    foot = tag(
        "div",
        tag(
            "p",
            "Sealed once sent. The levers, the cards, the map and the charts open after that.",
            class_="fl-hint",
        ),
        tag("button", "Seal prediction", type="submit", class_="fl-primary"),
        class_="fl-foot",
    )
    return tag(
        "form",
        tag("p", "Predict first", class_="fl-eyebrow"),
        tag("h2", asked.ask),
        fields,
        tag("p", class_="fl-error", role="alert"),
        foot,
        class_="fl-prediction",
        data_act=scene.act.id,
        novalidate=True,
    )


def coming(scene: Scene) -> Markup:
    """Return why an act is locked and what it will ask."""
    act, before = scene.act, scene.waits_for
    if before is not None:
        title, words = f"Act {before.number} comes first.", what_opens(before)
    else:
        title = "This act is not in this version yet."
        words = "Nothing here is simulated for it, so nothing is shown."
    return tag(
        "div",
        tag("p", f"Act {act.number} · {act.title} · {act.minutes} min", class_="fl-eyebrow"),
        tag("h2", title),
        tag("p", words, " It will ask:"),
        tag("p", act.prediction.ask, class_="fl-asks"),
        tag("p", act.rationale, class_="fl-asks"),
        class_="fl-coming",
    )


def _moment(scene: Scene) -> Markup:
    moment = f"{view(scene.act).moment(scene.as_found)} " if scene.ready else ""
    return tag("p", tag("b", moment), scene.act.crisis, class_="fl-crisis")


def _verdict(scene: Scene) -> Markup | None:
    if scene.sealed is None or not scene.open:
        return None
    asked, sealed = scene.act.prediction, scene.sealed
    said = str(view(scene.act).shown(scene.as_found, asked.value))
    return tag(
        "dl",
        tag(
            "div",
            tag("dt", "You predicted"),
            tag("dd", str(quantity_text(sealed.quantity))),
            class_="fl-guess",
            title=sealed.why,
        ),
        tag("div", tag("dt", view(scene.act).ANSWER), tag("dd", said), class_="fl-truth"),
        class_="fl-verdict",
        aria_label=f"Prediction, sealed {sealed.at:%H:%M} UTC: {asked.ask}",
    )
