"""Who is stopped when an urgent job does not fit: as few as needed, and nobody in vain.

Victims have strictly lower priority. They are taken in the order lowest priority, latest start, highest id,
until there is room; then whoever turns out not to be needed is spared, the last taken first. If all of them
would not make room, nobody is stopped.

Kueue issue 5243 is what happens otherwise: eight jobs were evicted for one that still could not start.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Running:
    """A job that holds units.

    Parameters
    ----------
    id, size, priority: as in the table of jobs.
    start_ms: when it started, or was last resumed.
    """

    id: int
    size: int
    priority: int
    start_ms: int


def choose_victims(running: Iterable[Running], free: int, size: int, priority: int) -> list[Running]:
    """Return the jobs to stop so that a job of `size` units fits on a pool, in the order of choice.

    Parameters
    ----------
    running: jobs that hold units.
    free: units that nobody holds.
    size, priority: of the job that wants to start.

    Returns
    -------
    The victims; none if the job fits already, or would not fit even if all lower priorities were stopped.
    """
    lower = [job for job in running if job.priority < priority]
    missing = size - free
    if missing <= 0 or sum(job.size for job in lower) < missing:
        return []
    victims: list[Running] = []
    for job in sorted(lower, key=lambda job: (job.priority, -job.start_ms, -job.id)):
        victims.append(job)
        missing -= job.size
        if missing <= 0:
            break
    for job in reversed(victims[:-1]):
        if missing + job.size <= 0:
            missing += job.size
            victims.remove(job)
    return victims


def choose_victims_on_a_node(
    nodes: Sequence[tuple[int, Sequence[Running]]], size: int, priority: int, now_ms: int
) -> tuple[int, list[Running]] | None:
    """Return the node on which a one-node job costs the least work, and its victims there.

    Each node is a pool of its own: units freed elsewhere do not help.

    Parameters
    ----------
    nodes: the free units and the running jobs of each node.
    now_ms: the instant at which victims would be stopped.

    Returns
    -------
    The node with the least lost unit-time (ties: lowest index), or `None` if no node can be cleared.
    """
    choices = []
    for node, (free, running) in enumerate(nodes):
        victims = choose_victims(running, free, size, priority)
        if free + sum(job.size for job in victims) >= size:
            choices.append((sum(lost_unit_ms(job, now_ms) for job in victims), node, victims))
    return min(choices, key=lambda choice: choice[:2])[1:] if choices else None


def kept_ms(elapsed_ms: int, checkpoint_every_ms: int | None) -> int:
    """Return the work that survives a stop after `elapsed_ms`: up to the last checkpoint.

    ⌊elapsed / every⌋ · every, and 0 for a job that writes no checkpoints.
    """
    if checkpoint_every_ms is None:
        return 0
    return elapsed_ms // checkpoint_every_ms * checkpoint_every_ms


def lost_unit_ms(victim: Running, now_ms: int, checkpoint_every_ms: int | None = None) -> int:
    """Return the unit-milliseconds of work that a victim loses: size · (elapsed − kept)."""
    elapsed = now_ms - victim.start_ms
    return victim.size * (elapsed - kept_ms(elapsed, checkpoint_every_ms))


__all__ = ["Running", "choose_victims", "choose_victims_on_a_node", "kept_ms", "lost_unit_ms"]
