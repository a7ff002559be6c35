"""The ring all-reduce between replicas: what it costs, and which links are made anew without some members."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pint

from engine.model import Frozen
from engine.units import Quantity, si, whole

Link = tuple[int, int]


class Ring(Frozen):
    """A ring of replicas: its members in order and the links from each to the next; `remade` are new ones."""

    members: tuple[int, ...]
    links: tuple[Link, ...]
    remade: tuple[Link, ...] = ()


def ring(members: Iterable[int]) -> Ring:
    """Return the ring that connects the members in their order; one member alone has no links."""
    order = tuple(members)
    return Ring(members=order, links=_links(order))


def reformed(before: Ring, lost: Iterable[int]) -> Ring:
    """Return the ring without the lost members, in the same order, and which of its links are new."""
    gone = set(lost)
    order = tuple(member for member in before.members if member not in gone)
    links, old = _links(order), set(before.links)
    return Ring(members=order, links=links, remade=tuple(link for link in links if link not in old))


def refilled(before: Ring, renewed: Iterable[int]) -> Ring:
    """Return the ring with stand-ins for parts of some members: the links that touch one of these are new."""
    new = set(renewed)
    return Ring(
        members=before.members,
        links=before.links,
        remade=tuple(link for link in before.links if new.intersection(link)),
    )


def all_reduce_time(members: int, size: Any, bandwidth: Any, latency: Any) -> pint.Quantity[Any]:
    """Return the time of a ring all-reduce, 2(n−1)/n · bytes/bandwidth + 2(n−1)·α; 0 for one member.

    Parameters
    ----------
    members: n, at least 1.
    size: the bytes that each member holds.
    bandwidth: of one link, above 0.
    latency: α, of one of the 2(n−1) steps.

    Raises
    ------
    InvalidInput: naming the parameter.
    """
    n = whole(members, "members", low=1)
    transfer = si(size, "B", "size") / si(bandwidth, "B/s", "bandwidth", low_open=True)
    return Quantity(2 * (n - 1) / n * transfer + 2 * (n - 1) * si(latency, "s", "latency"), "s")


def _links(order: tuple[int, ...]) -> tuple[Link, ...]:
    return tuple(pairwise((*order, order[0]))) if len(order) > 1 else ()
