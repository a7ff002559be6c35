"""The audit log of Act I: what the simulation did, one sentence an event, newest last."""

from __future__ import annotations

from collections.abc import Iterator

from engine.fleet.bits import members
from engine.fleet.jobs import NEVER
from engine.fleet.rescue import Migration
from engine.fleet.workload import HOUR_MS
from engine.scenarios.audit_outcome import Event, EventKind
from engine.scenarios.audit_parts import Hit
from engine.scenarios.audit_run import AuditRun

DAY_MS = 24 * HOUR_MS


def clock(run: AuditRun, at: int) -> str:
    """Return a moment as the clock of the story shows it, for instance `"20:00, day 1"`."""
    since_midnight = at + round(run.scenario.opens.to("s").magnitude * 1000)
    day, rest = divmod(since_midnight, DAY_MS)
    minutes = rest // 60_000
    return f"{minutes // 60:02d}:{minutes % 60:02d}, day {day + 1}"


def events_of(run: AuditRun) -> tuple[Event, ...]:
    """Return the events in the order of time; those at one moment in the order in which they follow."""
    lines = [*_opening(run), *_failures(run), *_crisis(run), *_operator(run), *_big_job(run), *_horizon(run)]
    lines.sort(key=lambda line: line[0])
    return tuple(
        Event(hours=at / HOUR_MS, clock=clock(run, at), kind=kind, name=name, sentence=sentence)
        for at, kind, name, sentence in lines
    )


Line = tuple[int, EventKind, str, str]


def _opening(run: AuditRun) -> Iterator[Line]:
    shot = run.snapshots[0]
    jobs, gpus = run.people.already_running, run.scenario.shape.gpus
    said = f"The books open: {shot.busy_gpus:,} of {gpus:,} GPUs busy with {_count(jobs, run.people.noun)}."
    yield 0, "note", "opening", said


def _failures(run: AuditRun) -> Iterator[Line]:
    for hit in run.hits:
        yield hit.failure.at, "fail", "node failure", _failure(run, hit)


def _failure(run: AuditRun, hit: Hit) -> str:
    failure, shape = hit.failure, run.scenario.shape
    where = f"Node failure in rack {shape.rack(failure.node)}, node {failure.node}"
    lost = f"{hit.lost / HOUR_MS:,.1f} GPU-h of work lost"
    back = clock(run, failure.at + failure.repair)
    if hit.gang:
        jobs = f"job {run.gang + 1} falls back to its last checkpoint and queues again, {lost}"
    else:
        jobs = f"{_count(hit.jobs, 'job')} killed, {lost}" if hit.jobs else "no job was on it"
    return f"{where}: {jobs}; {shape.gpus_per_node} GPUs out until {back}."


def _crisis(run: AuditRun) -> Iterator[Line]:
    need, gpus = run.fleet.nodes_needed(run.gang), run.scenario.gang_gpus
    said = f"Job {run.gang + 1} asks for {gpus:,} GPUs: {need} whole nodes in one block."
    yield run.crisis, "note", "big job arrives", said
    if run.blocked:
        block = f"Largest free block: {run.found.largest_block} of {need} nodes."
        said = f"{block} {run.idle_as_found:,} GPUs are idle, and the job waits."
        yield run.crisis, "cost", "no block", said


def _operator(run: AuditRun) -> Iterator[Line]:
    act, at = run.act, run.crisis
    if act.refused:
        said = "Migration refused: the jobs in the way do not all fit elsewhere. Nothing was moved."
        yield at, "cost", "migration refused", said
    if act.migration:
        yield at, "cost", "migration", _migration(run, act.migration)
        if run.scenario.evict:
            yield at, "note", "nobody killed", "Migration made the room, so nobody had to be killed."
    if act.eviction:
        killed = f"{_count(len(act.eviction.victims), 'job')} killed on nodes {_range(act.eviction.nodes)}"
        lost = f"{act.eviction.lost / HOUR_MS:,.0f} GPU-h of work lost"
        alone = len(act.eviction.victims) == 1
        again = "It queues again and starts" if alone else "They queue again and start"
        yield at, "cost", "eviction", f"{killed}: {lost}. {again} from zero."


def _migration(run: AuditRun, migration: Migration) -> str:
    act, share = run.act, float(run.scenario.migration_tax.magnitude)
    tax = sum(run.fleet.gpus[row] * ms for row, (ms, _) in act.tax.items())
    stop = f"The world stops for {act.pause / 60_000:g} min while {_count(len(migration.moves), 'job')}"
    pause = f"{act.busy_gpus * act.pause / HOUR_MS:,.0f} GPU-h of pause"
    paid = f"a tax of {share * 100:g} % of the movers' remaining time, {tax / HOUR_MS:,.0f} GPU-h"
    return f"{stop} make room on nodes {_range(migration.nodes)}: {pause}, and {paid}."


def _big_job(run: AuditRun) -> Iterator[Line]:
    gang, fleet = run.gang, run.fleet
    tries = [(a.start, a.nodes) for a in fleet.attempts if a.row == gang]
    if fleet.due[gang] != NEVER:
        tries.append((fleet.start[gang], fleet.span[gang]))
    for number, (start, nodes) in enumerate(tries):
        verb = "starts again" if number else "starts"
        said = f"Job {gang + 1} {verb} on nodes {_range(nodes)}, {_since(start - run.crisis)}."
        yield start, "done", "big job starts", said
    if fleet.due[gang] != NEVER and fleet.due[gang] <= run.end:
        yield fleet.due[gang], "done", "big job ends", f"Job {gang + 1} is done."


def _horizon(run: AuditRun) -> Iterator[Line]:
    hours = (run.end - run.crisis) / HOUR_MS
    never = run.gang_started == NEVER
    waiting = run.fleet.line.count - (run.fleet.due[run.gang] == NEVER)
    queue = f"with {_count(waiting, run.people.noun)} in the queue"
    if never:
        said = f"The record ends: job {run.gang + 1} has not started, wait > {hours:g} h, {queue}."
    else:
        said = f"The record ends {hours:g} h after the crisis, {queue}."
    yield run.end, "cost" if never else "note", "horizon", said


def _range(nodes: int) -> str:
    first, last = (nodes & -nodes).bit_length() - 1, nodes.bit_length() - 1
    passed = last - first + 1 - len(list(members(nodes)))
    return f"{first} to {last}" + (f", {passed} failed passed over" if passed else "")


def _since(ms: int) -> str:
    if ms < HOUR_MS:
        return f"{ms / 60_000:.0f} min after it came" if ms else "the moment it came"
    return f"{ms / HOUR_MS:.1f} h after it came"


def _count(number: int, noun: str) -> str:
    counted = f"{number:,}" if number else "no"
    return f"{counted} {noun}" if number == 1 else f"{counted} {noun}s"
