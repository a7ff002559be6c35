"""Defragmentation of whole nodes: stop the world, move a few jobs aside, and a big one fits.

The case of one job a node. Jobs that share nodes are moved by the fleet's own operator, who also counts the
pause.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.errors import InvalidInput, NoAnswer
from engine.units import number, whole


@dataclass(frozen=True)
class DefragPlan:
    """Which nodes are cleared, and who moves where.

    Parameters
    ----------
    window: the nodes that will be free, in fabric order.
    moves: (from node, to node), in ascending order of the first.
    moved: the jobs that move, each once.
    """

    window: tuple[int, ...]
    moves: tuple[tuple[int, int], ...]
    moved: frozenset[Hashable]

    def remaining_after(self, remaining_ms: Mapping[Hashable, int], tax: float) -> dict[Hashable, int]:
        """Return the remaining run time of every job: a moved one pays (1 + tax), the others nothing.

        Parameters
        ----------
        remaining_ms: remaining run time by job.
        tax: share of its remaining time that a move costs a job, at least 0.
        """
        share = number(tax, "tax", low=0.0)
        return {job: time + round(time * share) * (job in self.moved) for job, time in remaining_ms.items()}


def plan_defrag(
    occupants: Sequence[Hashable | None], request: int, failed: Collection[int] = ()
) -> DefragPlan:
    """Return the cheapest way to free `request` contiguous nodes by moving jobs.

    The window is the run of healthy nodes in fabric order with the fewest jobs on it (ties: lowest start).
    Its jobs go, in ascending node order, to the lowest free nodes outside.

    Parameters
    ----------
    occupants: the job on each node, `None` for a free one.
    request: nodes wanted, at least 1.
    failed: nodes that can neither be used nor count; a window passes over them.

    Raises
    ------
    NoAnswer: if fewer nodes are free than wanted; nothing moves then.
    InvalidInput: for a request below 1 or a failed node that does not exist.
    """
    request = whole(request, "request", low=1)
    if not all(0 <= node < len(occupants) for node in failed):
        raise InvalidInput("failed", sorted(failed), f"nodes from 0 to {len(occupants) - 1}")
    healthy = [node for node in range(len(occupants)) if node not in failed]
    busy = np.array([occupants[node] is not None for node in healthy], bool)
    free = int(busy.size - busy.sum())
    if free < request:
        raise NoAnswer(
            f"{request} nodes are wanted and {free} are free.",
            hint="Moving jobs does not free nodes; wait, or stop a job.",
            request=request,
            free=free,
        )
    jobs_before = np.concatenate(([0], np.cumsum(busy)))
    start = int(np.argmin(jobs_before[request:] - jobs_before[:-request]))
    window = healthy[start : start + request]
    movers = [node for node in window if occupants[node] is not None]
    targets = [node for node in healthy if occupants[node] is None and node not in set(window)]
    moves = tuple(zip(movers, targets, strict=False))
    return DefragPlan(tuple(window), moves, frozenset(occupants[node] for node in movers))


__all__ = ["DefragPlan", "plan_defrag"]
