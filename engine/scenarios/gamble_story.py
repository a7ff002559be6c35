"""Tells Act II: what the sampled run did on the map and in the audit log, and what the interval costs."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any

from engine.fleet.topology import MapShape
from engine.scenarios.audit_outcome import Event, EventKind, FleetMap
from engine.scenarios.gamble_outcome import CheckpointGambleOutcome, RunStrip
from engine.scenarios.words import amount, clock, percent, time_words

if TYPE_CHECKING:
    from engine.scenarios.checkpoint_gamble import CheckpointGambleScenario

_HOUR = 3_600_000
_FRAMES = 24
_WORKING, _LOST = 0x55, 0xFF
_NODES_PER_RACK = 2


def gamble_map(scenario: CheckpointGambleScenario, strip: RunStrip) -> FleetMap:
    """Return the fleet at 25 even moments and at each failure: all work, or all wait for write or restart.

    Work that a failure undoes later has a state of its own, 3.
    """
    nodes, window = scenario.gpus // scenario.gpus_per_node, strip.ends[-1]
    racks = -(-nodes // _NODES_PER_RACK)
    shape = MapShape(
        nodes=nodes,
        gpus_per_node=scenario.gpus_per_node,
        nodes_per_rack=_NODES_PER_RACK,
        racks_per_row=max(1, math.isqrt(racks)),
    )
    moments = sorted({*(window * i // _FRAMES for i in range(_FRAMES + 1)), *strip.failures})
    return FleetMap(
        shape=shape,
        hours=tuple(moment / _HOUR for moment in moments),
        labels=tuple(clock(moment / 1000) for moment in moments),
        crisis=0,
        after_act=0,
        cells=b"".join(_frame(strip, shape, moment) for moment in moments),
    )


def _frame(strip: RunStrip, shape: MapShape, moment: int) -> bytes:
    kind = strip.kinds[min(bisect_right(strip.ends, moment), len(strip.ends) - 1)]
    size = -(-shape.gpus // 4)
    if kind in ("work", "lost"):
        return bytes([_WORKING if kind == "work" else _LOST]) * size
    cells = bytearray(size)
    if kind != "write":
        node = strip.failed_nodes[bisect_right(strip.failures, moment) - 1]
        for gpu in range(node * shape.gpus_per_node, (node + 1) * shape.gpus_per_node):
            cells[gpu // 4] |= 2 << gpu % 4 * 2
    return bytes(cells)


def gamble_events(outcome: CheckpointGambleOutcome) -> tuple[Event, ...]:
    """Return the log: the job, each failure of the sampled run, and the cost of a day against the best."""
    gpus, strip = amount(outcome.gpus), outcome.strip
    start = (
        f"The job holds {gpus} GPUs and writes {amount(outcome.checkpoint.m_as('TB'))} TB in "
        f"{_time(outcome.write_time)} after every {_time(outcome.interval)} of work."
    )
    events = [_event(0, "note", "Start", start)]
    for failure, node in zip(strip.failures, strip.failed_nodes, strict=True):
        lost, idle = _struck(strip, failure)
        sentence = (
            f"Node {node} fails: the {lost} since the last write are lost on {gpus} GPUs, which idle {idle}."
        )
        events.append(_event(failure, "fail", "Failure", sentence))
    return (*events, _verdict(outcome))


def _struck(strip: RunStrip, failure: int) -> tuple[str, str]:
    """Return, in words, the work that a failure took and how long the job was down after it."""
    here = bisect_left(strip.ends, failure)
    start = strip.ends[here - 1] if here else 0
    lost = failure - start if strip.kinds[here] == "lost" and strip.ends[here] == failure else 0
    up = bisect_right(strip.ends, failure)
    while up < len(strip.kinds) and strip.kinds[up] in ("wait", "restart"):
        up += 1
    return time_words(lost / 1000), time_words((strip.ends[up - 1] - failure) / 1000)


def _verdict(outcome: CheckpointGambleOutcome) -> Event:
    behind, flat = outcome.behind_best, outcome.side == "flat"
    sentence = (
        f"Goodput {percent(outcome.goodput.m)} at {_time(outcome.interval)}; the best is "
        f"{percent(outcome.best_goodput.m)} at {_time(outcome.best_interval)}. The difference is "
        f"{amount(behind.gpu_hours.m)} GPU-hours, {amount(behind.dollars.m)} $, a day."
    )
    end = outcome.strip.ends[-1]
    return _event(end, "done" if flat else "cost", "Done" if flat else "Cost", sentence)


def _time(value: Any) -> str:
    return time_words(value.m_as("s"))


def _event(at: int, kind: EventKind, name: str, sentence: str) -> Event:
    return Event(hours=at / _HOUR, clock=clock(at / 1000), kind=kind, name=name, sentence=sentence)
