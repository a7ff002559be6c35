"""Tells Act III: the nodes on the map at each turn of the chosen response, and the audit log."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from engine.fleet.topology import MapShape
from engine.reliability.elastic import Response
from engine.reliability.layout import Damage
from engine.scenarios.audit_outcome import Event, EventKind, FleetMap
from engine.scenarios.rescale_outcome import ElasticRescaleOutcome
from engine.scenarios.words import amount, percent, time_words

if TYPE_CHECKING:
    from engine.scenarios.elastic_rescale import ElasticRescaleScenario

_IDLE, _WORKING, _FAILED = 0, 1, 2
_BEFORE = -600.0
_RACK = 5
_NAMES = ("Crash and wait", "Hot spares", "Elastic rescale")


def rescale_map(scenario: ElasticRescaleScenario, damage: Damage, left: int, chosen: Response) -> FleetMap:
    """Return the job's nodes ten minutes before, at the spike, and at each turn of the chosen response.

    Under hot spares the spare nodes follow those of the job; repaired nodes become the new spares. The racks
    of job and spares make a map that is about square, so that no response moves a rack.
    """
    spares = scenario.spare_nodes if scenario.response == "spares" else 0
    shape = MapShape(
        nodes=scenario.nodes + spares,
        gpus_per_node=scenario.gpus_per_node,
        nodes_per_rack=_RACK,
        racks_per_row=_racks_per_row(scenario.nodes + scenario.spare_nodes, scenario.gpus_per_node),
    )
    repaired = scenario.repair.m_as("s") + (chosen.resumes.m_as("s") if _shrinks(chosen) else 0.0)
    moments = sorted({_BEFORE, *chosen.moments, repaired})
    frames = [_states(scenario, damage, left, chosen, moment, repaired) for moment in moments]
    return FleetMap(
        shape=shape,
        hours=tuple(moment / 3600 for moment in moments),
        labels=tuple(_label(moment) for moment in moments),
        crisis=1,
        after_act=2 if chosen.possible and chosen.name != "wait" else len(moments) - 1,
        cells=b"".join(_packed(states, shape) for states in frames),
    )


def _racks_per_row(nodes: int, gpus_per_node: int) -> int:
    """Return how many racks stand in a row so that the map of these nodes is as wide as high, or nearly."""
    shape = MapShape(nodes=nodes, gpus_per_node=gpus_per_node, nodes_per_rack=_RACK)
    rack_height = _RACK * shape.node_rows
    return max(1, round(math.sqrt(-(-nodes // _RACK) * rack_height / shape.node_columns)))


def _states(
    scenario: ElasticRescaleScenario,
    damage: Damage,
    left: int,
    chosen: Response,
    moment: float,
    repaired: float,
) -> list[int]:
    level = 1.0 if moment < 0 else chosen.at(moment)
    states = [_WORKING if level > 0 else _IDLE] * scenario.nodes
    if scenario.response == "spares":
        stand_ins = scenario.dead_nodes if chosen.possible and moment >= 0 and level > 0 else 0
        states += [_WORKING] * stand_ins + [_IDLE] * (scenario.spare_nodes - stand_ins)
        for node in damage.dead_nodes if stand_ins else ():
            states[node] = _IDLE
    if 0 < level < 1:
        for node in _unused(scenario, damage, left):
            states[node] = _IDLE
    for node in damage.dead_nodes if 0 <= moment < repaired else ():
        states[node] = _FAILED
    return states


def _unused(scenario: ElasticRescaleScenario, damage: Damage, left: int) -> tuple[int, ...]:
    """Return the healthy nodes that the re-formed job leaves out: of hit replicas, or what repacking left."""
    if left == damage.left:
        return damage.idle_nodes
    healthy = scenario.nodes - len(damage.dead_nodes)
    spare = healthy - -(-left * scenario.job.replica_gpus // scenario.gpus_per_node)
    return damage.idle_nodes[len(damage.idle_nodes) - spare :] if spare > 0 else ()


def _shrinks(chosen: Response) -> bool:
    return len(chosen.moments) > 2


def _packed(states: list[int], shape: MapShape) -> bytes:
    cells = bytearray(-(-shape.gpus // 4))
    for node, state in enumerate(states):
        for gpu in range(node * shape.gpus_per_node, (node + 1) * shape.gpus_per_node):
            cells[gpu // 4] |= state << gpu % 4 * 2
    return bytes(cells)


def rescale_events(outcome: ElasticRescaleOutcome, scenario: ElasticRescaleScenario) -> tuple[Event, ...]:
    """Return the log: the spike, what it broke, what the response did, and what each of the three costs.

    What is broken is known once the launcher has detected it; the moment of the spike tells only the spike.
    """
    damage, chosen = outcome.damage, outcome.responses.named(outcome.response)
    dead = damage.dead_nodes
    racks = f"{dead[0] // _RACK} to {dead[-1] // _RACK}"
    detected = scenario.stalls.detection.m_as("s")
    spike = (
        f"A power spike kills nodes {dead[0]} to {dead[-1]} in racks {racks}. The all-reduce does not finish."
    )
    broken = (
        f"Broken replicas: {damage.lost} of {damage.replicas}; "
        f"healthy nodes that stand idle with them: {damage.idle_healthy_nodes}."
    )
    rollback = f"{time_words(outcome.rollback.m_as('s'))} of work since the last finished write is lost."
    events = [
        _event(0.0, "fail", "Spike", spike),
        _event(detected, "fail", "Damage", broken),
        _event(detected, "cost", "Rollback", rollback),
    ]
    if not chosen.possible:
        events.append(_event(detected, "note", "Not possible", f"{chosen.reason.rstrip('.')}."))
    events += [_event(moment, *_turn(outcome, moment, level)) for moment, level in _turns(chosen)]
    return (*events, _verdict(outcome, scenario))


def _turns(chosen: Response) -> list[tuple[float, float]]:
    return list(zip(chosen.moments[1:], chosen.throughput[1:], strict=True))


def _turn(outcome: ElasticRescaleOutcome, moment: float, level: float) -> tuple[EventKind, str, str]:
    if level == 0:
        return "note", "Stall", "The nodes are repaired: the job stops once more to take them back."
    if level == 1:
        return "done", "Full speed", f"The job runs in full again, {time_words(moment)} after the spike."
    ring = outcome.ring_after
    sentence = (
        f"The ring closes round the dead nodes with {len(ring.members)} of {outcome.damage.replicas} "
        f"replicas; links made anew: {len(ring.remade)}. The job goes on at {percent(level)}."
    )
    return "done", "Ring", sentence


def _verdict(outcome: ElasticRescaleOutcome, scenario: ElasticRescaleScenario) -> Event:
    gpus, price = outcome.gpus, scenario.price.m_as("USD/(gpu*h)")
    costs = []
    three = outcome.responses
    for words, one in zip(_NAMES, (three.wait, three.spares, three.elastic), strict=True):
        hours = one.lost.m_as("h") * gpus
        costs.append(f"{words} loses {amount(hours)} GPU-hours, {amount(hours * price)} $")
    sentence = "; ".join(costs) + "."
    if outcome.break_even is not None:
        sentence += (
            f" Elastic beats waiting once the repair takes {time_words(outcome.break_even.m_as('s'))}."
        )
    return _event(outcome.responses.named(outcome.response).full.m_as("s"), "cost", "Cost", sentence)


def _event(at: float, kind: EventKind, name: str, sentence: str) -> Event:
    return Event(hours=at / 3600, clock=_label(at), kind=kind, name=name, sentence=sentence)


def _label(seconds: float) -> str:
    return f"−{time_words(-seconds)}" if seconds < 0 else f"+{time_words(seconds)}"
