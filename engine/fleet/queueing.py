"""Queueing policies on a pool: who starts next when all that counts is how many units are free.

Definitions, shared by all policies. The order of the queue is (submit, id). At one instant, ends release
their units first, then submitted jobs enter the queue, then the policy makes its pass; a job of no length
frees its units in the instant in which it starts. A job larger than the machine is rejected when it is
submitted. All times are integer milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from engine.errors import UnknownName
from engine.fleet.jobs import Jobs, Schedule
from engine.fleet.pool import Workload, run_pool
from engine.fleet.pool_conservative import Conservative, Window
from engine.fleet.pool_easy import Easy
from engine.fleet.pool_fcfs import start_in_order
from engine.fleet.pool_skip import Skip, by_priority


def fcfs(jobs: Jobs, units: int, *, kill_at_limit: bool = True) -> Schedule:
    """Run the jobs first come, first served: while the head fits, start it; nobody passes a blocked head.

    Parameters
    ----------
    units: units of the machine, at least 1.
    kill_at_limit: whether a job is stopped when its estimate has passed.

    Returns
    -------
    The start and end of every job.

    Raises
    ------
    InvalidInput: if `units` is not a whole number of at least 1.
    """
    return start_in_order(Workload.of(jobs, units, kill_at_limit))


def skip(jobs: Jobs, units: int, *, kill_at_limit: bool = True) -> Schedule:
    """Run the jobs greedily: scan the queue in order and start whatever fits now, without a reservation.

    Parameters and errors as for `fcfs`.
    """
    work = Workload.of(jobs, units, kill_at_limit)
    return run_pool(work, Skip(work))


def priority(jobs: Jobs, units: int, *, kill_at_limit: bool = True, blocked_waits: bool = False) -> Schedule:
    """Run the jobs in the order (highest priority, submit, id); a blocked job is skipped.

    Parameters and errors as for `fcfs`, and

    Parameters
    ----------
    blocked_waits: whether a blocked job stops everybody behind it instead.
    """
    work = Workload.of(jobs, units, kill_at_limit)
    return run_pool(work, Skip(work, by_priority(work), blocked_waits=blocked_waits))


def easy(jobs: Jobs, units: int, *, kill_at_limit: bool = True) -> Schedule:
    """Run the jobs under EASY backfilling, which reserves a start for the blocked head only.

    Without a kill at the limit, the estimated end of a job that has outrun its estimate is now. Parameters
    and errors as for `fcfs`.
    """
    work = Workload.of(jobs, units, kill_at_limit)
    return run_pool(work, Easy(work))


def conservative(
    jobs: Jobs, units: int, *, kill_at_limit: bool = True, maintenance: Iterable[Window] = ()
) -> Schedule:
    """Run the jobs under conservative backfilling, which reserves a start for every waiting job.

    Parameters and errors as for `fcfs`, and

    Parameters
    ----------
    maintenance: windows `(start_ms, end_ms, units)` that no job may run into.
    """
    windows = list(maintenance)
    work = Workload.of(jobs, units, kill_at_limit)
    return run_pool(work, Conservative(work, windows), alarms=[end for _, end, _ in windows])


_POLICIES: dict[str, Callable[..., Schedule]] = {
    policy.__name__: policy for policy in (fcfs, skip, easy, conservative, priority)
}
POLICIES = tuple(_POLICIES)
"""The names that `schedule` knows."""


def schedule(jobs: Jobs, units: int, policy: str, *, kill_at_limit: bool = True) -> Schedule:
    """Run the jobs on a pool of `units` under a policy given by its name, one of `POLICIES`.

    Raises
    ------
    UnknownName: for another policy, listing those there are.
    InvalidInput: if `units` is not a whole number of at least 1.
    """
    if policy not in _POLICIES:
        raise UnknownName("policy", policy, list(POLICIES))
    return _POLICIES[policy](jobs, units, kill_at_limit=kill_at_limit)


__all__ = ["POLICIES", "conservative", "easy", "fcfs", "priority", "schedule", "skip"]
