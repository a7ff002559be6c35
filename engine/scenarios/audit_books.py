"""From a finished history of Act I to its outcome: the books, the waits, the money and the through-time."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.fleet.jobs import NEVER
from engine.fleet.quantiles import rank
from engine.fleet.workload import HOUR_MS
from engine.scenarios.audit_log import clock, events_of
from engine.scenarios.audit_map import fleet_map
from engine.scenarios.audit_outcome import (
    BigJob,
    Books,
    FragmentationAuditOutcome,
    Money,
    ThroughTime,
    Waits,
)
from engine.scenarios.audit_run import AuditRun
from engine.scenarios.audit_table import JobTable
from engine.units import Quantity


def outcome_of(run: AuditRun) -> FragmentationAuditOutcome:
    """Return the outcome of a history that was played to its horizon."""
    books, spent = _books(run)
    found, after = run.found, run.after_act
    scenario, act = run.scenario, run.act
    held, available = books.held.magnitude, books.available.magnitude
    outcome = FragmentationAuditOutcome(
        clock=clock(run, run.crisis),
        noun=run.people.noun,
        big_job=_big_job(run),
        busy_as_found=found.busy_gpus,
        idle_as_found=scenario.shape.gpus
        - found.busy_gpus
        - len(found.failed) * scenario.shape.gpus_per_node,
        small_jobs_as_found=run.small_jobs_as_found,
        fragmentation_as_found=found.fragmentation,
        fragmentation=after.fragmentation,
        largest_block=after.largest_block,
        free_nodes=after.free_nodes,
        kills=len(act.eviction.victims) if act.eviction else 0,
        moves=len(act.migration.moves) if act.migration else 0,
        migration_refused=act.refused,
        books=books,
        goodput=books.retained.magnitude / held if held else 0.0,
        cluster_mfu=books.retained.magnitude / available * float(scenario.job_mfu.magnitude),
        utilisation=_utilisation(run, spent),
        money=_money(run, books),
        waits=_waits(run),
        through_time=_through_time(run),
        fleet_map=fleet_map(run),
        events=events_of(run),
    )
    outcome.attach(JobTable(run))
    return outcome


def _books(run: AuditRun) -> tuple[Books, list[tuple[int, int, int]]]:
    """Add the books up in whole GPU-ms, so that held is the sum of its parts to the last one.

    Also returns (start, end, GPUs) of the attempts that were cut, for the utilisation.
    """
    fleet, end = run.fleet, run.end
    start = np.array(fleet.start, np.int64)
    due = np.minimum(np.array(fleet.due, np.int64), end)
    size = np.array(fleet.gpus, np.int64)
    whole = (start != NEVER) & (np.array(fleet.due, np.int64) != NEVER)
    held = int((size * (due - start))[whole].sum())
    lost = {"eviction": 0, "failure": 0}
    pause = tax = 0
    cut: list[tuple[int, int, int]] = []
    for attempt in fleet.attempts:
        gpus = fleet.gpus[attempt.row]
        held += gpus * (attempt.end - attempt.start)
        cut.append((attempt.start, attempt.end, gpus))
        kept = run.kept.get((attempt.row, attempt.end), 0)
        paused, paid = run.overhead(attempt.row, attempt.start, attempt.end)
        pause, tax = pause + gpus * paused, tax + gpus * paid
        lost[attempt.cause] += gpus * (attempt.end - attempt.start - paused - paid - kept)
    # the pause of `overhead`, of all who were paused and not cut since
    rows = np.flatnonzero(whole & (start <= run.crisis) & (run.crisis < due))
    resumed = np.array([run.act.paused.get(row, run.crisis) for row in rows.tolist()], np.int64)
    pause += int((size[rows] * (np.minimum(due[rows], resumed) - run.crisis)).sum())
    for row in run.act.tax:
        if whole[row]:
            tax += int(size[row]) * run.overhead(row, int(start[row]), int(due[row]))[1]
    total = lost["eviction"] + lost["failure"]
    books = Books(
        available=_gpu_hours(run.scenario.shape.gpus * end),
        held=_gpu_hours(held),
        retained=_gpu_hours(held - total - tax - pause),
        lost=_gpu_hours(total),
        lost_to_eviction=_gpu_hours(lost["eviction"]),
        lost_to_failures=_gpu_hours(lost["failure"]),
        tax=_gpu_hours(tax),
        pause=_gpu_hours(pause),
        writes=_gpu_hours(0),
    )
    return books, cut


def _utilisation(run: AuditRun, cut: list[tuple[int, int, int]]) -> float:
    """Return held GPU time / all GPU time from the crisis to the horizon."""
    fleet = run.fleet
    start, due = np.array(fleet.start, np.int64), np.array(fleet.due, np.int64)
    inside = np.minimum(due, run.end) - np.maximum(start, run.crisis)
    held = int((np.array(fleet.gpus, np.int64) * np.maximum(0, inside))[start != NEVER].sum())
    held += sum(gpus * max(0, stop - max(begin, run.crisis)) for begin, stop, gpus in cut)
    return held / (run.scenario.shape.gpus * (run.end - run.crisis))


def _big_job(run: AuditRun) -> BigJob:
    started = run.gang_started
    nodes = run.gang_nodes
    return BigJob(
        job=run.gang + 1,
        gpus=run.scenario.gang_gpus,
        nodes=run.fleet.nodes_needed(run.gang),
        arrives=Quantity(run.crisis / 1000, "s"),
        started=started != NEVER,
        wait=Quantity(((run.end if started == NEVER else started) - run.crisis) / 1000, "s"),
        censored=started == NEVER,
        first_node=(nodes & -nodes).bit_length() - 1 if nodes else None,
        last_node=nodes.bit_length() - 1 if nodes else None,
        failures=sum(hit.gang for hit in run.hits),
    )


def _waits(run: AuditRun) -> Waits:
    """Return the waits of those who submitted from the crisis on: first start − submit, or to the horizon."""
    submit = run.fleet.submit
    first = run.fleet.starts()
    wait = np.where(first == NEVER, run.end, first) - submit
    rows = submit >= run.crisis
    rows[[run.gang, *run.fleet.impossible]] = False  # what no fleet of this size can run is rejected
    of = np.sort(wait[rows])
    never = int(np.count_nonzero(first[rows] == NEVER))
    if not of.size:
        return Waits(jobs=0, censored=0, mean="0 s", p50="0 s", p95="0 s", longest="0 s")
    return Waits(
        jobs=of.size,
        censored=never,
        mean=Quantity(int(of.sum()) / of.size / 1000, "s"),
        p50=Quantity(int(of[rank(of.size, 50)]) / 1000, "s"),
        p95=Quantity(int(of[rank(of.size, 95)]) / 1000, "s"),
        longest=Quantity(int(of[-1]) / 1000, "s"),
    )


def _money(run: AuditRun, books: Books) -> Money:
    price, available, retained = run.scenario.price, books.available, books.retained
    days = run.end / (24 * HOUR_MS)
    per_useful = price * available / retained if retained.magnitude else price * 0
    return Money(
        price=price,
        per_useful_gpu_hour=per_useful,
        wasted_per_day=(price * (available - retained)).to("USD") / Quantity(days, "day"),
    )


def _through_time(run: AuditRun) -> ThroughTime:
    # what was seen at a start comes before the frame of the same moment, which shows all that came of it
    shots = sorted([*run.starts, *run.snapshots], key=lambda shot: shot.at)
    return ThroughTime(
        hours=tuple(shot.at / HOUR_MS for shot in shots),
        busy=tuple(shot.busy_gpus / run.scenario.shape.gpus for shot in shots),
        fragmentation=tuple(shot.fragmentation for shot in shots),
        largest_block=tuple(shot.largest_block for shot in shots),
        free_nodes=tuple(shot.free_nodes for shot in shots),
        waiting=tuple(shot.waiting for shot in shots),
    )


def _gpu_hours(gpu_ms: int) -> Any:
    return Quantity(gpu_ms / HOUR_MS, "gpu*h")
