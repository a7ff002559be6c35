"""Three answers to dead nodes on one timeline: crash and wait, hot spares, elastic rescale.

Time counts from the moment the nodes die. A job that waits hands its dead nodes to repair at once; an elastic
one does when its ring has closed without them, runs on at its reduced throughput while they are repaired, and
stalls once more to take them back. The work since the last finished write is lost in every case.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, Literal

import pint

from engine.errors import InvalidInput, NoAnswer
from engine.model import Frozen
from engine.units import Bandwidth, Bytes, Quantity, Time

Name = Literal["wait", "spares", "elastic"]


class Stall(Frozen):
    """How long nothing runs while a job is re-formed: detect, rendezvous, start, load and perhaps reshard."""

    detection: Time
    rendezvous: Time
    process_start: Time
    load: Time
    reshard: Time

    @property
    def total(self) -> pint.Quantity[Any]:
        """The sum of the five."""
        terms = (self.detection, self.rendezvous, self.process_start, self.load, self.reshard)
        return Quantity(math.fsum(term.m_as("s") for term in terms), "s")


class StallBudget(Frozen):
    """What re-forming a job takes, and whether its checkpoint loads on another number of replicas.

    Parameters
    ----------
    detection, rendezvous, process_start: the times of the launcher.
    checkpoint, bandwidth: bytes to load, and how fast.
    checkpoint_format: `any-size` checkpoints load on another number of replicas as they are, `converted` ones
        after `reshard_time`, `same-size` ones not at all.
    reshard_time: of a conversion; BLOOM's took 45 min.
    """

    detection: Time
    rendezvous: Time
    process_start: Time
    checkpoint: Bytes
    bandwidth: Bandwidth
    checkpoint_format: Literal["any-size", "converted", "same-size"] = "any-size"
    reshard_time: Time = "45 min"

    def stall(self, saved_on: int, loaded_on: int) -> Stall:
        """Return the stall of loading, on some replicas, a checkpoint that was saved on others.

        Raises
        ------
        NoAnswer: if the numbers differ and the checkpoint loads on the same number only.
        """
        resized = saved_on != loaded_on
        if resized and self.checkpoint_format == "same-size":
            raise NoAnswer(
                f"A checkpoint saved on {saved_on} replicas does not load on {loaded_on}.",
                hint="Use a checkpoint format that reshards, or convert it first.",
            )
        converted = resized and self.checkpoint_format == "converted"
        return Stall(
            detection=self.detection,
            rendezvous=self.rendezvous,
            process_start=self.process_start,
            load=self.checkpoint / self.bandwidth,
            reshard=self.reshard_time if converted else (0.0, "s"),
        )


class Response(Frozen):
    """One response through time: throughput, as a share of the whole job's, from each moment to the next.

    `lost` counts the rollback and the missing throughput in hours of the full job.
    """

    name: Name
    possible: bool
    reason: str
    moments: tuple[float, ...]
    throughput: tuple[float, ...]
    stall: Time
    rollback: Time
    resumes: Time
    full: Time
    lost: Time

    def at(self, seconds: float) -> float:
        """Return the throughput at a moment, in seconds after the nodes died; before that it is 1."""
        level = 1.0
        for moment, value in zip(self.moments, self.throughput, strict=True):
            level = value if seconds >= moment else level
        return level


def wait_for_repair(stall: float, rollback: float, repair: float, reason: str = "") -> Response:
    """Return crash and wait: nothing runs until the nodes are repaired and the job has restarted.

    All times are plain seconds. With a `reason` this stands for a response that is not possible.
    """
    return _response("wait", [(0.0, 0.0), (repair + stall, 1.0)], stall, rollback, reason)


def use_spares(stall: float, rollback: float, repair: float, *, dead: int, spares: int) -> Response:
    """Return hot spares: idle nodes take the place of the dead ones; too few of them, and the job waits."""
    if spares < dead:
        reason = f"{spares} spares do not replace {dead} dead nodes, so the job waits for the repair"
        return wait_for_repair(stall, rollback, repair, reason).variant(name="spares")
    return _response("spares", [(0.0, 0.0), (stall, 1.0)], stall, rollback)


def rescale(shrink: float, grow: float, rollback: float, repair: float, *, throughput: float) -> Response:
    """Return elastic rescale: a stall, reduced throughput during the repair, a stall to grow, full again."""
    steps = [
        (0.0, 0.0),
        (shrink, throughput),
        (shrink + repair, 0.0),
        (shrink + repair + grow, 1.0),
    ]
    return _response("elastic", steps, shrink, rollback)


def break_even_repair(stall: float, shrink: float, grow: float, throughput: float) -> float:
    """Return the repair time in seconds above which elastic loses less than waiting.

    Waiting loses repair + stall, elastic shrink + grow + (1 − c)·repair, both the rollback: they are equal at
    (shrink + grow − stall)/c, which is stall/c when all three stalls are alike.

    Raises
    ------
    InvalidInput: if no throughput is left.
    """
    if throughput <= 0:
        raise InvalidInput("throughput", throughput, "a share above 0")
    return max(0.0, (shrink + grow - stall) / throughput)


def _response(
    name: Name, steps: list[tuple[float, float]], stall: float, rollback: float, reason: str = ""
) -> Response:
    lost = [(after - before) * (1 - level) for (before, level), (after, _) in pairwise(steps)]
    resumes = next(moment for moment, level in steps if level > 0)
    return Response(
        name=name,
        possible=not reason,
        reason=reason,
        moments=tuple(moment for moment, _ in steps),
        throughput=tuple(level for _, level in steps),
        stall=(stall, "s"),
        rollback=(rollback, "s"),
        resumes=(resumes, "s"),
        full=(steps[-1][0], "s"),
        lost=(math.fsum([rollback, *lost]), "s"),
    )
