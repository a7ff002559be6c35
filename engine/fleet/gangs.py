"""Why a gang must start whole: what happens when two gangs are started pod by pod."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.units import whole


@dataclass(frozen=True)
class Admission:
    """Who holds what when nothing more can start.

    Parameters
    ----------
    held: units held by each gang, in the order given.
    complete: whether each gang has all its pods, and so can work and end.
    """

    held: tuple[int, ...]
    complete: tuple[bool, ...]

    @property
    def deadlock(self) -> bool:
        """Whether units are held and no gang can ever end: everybody waits for everybody."""
        return any(self.held) and not any(self.complete)


def start_whole(pods: Sequence[int], units: int) -> Admission:
    """Start each gang in turn if all of its pods fit, and otherwise none of them.

    Parameters
    ----------
    pods: pods of each gang; a pod takes one unit.
    units: units of the pool.
    """
    free = whole(units, "units", low=1)
    held = []
    for count in pods:
        held.append(count if count <= free else 0)
        free -= held[-1]
    return _admission(held, pods)


def start_pod_by_pod(pods: Sequence[int], units: int) -> Admission:
    """Start one pod of each gang in turn, round and round, until nothing is free or all are complete.

    Parameters as for `start_whole`.
    """
    free = whole(units, "units", low=1)
    held = [0] * len(pods)
    while free and any(have < want for have, want in zip(held, pods, strict=True)):
        for gang, want in enumerate(pods):
            if free and held[gang] < want:
                held[gang] += 1
                free -= 1
    return _admission(held, pods)


def _admission(held: Sequence[int], pods: Sequence[int]) -> Admission:
    return Admission(tuple(held), tuple(have == want for have, want in zip(held, pods, strict=True)))


__all__ = ["Admission", "start_pod_by_pod", "start_whole"]
