"""Act I on screen: the cards, charts and words of a fragmentation audit's outcome."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from engine.missions import Act, MissionPlan
from engine.scenarios.audit_outcome import FragmentationAuditOutcome as Outcome
from engine.scenarios.registry import SCENARIOS
from engine.units import si
from labs.cockpit.audit_charts import price_of_setting, through_time
from labs.cockpit.audit_words import arrival, big_job, starts_at_once
from labs.cockpit.charts import Chart
from labs.cockpit.format import Shown, count, dollars_a_day, duration, gpu_hours, price, share
from labs.cockpit.telemetry import Card, Goal
from labs.cockpit.views import hours

_ENTRY = SCENARIOS["fragmentation_audit"]
_MINUTES = 60.0

ANSWER = "Engine, if nobody acts"


def shown(outcome: Outcome, value: str) -> Shown:
    """Return a value of the outcome, by the name that plans use, as it is written."""
    found, unit = _ENTRY.value(outcome, value), _ENTRY.values[value].unit
    if value == "wait":
        return duration(found, censored=outcome.big_job.censored)
    writers: dict[str, Callable[[Any], Shown]] = {
        "h": duration,
        "GPU*h": gpu_hours,
        "USD/(GPU*h)": price,
        "USD/day": dollars_a_day,
    }
    if unit in writers:
        return writers[unit](found)
    if unit == "%":
        return share(None if found is None else si(found, "", value))
    return Shown(count(int(found)), "")


def moment(outcome: Outcome) -> str:
    """Return when the big job arrives, as `20:00, day 1.` is written."""
    crisis = next(event for event in outcome.events if event.hours >= arrival(outcome))
    return f"{crisis.clock}."


def crisis_hours(outcome: Outcome) -> float:
    """Return when the big job arrives, in hours from the opening of the books."""
    return arrival(outcome)


def shown_frame(outcome: Outcome) -> int:
    """Return the frame at which the map opens: the big job's start if that is at once, else after the act."""
    fleet, start = outcome.fleet_map, arrival(outcome) + hours(outcome.big_job.wait)
    if not starts_at_once(outcome):
        return fleet.after_act
    later = (i for i, at in enumerate(fleet.hours) if i >= fleet.after_act and at >= start)
    return next(later, fleet.after_act)


def occupant(outcome: Outcome, frame: int, gpu: int) -> str:
    """Return who holds a GPU at one frame: job, user, size and the time that remains; empty if nobody."""
    found = outcome.occupant(frame, gpu)
    if found is None:
        return ""
    size = f"{count(found.gpus)} GPU{'s' if found.gpus > 1 else ''}"
    return f"job {found.job} of {found.user}, {size}, {duration(found.remaining)} left"


def cards(outcome: Outcome, plan: MissionPlan, act: Act) -> tuple[Card, ...]:
    """Return the four ledger cards."""
    return (
        _card(
            "mfu", shown(outcome, "cluster_mfu"), "up", f"{shown(outcome, 'utilisation')} busy since it came"
        ),
        _card("goodput", shown(outcome, "goodput"), "up", f"{shown(outcome, 'lost')} lost"),
        _wait_card(outcome, plan, act),
        _card("tco", shown(outcome, "tco"), "down", f"{shown(outcome, 'wasted')} wasted"),
    )


def charts(outcome: Outcome) -> dict[str, Chart]:
    """Return the act's two charts by name."""
    return {"through_time": through_time(outcome), "price": price_of_setting(outcome)}


def formula(outcome: Outcome) -> None:
    """Return nothing: this act is decided by counting, not by a formula."""


def _card(name: str, said: Shown, better: Literal["up", "down"], aside: str) -> Card:
    value, places = float(said.number.replace(",", "")), len(said.number.partition(".")[2])
    return Card(name, said, value, places, better, aside)


def _wait_card(outcome: Outcome, plan: MissionPlan, act: Act) -> Card:
    """Return the big job's wait; a censored one has no places, since no difference can be taken from it."""
    said, wait = shown(outcome, "wait"), hours(outcome.big_job.wait)
    places = None if outcome.big_job.censored else len(said.number.partition(".")[2])
    value = wait * _MINUTES if said.unit == "min" else wait
    aside = f"small jobs {shown(outcome, 'small_jobs_wait')}, mean"
    return Card("wait", said, value, places, "down", aside, _wait_goal(outcome, plan, act))


def _wait_goal(outcome: Outcome, plan: MissionPlan, act: Act) -> Goal | None:
    limits = [plan.badges[name].limit for name in act.badges if plan.badges[name].value == "wait"]
    if not limits:
        return None
    horizon = max(outcome.through_time.hours) - arrival(outcome)
    wait, limit = hours(outcome.big_job.wait), hours(limits[0])
    return Goal(wait / horizon, limit / horizon, f"goal {duration(limits[0])}")


__all__ = [
    "ANSWER",
    "big_job",
    "cards",
    "charts",
    "crisis_hours",
    "formula",
    "moment",
    "occupant",
    "shown",
    "shown_frame",
]
