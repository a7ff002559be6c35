"""Act III's two charts: the ring before and after, and the throughput of the three responses through time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import pint

from engine.reliability.elastic import Name, Response
from engine.reliability.ring import Link, Ring
from engine.scenarios.rescale_outcome import ElasticRescaleOutcome as Outcome
from engine.units import Quantity, si
from labs.cockpit.charts import Axis, Chart, Mark, Note, Points, Series, Style, Symbol
from labs.cockpit.format import SPACE, count, digits, duration, gpu_hours, share
from labs.cockpit.views import hours

_PERCENT = 100.0
_BEFORE, _AFTER = 0.0, 2.7
"""Where the middles of the two rings are; a ring has the radius 1."""
_HALF_HEIGHT, _ROOM = 1.12, 1.2
_CROWDED = 40
_NAMES: dict[Name, tuple[str, Style]] = {
    "elastic": ("elastic", "strong"),
    "wait": ("wait", "dashed"),
    "spares": ("spares", "big"),
}


def ring(outcome: Outcome) -> Chart:
    """Return the ring of replicas before the spike and after the response, and which links were made anew."""
    before, after = outcome.ring_before, outcome.ring_after
    places = len(before.members)
    old = tuple(link for link in after.links if link not in after.remade)
    lines = (*_lines(before.links, places, _BEFORE), *_lines(old, places, _AFTER))
    return Chart(
        name="ring",
        title="The ring",
        unit="replicas of the job",
        remark=_ring_words(outcome),
        alt=(
            f"Before: {count(places)} replicas in a ring. After: {count(len(after.members))}. "
            f"Links made anew: {_link_words(after.remade)}."
        ),
        x=Axis(label="before and after", low=_BEFORE - _ROOM, high=_AFTER + _ROOM, ticks=()),
        y=Axis(label="ring", low=-_HALF_HEIGHT, high=_HALF_HEIGHT, ticks=()),
        series=(
            _path("link", "strong", lines),
            _path("made anew", "accent", _lines(after.remade, places, _AFTER)),
        ),
        points=_replicas(outcome, places),
        notes=(*_middle(_BEFORE, "before", before), *_middle(_AFTER, "after", after)),
        square=True,
    )


def throughput(outcome: Outcome) -> Chart:
    """Return the throughput of the three responses in per cent of the whole job, by hours after the spike."""
    three = {name: outcome.responses.named(name) for name in _NAMES}
    last = 1.12 * max(hours(one.full) for one in three.values())
    first = -last / 16
    chosen = three[outcome.response]
    x, y = _steps(chosen, first, last)
    lines = [_response_line(outcome, one, first, last) for one in three.values()]
    return Chart(
        name="throughput",
        title="Throughput",
        unit="per cent of the whole job",
        remark=_break_even_words(outcome),
        alt=" ".join(_told(outcome, one) for one in three.values()),
        x=Axis(
            label="hours after the spike",
            low=first,
            high=last,
            ticks=tuple((float(h), f"{h} h" if h else "0") for h in range(0, int(last) + 1)),
        ),
        y=Axis(label="%", low=-4, high=104, ticks=tuple((t, f"{t} %") for t in range(0, 101, 25))),
        series=(Series(name="your choice", style="halo", x=x, y=y), *lines),
        marks=(Mark(x=0, label="spike"), Mark(x=hours(outcome.repair), label="repair done")),
    )


# ---- the ring ----


def _place(member: int, places: int, middle: float) -> tuple[float, float]:
    angle = math.pi / 2 - 2 * math.pi * member / places
    return middle + math.cos(angle), math.sin(angle)


def _lines(links: Iterable[Link], places: int, middle: float) -> list[tuple[float, float] | None]:
    """Return the links as points on a path that breaks off after each."""
    path: list[tuple[float, float] | None] = []
    for one, other in links:
        path += [_place(one, places, middle), _place(other, places, middle), None]
    return path


def _path(name: str, style: Style, points: Iterable[tuple[float, float] | None]) -> Series:
    points = list(points)
    return Series(
        name=name,
        style=style,
        x=tuple(None if point is None else point[0] for point in points),
        y=tuple(None if point is None else point[1] for point in points),
    )


def _replicas(outcome: Outcome, places: int) -> tuple[Points, ...]:
    """Return the replicas of both rings: those that work, those that are out, and those with stand-ins.

    In a crowded ring a stand-in has no symbol: it would hide the link that was made anew to it.
    """
    hit, after = set(outcome.damage.hit), outcome.ring_after
    members = set(after.members)
    renewed = hit & members if outcome.response == "spares" and after.remade else set()
    crowded = places > _CROWDED
    size = 3.0 if crowded else 8.0
    working = [(member, _BEFORE, "") for member in outcome.ring_before.members]
    working += [(member, _AFTER, "") for member in after.members if member not in renewed]
    out = [(member, _AFTER, ", broken") for member in outcome.ring_before.members if member not in members]
    stand_ins = [(member, _AFTER, ", on spare nodes") for member in sorted(renewed)]
    groups = (
        _group("replica", "dot", working, places, size),
        _group("broken", "cross", out, places, size if crowded else size + 2),
        _group("with stand-ins", "ring", () if crowded else stand_ins, places, size + 2),
    )
    return tuple(group for group in groups if group.x)


def _group(
    name: str, symbol: Symbol, members: Sequence[tuple[int, float, str]], places: int, size: float
) -> Points:
    spots = [_place(member, places, middle) for member, middle, _ in members]
    return Points(
        name=name,
        symbol=symbol,
        x=tuple(x for x, _ in spots),
        y=tuple(y for _, y in spots),
        says=tuple(f"replica {count(member)}{words}" for member, _, words in members),
        size=size,
    )


def _middle(x: float, words: str, one: Ring) -> tuple[Note, Note]:
    members = len(one.members)
    replicas = f"{count(members)} replica{'' if members == 1 else 's'}"
    return Note(x=x, y=0.13, text=words), Note(x=x, y=-0.13, text=replicas)


def _ring_words(outcome: Outcome) -> str:
    remade, reduce = len(outcome.ring_after.remade), outcome.all_reduce
    if outcome.response == "wait" or not outcome.responses.named(outcome.response).possible:
        return f"Nothing is made anew: the ring is still for {duration(outcome.wait)}, then closes as it was."
    links = "1 link is" if remade == 1 else f"{count(remade)} links are"
    times = f"{_milliseconds(reduce.before)} before, {_milliseconds(reduce.after)} after"
    return f"{links} made anew, once. An all-reduce takes {times}."


def _milliseconds(time: pint.Quantity[float]) -> str:
    return f"{digits(si(time, 's', 'time') * 1000)}{SPACE}ms"


def _link_words(links: tuple[Link, ...]) -> str:
    return ", ".join(f"{one} to {other}" for one, other in links) or "none"


# ---- the three responses ----


def _steps(one: Response, first: float, last: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the corners of a response's throughput from `first` to `last`, in hours and per cent."""
    x, y = [first], [_PERCENT]
    for moment, level in zip(one.moments, one.throughput, strict=True):
        x += [moment / 3600, moment / 3600]
        y += [y[-1], level * _PERCENT]
    return (*x, last), (*y, y[-1])


