"""Where a job goes: on one node by spread, best, first or random fit; on whole nodes when it needs more.

Spread takes the node with most free GPUs (the Kubernetes default, least allocated), best fit the one with
least that suffices; ties go to the lowest index. First fit takes the lowest index, random any that fits.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from engine.errors import InvalidInput
from engine.fleet.bits import lowest
from engine.fleet.occupancy import Occupancy

Placement = Literal["spread", "best", "first", "random"]
Pick = Callable[[int, int], int]
EVERYWHERE = -1
"""The set of all nodes."""


def picker(fleet: Occupancy, placement: Placement, seed: int = 0) -> Pick:
    """Return a function `(gpus, allowed) → node` that picks a node with room among the allowed, or -1.

    Parameters
    ----------
    fleet: the occupancy that the function looks at each time.
    placement: which rule.
    seed: of the random rule's generator.

    Raises
    ------
    InvalidInput: for an unknown rule.
    """
    if placement not in get_args(Placement):
        raise InvalidInput("placement", placement, "one of " + ", ".join(get_args(Placement)))
    orders = free_orders(fleet, placement)
    if orders is not None:
        return _by_free_count(fleet, orders)
    return _first(fleet) if placement == "first" else _random(fleet, random.Random(seed))


def free_orders(fleet: Occupancy, placement: Placement) -> list[list[int]] | None:
    """Return, by the GPUs that a job needs, in which order a rule tries the free counts of nodes.

    None for a rule that does not go by them.
    """
    needs = range(fleet.gpus_per_node + 1)
    if placement == "spread":
        return [list(range(fleet.gpus_per_node, gpus - 1, -1)) for gpus in needs]
    if placement == "best":
        return [list(range(gpus, fleet.gpus_per_node + 1)) for gpus in needs]
    return None


def _by_free_count(fleet: Occupancy, orders: list[list[int]]) -> Pick:
    boards = fleet.boards

    def pick(gpus: int, allowed: int = EVERYWHERE) -> int:
        if allowed == EVERYWHERE:  # most calls: spare them a copy of each board
            for free in orders[gpus]:
                if nodes := boards[free]:
                    return (nodes & -nodes).bit_length() - 1
            return -1
        for free in orders[gpus]:
            if (nodes := boards[free]) and (nodes := nodes & allowed):
                return (nodes & -nodes).bit_length() - 1
        return -1

    return pick


def _with_room(fleet: Occupancy, gpus: int, allowed: int) -> int:
    nodes = 0
    for board in fleet.boards[gpus:]:
        nodes |= board
    return nodes & allowed


def _first(fleet: Occupancy) -> Pick:
    def pick(gpus: int, allowed: int = EVERYWHERE) -> int:
        nodes = _with_room(fleet, gpus, allowed)
        return (nodes & -nodes).bit_length() - 1

    return pick


def _random(fleet: Occupancy, rng: random.Random) -> Pick:
    def pick(gpus: int, allowed: int = EVERYWHERE) -> int:
        nodes = _with_room(fleet, gpus, allowed)
        if not nodes:
            return -1
        return lowest(nodes, rng.randrange(nodes.bit_count()) + 1).bit_length() - 1

    return pick


def whole_node_gpus(gpus: NDArray[np.int64], per_node: int) -> NDArray[np.int64]:
    """Return how many GPUs jobs hold: what they ask for on one node, else all of ⌈gpus / per_node⌉ nodes."""
    return np.where(gpus > per_node, -(-gpus // per_node) * per_node, gpus)


def whole_nodes(fleet: Occupancy, count: int, contiguous: bool, allowed: int = EVERYWHERE) -> int:
    """Return `count` wholly free allowed nodes as a set, lowest index first, or 0 if they are not there."""
    if contiguous:
        return fleet.find_block(count, allowed)
    free = fleet.whole_free & allowed
    return lowest(free, count) if free.bit_count() >= count else 0
