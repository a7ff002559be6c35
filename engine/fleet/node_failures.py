"""When nodes fail and for how long, fixed before the run, so that every policy meets the same hardware."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NodeFailure:
    """A node that fails at a moment, and how long its repair takes, both in ms."""

    at: int
    node: int
    repair: int


def node_failures(
    nodes: int,
    rate_per_node_ms: float,
    span_ms: int,
    *,
    repair_median_ms: float,
    repair_sigma: float,
    seed: int,
) -> list[NodeFailure]:
    """Return the failures of a fleet: a Poisson process over all nodes, repairs log-normal.

    Parameters
    ----------
    nodes: number of nodes; each is hit with the same chance.
    rate_per_node_ms: failures per node and millisecond.
    span_ms: only failures before this moment are returned.
    repair_median_ms, repair_sigma: of the repair time.
    seed: of the generator.
    """
    if rate_per_node_ms <= 0:
        return []
    rng = random.Random(f"node failures {seed}")
    found: list[NodeFailure] = []
    at = rng.expovariate(rate_per_node_ms * nodes)
    while at < span_ms:
        node = rng.randrange(nodes)
        repair = rng.lognormvariate(math.log(repair_median_ms), repair_sigma)
        found.append(NodeFailure(round(at), node, max(1, round(repair))))
        at += rng.expovariate(rate_per_node_ms * nodes)
    return found