def _response_line(outcome: Outcome, one: Response, first: float, last: float) -> Series:
    """Return one response through time, named with the GPU-hours that it loses."""
    words, style = _NAMES[one.name]
    x, y = _steps(one, first, last)
    says = tuple(f"{words}: {share(level / _PERCENT)}" for level in y)
    return Series(name=f"{words}: {_lost(outcome, one)} lost", style=style, x=x, y=y, says=says)


def _lost(outcome: Outcome, one: Response) -> str:
    return str(gpu_hours(Quantity(outcome.gpus * hours(one.lost), "gpu*h")))


def _break_even_words(outcome: Outcome) -> str:
    chosen = outcome.responses.named(outcome.response)
    if not chosen.possible:
        return f"{_NAMES[chosen.name][0].capitalize()} is not possible: {chosen.reason.rstrip('.')}."
    if outcome.break_even is None:
        return "Elastic is not possible here."
    return f"Elastic beats waiting once the repair takes {duration(outcome.break_even)}."


def _told(outcome: Outcome, one: Response) -> str:
    words = _NAMES[one.name][0].capitalize()
    if not one.possible:
        return f"{words} is not possible: {one.reason.rstrip('.')}."
    turns = [
        f"{share(level)} from {duration(Quantity(moment, 's'))}"
        for moment, level in zip(one.moments, one.throughput, strict=True)
    ]
    return f"{words}: {', '.join(turns)}; {_lost(outcome, one)} lost."
