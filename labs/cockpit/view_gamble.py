"""Act II on screen: the cards, charts and words of a checkpoint gamble's outcome."""

from __future__ import annotations

from bisect import bisect_right

from engine.missions import Act, MissionPlan
from engine.scenarios.gamble_outcome import CheckpointGambleOutcome as Outcome
from engine.scenarios.registry import SCENARIOS
from engine.units import Quantity, si
from labs.cockpit.charts import Chart
from labs.cockpit.format import UNKNOWN, Shown, count, dollars_a_day, duration, share
from labs.cockpit.formula import Formula, Term
from labs.cockpit.gamble_charts import goodput_curve, run_strip
from labs.cockpit.shown import card, shown_value
from labs.cockpit.telemetry import Card, Goal

_ENTRY = SCENARIOS["checkpoint_gamble"]
_MS_PER_HOUR = 3_600_000

ANSWER = "Engine, optimum as found"


def shown(outcome: Outcome, value: str) -> Shown:
    """Return a value of the outcome, by the name that plans use, as it is written."""
    return shown_value(_ENTRY, outcome, value)


def moment(outcome: Outcome) -> str:
    """Return nothing: the job has run, and failed, all along."""
    return ""


def crisis_hours(outcome: Outcome) -> float:
    """Return the start of the sampled run, the only moment that tells nothing of it."""
    return 0.0


def big_job(outcome: Outcome) -> str:
    """Return what the map's own colour stands for."""
    return "work lost later"


def shown_frame(outcome: Outcome) -> int:
    """Return the frame of the first failure, at which one node stops all; the first one if nothing fails."""
    fleet, failures = outcome.fleet_map, outcome.strip.failures
    if not failures:
        return 0
    first = failures[0] / _MS_PER_HOUR
    return min(range(len(fleet.hours)), key=lambda frame: abs(fleet.hours[frame] - first))


def occupant(outcome: Outcome, frame: int, gpu: int) -> str:
    """Return what the job does at one frame: how long since its last write, and whether that is kept."""
    strip = outcome.strip
    now = round(outcome.fleet_map.hours[frame] * _MS_PER_HOUR)
    stretch = strip.stretches[min(bisect_right(strip.ends, now), len(strip.ends) - 1)]
    since = duration(Quantity((now - stretch.start) / 1000, "s"))
    fate = " that a failure will undo" if stretch.kind == "lost" else ""
    return f"the job of {count(outcome.gpus)} GPUs, {since} of work since the last write{fate}"


def cards(outcome: Outcome, plan: MissionPlan, act: Act) -> tuple[Card, ...]:
    """Return the four ledger cards; the job runs already, so nothing waits."""
    ceiling = outcome.cluster_mfu / outcome.goodput
    return (
        card("mfu", shown(outcome, "cluster_mfu"), "up", f"of {share(ceiling.m)} if nothing were lost"),
        card("goodput", shown(outcome, "goodput"), "up", f"best {shown(outcome, 'best_goodput')}",
             _goodput_goal(outcome, plan, act)),
        card("wait", Shown(UNKNOWN, ""), "down", "the job runs already"),
        card("tco", shown(outcome, "tco"), "down",
             f"{dollars_a_day(outcome.behind_best.dollars)} behind best"),
    )  # fmt: skip


def charts(outcome: Outcome) -> dict[str, Chart]:
    """Return the act's two charts by name."""
    return {"goodput_curve": goodput_curve(outcome), "run_strip": run_strip(outcome)}


def formula(outcome: Outcome) -> Formula:
    """Return the optimum, exact and by Young's rule, and the goodput, exact and to first order."""
    first = outcome.first_order_goodput
    wrong = "" if first >= 0 and abs(first - outcome.goodput.m) <= 0.01 else ", wrong"
    tau, delta = duration(outcome.interval), duration(outcome.write_time)
    return Formula(
        heading="Why there",
        letters=(
            f"τ interval {tau}, δ write {delta}, M mean time to failure {duration(outcome.mtbf)}, "
            f"R restart {duration(outcome.restart_time)}"
        ),
        terms=(
            Term("Best interval", "M·(1 + W₀(−e^(−1−δ/M)))", str(duration(outcome.best_interval))),
            Term("Young’s rule", "√(2·δ·M)", str(duration(outcome.young_interval))),
            Term("Goodput", "τ / (M·e^(R/M)·(e^((τ+δ)/M) − 1))", str(share(outcome.goodput.m))),
            Term("First order", "1 − δ/τ − τ/2M − R/M", f"{share(first)}{wrong}"),
        ),
    )


def _goodput_goal(outcome: Outcome, plan: MissionPlan, act: Act) -> Goal | None:
    limits = [plan.badges[name] for name in act.badges if plan.badges[name].value == "goodput"]
    if not limits:
        return None
    return Goal(outcome.goodput.m, si(limits[0].limit, "", "limit"), f"goal {limits[0].rule}")


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
