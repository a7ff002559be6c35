"""How a value of an outcome, by the name that plans use, is written: its unit in the registry decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from engine.scenarios.registry import ScenarioEntry
from engine.units import si
from labs.cockpit.format import UNKNOWN, Shown, count, dollars_a_day, duration, gpu_hours, price, share
from labs.cockpit.telemetry import Card, Goal

_WRITERS: dict[str, Callable[[Any], Shown]] = {
    "h": duration,
    "min": duration,
    "GPU*h": gpu_hours,
    "USD/(GPU*h)": price,
    "USD/day": dollars_a_day,
}


def shown_value(entry: ScenarioEntry, outcome: Any, value: str) -> Shown:
    """Return a value of an outcome as it is written; `n/a` where it does not apply."""
    found, unit = entry.value(outcome, value), entry.values[value].unit
    if found is None:
        return Shown(UNKNOWN, "")
    if unit in _WRITERS:
        return _WRITERS[unit](found)
    return share(si(found, "", value)) if unit == "%" else Shown(count(int(found)), "")


def card(name: str, said: Shown, better: Literal["up", "down"], aside: str, goal: Goal | None = None) -> Card:
    """Return a ledger card; one without a number has no places, so that no change is taken from it."""
    if said.number == UNKNOWN:
        return Card(name, said, 0.0, None, better, aside, goal)
    return Card(
        name,
        said,
        float(said.number.replace(",", "")),
        len(said.number.partition(".")[2]),
        better,
        aside,
        goal,
    )
