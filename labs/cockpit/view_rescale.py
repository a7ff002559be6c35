"""Act III on screen: the cards, charts and words of an elastic rescale's outcome."""

from __future__ import annotations

from engine.missions import Act, MissionPlan
from engine.reliability.layout import Layout
from engine.scenarios.registry import SCENARIOS
from engine.scenarios.rescale_outcome import ElasticRescaleOutcome as Outcome
from labs.cockpit.charts import Chart
from labs.cockpit.format import SPACE, Shown, count, dollars_a_day, duration, share
from labs.cockpit.formula import Formula, Term
from labs.cockpit.rescale_charts import ring, throughput
from labs.cockpit.shown import card, shown_value
from labs.cockpit.telemetry import Card

_ENTRY = SCENARIOS["elastic_rescale"]

ANSWER = "Engine, as it was laid out"


def shown(outcome: Outcome, value: str) -> Shown:
    """Return a value of the outcome, by the name that plans use, as it is written."""
    return shown_value(_ENTRY, outcome, value)


def moment(outcome: Outcome) -> str:
    """Return nothing: all times count from the spike."""
    return ""


def crisis_hours(outcome: Outcome) -> float:
    """Return when the spike comes: all times count from it."""
    return 0.0


def big_job(outcome: Outcome) -> str:
    """Return nothing: the map shows the nodes of one job, and no other."""
    return ""


def shown_frame(outcome: Outcome) -> int:
    """Return the frame once the response has taken hold; of a job that waits, the spike."""
    fleet, chosen = outcome.fleet_map, outcome.responses.named(outcome.response)
    waits = not chosen.possible or outcome.response == "wait"
    return fleet.crisis if waits else fleet.after_act


def occupant(outcome: Outcome, frame: int, gpu: int) -> str:
    """Return which replica of the job a GPU works for; spares stand behind the job's nodes."""
    if gpu >= outcome.gpus:
        return "a spare node that stands in"
    shape = outcome.fleet_map.shape
    job = Layout.read_text(outcome.layout, gpus_per_node=shape.gpus_per_node, order=outcome.order)
    return f"replica {count(job.replica(gpu))} of {count(outcome.damage.replicas)}"


def cards(outcome: Outcome, plan: MissionPlan, act: Act) -> tuple[Card, ...]:
    """Return the four ledger cards; the wait is until the job runs again."""
    ceiling = outcome.cluster_mfu / outcome.goodput
    return (
        card("mfu", shown(outcome, "cluster_mfu"), "up", f"of {share(ceiling.m)} at full speed"),
        card(
            "goodput",
            shown(outcome, "goodput"),
            "up",
            f"{shown(outcome, 'lost')} lost",
        ),
        card(
            "wait", shown(outcome, "wait"), "down", f"until it runs again; repair {duration(outcome.repair)}"
        ),
        card("tco", shown(outcome, "tco"), "down", f"{dollars_a_day(outcome.money.wasted_per_day)} wasted"),
    )


def charts(outcome: Outcome) -> dict[str, Chart]:
    """Return the act's two charts by name."""
    return {"ring": ring(outcome), "throughput": throughput(outcome)}


def formula(outcome: Outcome) -> Formula:
    """Return what decides capacity and break-even, and what ten dead nodes take from a job of 2,048 nodes."""
    damage, whole = outcome.damage, outcome.damage.replicas
    return Formula(
        heading="Why that much",
        letters="s stall of a restart, s₁ to shrink, s₂ to grow again, c throughput in between",
        terms=(
            Term("Capacity", f"({whole} − {damage.lost}) / {whole} whole", str(shown(outcome, "capacity"))),
            Term("Stall", "detect + rendezvous + start + load", str(shown(outcome, "stall"))),
            Term("Break-even repair", "(s₁ + s₂ − s) / c", str(shown(outcome, "break_even"))),
            *_spares(outcome),
            *(Term(f"Lost: {row.label}", "", f"{row.loss.m * 100:.1f}{SPACE}%") for row in outcome.at_scale),
        ),
    )  # fmt: skip


def _spares(outcome: Outcome) -> tuple[Term, ...]:
    cost = outcome.spares
    if outcome.response != "spares" or cost.pays_every is None:
        return ()
    return (
        Term(
            f"{count(cost.nodes)} spares pay", "with a spike at least every", str(duration(cost.pays_every))
        ),
    )


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
