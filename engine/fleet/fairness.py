"""Who waits, and how long: waits and slowdown by group of jobs, with those still waiting not left out.

A job that still waits at the horizon has waited at least until then. It counts with that and is reported as
censored; a figure that could only be larger if one knew the end is marked as a lower bound. Leaving such jobs
out would make the worst policy look best: one that starts few jobs, and those at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InvalidInput
from engine.fleet.jobs import Column, Jobs, Schedule, bounded_slowdown
from engine.fleet.quantiles import rank
from engine.model import Frozen
from engine.units import Quantity, Time, si

SIZE_CLASSES = (1, 4, 8)
"""Upper bounds of the size classes 1, 2–4, 5–8 and more; Jeon et al., USENIX ATC 2019, figure 2."""


class Waits(Frozen):
    """The spread of waiting times in a group.

    Parameters
    ----------
    mean, p50, p95, max: of all jobs of the group; quantiles by nearest rank.
    lower_bounds: the names of those figures that could be larger, since jobs still wait.
    """

    mean: Time
    p50: Time
    p95: Time
    max: Time
    lower_bounds: tuple[str, ...] = ()


class Slowdowns(Frozen):
    """The spread of bounded slowdowns in a group; fields as in `Waits`."""

    mean: float
    p50: float
    p95: float
    max: float
    lower_bounds: tuple[str, ...] = ()


class GroupFairness(Frozen):
    """How one group of jobs fared.

    Parameters
    ----------
    jobs: jobs that were submitted by the horizon and not rejected.
    censored: those of them that had not started by then.
    rejected: jobs that asked for more than the machine has.
    waits, slowdowns: absent for a group without jobs.
    """

    jobs: int
    censored: int
    rejected: int
    waits: Waits | None
    slowdowns: Slowdowns | None


def fairness(
    schedule: Schedule, groups: Sequence[Any] | ArrayLike, *, horizon: Any = None, bound: Any = "10 s"
) -> dict[str, GroupFairness]:
    """Return how each group of jobs fared, in ascending order of the groups' names.

    Parameters
    ----------
    schedule: the jobs and when they started.
    groups: shape `(jobs,)`, the group of each job, for instance its user.
    horizon: time from the start of the clock at which one looks; the last end if absent.
    bound: slowdowns do not count a job as shorter than this; see `Schedule.slowdown`.

    Raises
    ------
    InvalidInput: for groups of another length, or times that are none.
    """
    labels = np.asarray(groups)
    if labels.shape != (len(schedule.jobs),):
        raise InvalidInput("groups", f"shape {labels.shape}", f"one group a job, {len(schedule.jobs)} in all")
    last = int(schedule.end_ms.max(initial=0)) if horizon is None else round(si(horizon, "ms", "horizon"))
    names, number = np.unique(labels, return_inverse=True)
    by_group = np.argsort(number, kind="stable")
    rows = np.split(by_group, np.searchsorted(number[by_group], np.arange(1, names.size)))
    return {str(name): _group(schedule, own, last, bound) for name, own in zip(names, rows, strict=False)}


def overall(schedule: Schedule, *, horizon: Any = None, bound: Any = "10 s") -> GroupFairness:
    """Return how all jobs together fared; parameters as for `fairness`."""
    everybody = np.zeros(len(schedule.jobs), int)
    none = GroupFairness(jobs=0, censored=0, rejected=0, waits=None, slowdowns=None)
    return fairness(schedule, everybody, horizon=horizon, bound=bound).get("0", none)


def size_classes(jobs: Jobs, bounds: Sequence[int] = SIZE_CLASSES) -> list[str]:
    """Return the size class of each job as a text such as `"2-4"`, for `fairness`.

    Parameters
    ----------
    bounds: the largest size of each class, ascending; the last class is open.
    """
    if not bounds or any(low >= high for low, high in zip((0, *bounds), bounds, strict=False)):
        raise InvalidInput("bounds", bounds, "sizes in ascending order")
    lows = [1] + [bound + 1 for bound in bounds]
    names = [str(low) if low == high else f"{low}-{high}" for low, high in zip(lows, bounds, strict=False)]
    names.append(f"{lows[-1]}+")
    return [names[index] for index in np.searchsorted(bounds, jobs.size)]


def _group(schedule: Schedule, rows: Column, horizon: int, bound: Any) -> GroupFairness:
    jobs = schedule.jobs
    rejected = schedule.rejected[rows]
    rows = rows[~rejected & (jobs.submit_ms[rows] <= horizon)]
    start, submit = schedule.start_ms[rows], jobs.submit_ms[rows]
    censored = start > horizon
    length = jobs.length_ms(schedule.kill_at_limit)[rows]
    end = np.where(censored, horizon + length, schedule.end_ms[rows])
    waits = np.minimum(start, horizon) - submit
    slowdowns = bounded_slowdown(end - submit, length, bound)
    return GroupFairness(
        jobs=rows.size,
        censored=int(censored.sum()),
        rejected=int(rejected.sum()),
        waits=Waits(**_spread(waits.astype(float), censored, "ms")) if rows.size else None,
        slowdowns=Slowdowns(**_spread(slowdowns, censored, "")) if rows.size else None,
    )


def _spread(values: NDArray[np.float64], censored: NDArray[np.bool_], unit: str) -> dict[str, Any]:
    """Return mean, quantiles and maximum; with the names of those that censored values may hold down."""
    ascending, known = np.sort(values), values[~censored]
    figures = {"mean": math.fsum(values.tolist()) / values.size, "max": float(ascending[-1])}
    lower_bounds = ["mean", "max"] if censored.any() else []
    for name, percent in (("p50", 50), ("p95", 95)):
        index = rank(values.size, percent)
        figures[name] = float(ascending[index])
        if np.count_nonzero(known <= ascending[index]) <= index:
            lower_bounds.append(name)
    shown = {name: Quantity(value, unit) if unit else value for name, value in figures.items()}
    return shown | {"lower_bounds": tuple(sorted(lower_bounds))}


__all__ = ["SIZE_CLASSES", "GroupFairness", "Slowdowns", "Waits", "fairness", "overall", "size_classes"]
