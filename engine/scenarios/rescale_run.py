"""Computes Act III: the damage, the three responses, and what they cost over the window."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from engine.errors import InvalidInput, NoAnswer
from engine.reliability.batch import BatchSplit, split_batch
from engine.reliability.checkpoint import after_failure
from engine.reliability.elastic import (
    Response,
    break_even_repair,
    rescale,
    use_spares,
    wait_for_repair,
)
from engine.reliability.layout import Damage, Layout
from engine.reliability.ring import Ring, all_reduce_time, refilled, reformed, ring
from engine.scenarios.audit_outcome import Money
from engine.scenarios.rescale_outcome import (
    AllReduce,
    ElasticRescaleOutcome,
    Responses,
    ScaleLoss,
    SpareCost,
)
from engine.scenarios.rescale_story import rescale_events, rescale_map
from engine.units import Quantity, si

if TYPE_CHECKING:
    from engine.scenarios.elastic_rescale import ElasticRescaleScenario


def rescale_outcome(scenario: ElasticRescaleScenario) -> ElasticRescaleOutcome:
    """Return the outcome of Act III for one setting of its levers."""
    job = scenario.job
    first = scenario.first_dead_node
    damage = job.damage(range(first, first + scenario.dead_nodes))
    left = damage.repacked if scenario.repack else damage.left
    batch = _batch(scenario, job.data, left)
    throughput = _throughput(scenario, batch)
    responses = _responses(scenario, damage, left, throughput)
    chosen = responses.named(scenario.response)
    window = si(scenario.window, "s", "window")
    _check_window(scenario, responses, window)
    before = ring(range(job.data))
    after = _ring_after(before, chosen, damage, left)
    terms: dict[str, Any] = {
        "response": scenario.response,
        "layout": scenario.layout,
        "order": scenario.order,
        "gpus": job.gpus,
        "damage": damage,
        "capacity": left / job.data,
        "throughput": throughput,
        "batch": batch,
        "ring_before": before,
        "ring_after": after,
        "all_reduce": AllReduce(
            before=_all_reduce(scenario, job.data), after=_all_reduce(scenario, len(after.members))
        ),
        "stall_parts": scenario.stalls.stall(job.data, left if _shrinks(chosen) else job.data),
        "stall": chosen.stall,
        "rollback": chosen.rollback,
        "wait": chosen.resumes,
        "repair": scenario.repair,
        "responses": responses,
        "break_even": _break_even(scenario, left, throughput),
        "window": scenario.window,
        "spares": _spare_cost(scenario, responses, job.gpus),
        "at_scale": _at_scale(first),
        "fleet_map": rescale_map(scenario, damage, left, chosen),
    }
    outcome = ElasticRescaleOutcome(**terms, **_accounts(scenario, chosen, window), events=())
    return outcome.model_copy(update={"events": rescale_events(outcome, scenario)})


def _shrinks(chosen: Response) -> bool:
    return chosen.name == "elastic" and chosen.possible


def _batch(scenario: ElasticRescaleScenario, before: int, after: int) -> BatchSplit | None:
    if after < 1:
        return None
    return split_batch(scenario.global_batch, scenario.micro_batch, before, after)


def _throughput(scenario: ElasticRescaleScenario, batch: BatchSplit | None) -> float:
    if batch is None:
        return 0.0
    return batch.throughput_kept if scenario.batch == "keep" else batch.throughput_shrunk


def _rollback(scenario: ElasticRescaleScenario) -> float:
    """Return the work that is lost in seconds: by default the nodes die in the middle of an interval."""
    tau = scenario.checkpoint_interval
    since = tau / 2 if scenario.since_write is None else scenario.since_write
    write = scenario.stalls.checkpoint / scenario.bandwidth
    return si(after_failure(since, tau, write).lost, "s", "rollback")


def _stall(scenario: ElasticRescaleScenario, saved_on: int, loaded_on: int) -> float:
    return si(scenario.stalls.stall(saved_on, loaded_on).total, "s", "stall")


def _responses(scenario: ElasticRescaleScenario, damage: Damage, left: int, throughput: float) -> Responses:
    rollback, repair = _rollback(scenario), si(scenario.repair, "s", "repair")
    whole = damage.replicas
    stall = _stall(scenario, whole, whole)
    return Responses(
        wait=wait_for_repair(stall, rollback, repair),
        spares=use_spares(stall, rollback, repair, dead=scenario.dead_nodes, spares=scenario.spare_nodes),
        elastic=_elastic(scenario, whole, left, rollback, throughput),
    )


def _elastic(
    scenario: ElasticRescaleScenario, whole: int, left: int, rollback: float, throughput: float
) -> Response:
    repair = si(scenario.repair, "s", "repair")
    try:
        if left == 0:
            raise NoAnswer("The dead nodes hit every replica, so no ring is left to re-form.")
        shrink, grow = _stall(scenario, whole, left), _stall(scenario, left, whole)
    except NoAnswer as error:
        waiting = wait_for_repair(_stall(scenario, whole, whole), rollback, repair, error.message)
        return waiting.variant(name="elastic")
    return rescale(shrink, grow, rollback, repair, throughput=throughput)


def _break_even(scenario: ElasticRescaleScenario, left: int, throughput: float) -> Any:
    whole = scenario.job.data
    try:
        shrink, grow = _stall(scenario, whole, left), _stall(scenario, left, whole)
    except NoAnswer:
        return None
    return (
        (break_even_repair(_stall(scenario, whole, whole), shrink, grow, throughput), "s") if left else None
    )


def _ring_after(before: Ring, chosen: Response, damage: Damage, left: int) -> Ring:
    """Return the ring on which the job goes on: smaller, with stand-ins, or, after the repair, as it was."""
    if not chosen.possible or chosen.name == "wait":
        return before
    if chosen.name == "spares":
        return refilled(before, damage.hit)
    return reformed(before, _gone(damage, left))


def _gone(damage: Damage, left: int) -> tuple[int, ...]:
    """Return the members that leave the ring; repacking fills hit replicas from the lowest on."""
    whole_again = left - damage.left
    return damage.hit[whole_again:]


def _all_reduce(scenario: ElasticRescaleScenario, members: int) -> Any:
    return all_reduce_time(members, scenario.gradient, scenario.link_bandwidth, scenario.link_latency)


def _check_window(scenario: ElasticRescaleScenario, responses: Responses, window: float) -> None:
    for one in (responses.wait, responses.spares, responses.elastic):
        if max(one.full.m_as("s"), one.lost.m_as("s")) > window:
            raise InvalidInput("window", scenario.window, "a window in which every response is back in full")


def _accounts(scenario: ElasticRescaleScenario, chosen: Response, window: float) -> dict[str, Any]:
    """Count the window, through which the job holds its GPUs, and its spares where they are the response."""
    gpus, hours = scenario.job.gpus, window / 3600
    spares = scenario.spare_nodes * scenario.gpus_per_node if scenario.response == "spares" else 0
    lost = chosen.lost.m_as("h") * gpus
    held, useful = (gpus + spares) * hours, gpus * hours - lost
    price = si(scenario.price, "USD/(gpu*h)", "price")
    return {
        "lost": (lost, "gpu*h"),
        "held": (held, "gpu*h"),
        "goodput": useful / held,
        "cluster_mfu": useful / held * scenario.job_mfu,
        "money": Money(
            price=scenario.price,
            per_useful_gpu_hour=scenario.price * (held / useful),
            wasted_per_day=((held - useful) * price * 24 / hours, "USD/day"),
        ),
    }


def _spare_cost(scenario: ElasticRescaleScenario, responses: Responses, gpus: int) -> SpareCost:
    standing = 24.0 * scenario.spare_nodes * scenario.gpus_per_node
    saved = max(0.0, (responses.elastic.lost - responses.spares.lost).m_as("h") * gpus)
    pays = None if not saved or not standing else Quantity(saved / standing, "day")
    return SpareCost(
        nodes=scenario.spare_nodes,
        standing_per_day=(standing, "gpu*h"),
        saved_per_event=(saved, "gpu*h"),
        pays_every=pays,
    )


@lru_cache(maxsize=8)
def _at_scale(first_dead: int) -> tuple[ScaleLoss, ...]:
    """Return what ten dead nodes take from 2,048 nodes in replicas of 16, and from 100 one-node replicas."""
    start = first_dead // 16 * 16
    large = {"tensor": 8, "pipeline": 16, "data": 128}
    cases = (
        ("ten of 2,048 nodes, in one replica", Layout(**large), start),
        ("ten of 2,048 nodes, in ten replicas", Layout(**large, order="stage"), start),
        ("ten of 100 one-node replicas", Layout(tensor=8, pipeline=1, data=100), min(first_dead, 90)),
    )
    rows = []
    for label, job, node in cases:
        damage = job.damage(range(node, node + 10))
        loss = damage.lost / damage.replicas
        rows.append(
            ScaleLoss(label=label, nodes=job.nodes, replicas=damage.replicas, lost=damage.lost, loss=loss)
        )
    return tuple(rows)
