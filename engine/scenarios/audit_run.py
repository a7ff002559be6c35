"""Runs Act I: the history up to the crisis, what the operator does, and the two days after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.fleet.node_failures import NodeFailure, node_failures
from engine.fleet.node_parts import NodePolicy
from engine.fleet.node_scheduler import NodeScheduler
from engine.fleet.occupancy import Occupancy
from engine.fleet.placement import Placement
from engine.fleet.rescue import cheapest_eviction, plan_migration
from engine.fleet.workload import HOUR_MS
from engine.scenarios.audit_parts import Act, Hit, Snapshot, ms, people_of, table_of

if TYPE_CHECKING:
    from engine.scenarios.audit_outcome import FragmentationAuditOutcome
    from engine.scenarios.fragmentation_audit import FragmentationAuditScenario

NOBODY = -1
POLICIES: dict[str, tuple[NodePolicy, Placement]] = {
    "fcfs": ("fcfs", "spread"),
    "best-fit": ("easy", "best"),
    "preemption": ("priority", "best"),
}


class _WitnessedFleet(NodeScheduler):
    """A fleet that is looked at just before and just after a job starts on whole nodes."""

    _watched = NOBODY

    def watch(self, row: int, look: Callable[[int], None]) -> None:
        """Look when this job starts; `look` takes the moment."""
        self._watched, self._look = row, look

    def start_on(self, row: int, now: int, nodes: int) -> None:
        """Start a job on exactly these wholly free nodes."""
        if row != self._watched:
            super().start_on(row, now, nodes)
            return
        self._look(now)
        super().start_on(row, now, nodes)
        self._look(now)


class AuditRun:
    """One history of Act I, in ms from the opening of the books."""

    def __init__(self, scenario: FragmentationAuditScenario) -> None:
        self.scenario = scenario
        self.crisis = ms(scenario.crisis_after)
        self.end = self.crisis + ms(scenario.horizon)
        shape = scenario.shape
        self.people = people_of(scenario, self.end)
        jobs, self.gang = table_of(self.people, self.crisis, scenario.gang_gpus, ms(scenario.gang_run))
        policy, placement = POLICIES[scenario.policy]
        self.fleet = _WitnessedFleet(
            Occupancy(shape.nodes, shape.gpus_per_node),
            jobs,
            policy=policy,
            placement=placement,
            contiguous=[self.gang],
        )
        self.kept: dict[tuple[int, int], int] = {}  # (row, end) of a cut attempt → ms saved by checkpoints
        self.hits: list[Hit] = []
        self.snapshots: list[Snapshot] = []
        self.starts: list[Snapshot] = []  # just before and just after each start of the big job
        self.fleet.watch(self.gang, self._witness)
        self.act = Act()
        self._changes = self._hardware()

    # ---- the story ----

    def run(self) -> None:
        """Play the history to the horizon."""
        hours = range(-(-self.end // HOUR_MS) + 1)
        moments = [min(h * HOUR_MS, self.end) for h in hours if h * HOUR_MS != self.crisis]
        for moment in (m for m in moments if m < self.crisis):
            self.advance(moment)
            self._look()
        self.advance(self.crisis - 1)
        self._look()
        self.found = self.snapshots[-1]
        self.small_jobs_as_found = len(self.fleet.running())
        healthy = self.scenario.shape.nodes - len(self.found.failed)
        self.idle_as_found = healthy * self.scenario.shape.gpus_per_node - self.found.busy_gpus
        self.advance(self.crisis)
        self._operate()
        self._look()
        for moment in (m for m in moments if m > self.crisis):
            self.advance(moment)
            self._look()

    def advance(self, until: int) -> None:
        """Run events and hardware changes up to and including `until`."""
        while self._changes and self._changes[0][0] <= until:
            at, _, failure = self._changes.pop(0)
            self.fleet.advance(at)
            self._change(at, failure)
            self.fleet.serve(at)
        self.fleet.advance(until)

    def _operate(self) -> None:
        """Let the operator act once, if the big job could not start; then place it."""
        self.after_act = self.found
        self.blocked = self.gang not in self.fleet.held
        if not self.blocked:
            return
        if self.scenario.migrate:
            self._migrate()
        if self.scenario.evict and not self.act.migration:
            self._evict()

    def _evict(self) -> None:
        eviction = cheapest_eviction(self.fleet, self.gang, self.crisis)
        if eviction is None:
            return
        self.act.eviction = eviction
        self.fleet.cut(eviction.victims, self.crisis, "eviction")
        self.after_act = self._snapshot(self.crisis)
        self._place_gang(eviction.nodes, self.crisis)

    def _migrate(self) -> None:
        migration = plan_migration(self.fleet, self.gang)
        if migration is None:
            self.act.refused = True
            return
        act, fleet = self.act, self.fleet
        act.migration = migration
        act.pause = ms(self.scenario.migration_pause)
        act.busy_gpus = fleet.fleet.busy_gpus
        act.paused = dict.fromkeys(fleet.running(), self.crisis + act.pause)
        share = float(self.scenario.migration_tax.magnitude)
        for row, _, _ in migration.moves:
            remaining = fleet.due[row] - self.crisis
            act.tax[row] = round(remaining * share), remaining
            fleet.leave(row)
        later = {
            row: (tax, round((fleet.limit[row] - self.crisis) * share)) for row, (tax, _) in act.tax.items()
        }
        for row, _, node in migration.moves:
            fleet.move(row, node)
        fleet.delay(act.pause, later)
        self.after_act = self._snapshot(self.crisis)
        self._look()
        self._stand_still(self.crisis + act.pause)
        whole = fleet.fleet.whole_free
        nodes = migration.nodes if migration.nodes & ~whole == 0 else 0
        if nodes:
            self._place_gang(nodes, self.crisis + act.pause)
        else:  # a node of the window failed during the pause
            fleet.serve(self.crisis + act.pause)

    def _stand_still(self, until: int) -> None:
        while self._changes and self._changes[0][0] <= until:
            at, _, failure = self._changes.pop(0)
            self.fleet.hold(at)
            self._change(at, failure)
        self.fleet.hold(until)

    def _place_gang(self, nodes: int, now: int) -> None:
        self.fleet.start_on(self.gang, now, nodes)
        self.fleet.line.remove(self.gang)
        self.fleet.serve(now)

    # ---- hardware ----

    def _hardware(self) -> list[tuple[int, int, NodeFailure]]:
        """Return failures (0) and repairs (1) in time order, a node that is already down left out."""
        scenario = self.scenario
        rate = scenario.node_failure_rate.to("1/(node*s)").magnitude / 1000
        failures = node_failures(
            scenario.shape.nodes,
            rate,
            self.end,
            repair_median_ms=ms(scenario.repair_median),
            repair_sigma=scenario.repair_sigma,
            seed=scenario.seed,
        )
        changes: list[tuple[int, int, NodeFailure]] = []
        back: dict[int, int] = {}
        for failure in failures:
            if failure.at > back.get(failure.node, -1):
                back[failure.node] = failure.at + failure.repair
                changes += [(failure.at, 0, failure), (back[failure.node], 1, failure)]
        return sorted(changes, key=lambda change: (change[0], change[1], change[2].node))

    def _change(self, at: int, failure: NodeFailure) -> None:
        if failure.node in self.fleet.fleet.failed:
            self.fleet.repair(failure.node)
            return
        before = len(self.fleet.attempts)
        hit = Hit(failure, 0, 0, gang=bool(self.fleet.held.get(self.gang, 0) >> failure.node & 1))
        kept_by_gang = self._keep_gang(at) if hit.gang else 0  # before it goes back into the line
        self.fleet.fail(failure.node, at)
        cut = self.fleet.attempts[before:]
        hit.jobs = len(cut)
        for attempt in cut:
            worked = self.worked(attempt.row, attempt.start, at)
            kept = kept_by_gang if attempt.row == self.gang else 0
            hit.lost += self.fleet.gpus[attempt.row] * (worked - kept)
            if attempt.row in self.act.paused:
                self.act.paused[attempt.row] = min(at, self.act.paused[attempt.row])
        self.hits.append(hit)

    def _keep_gang(self, at: int) -> int:
        """Keep the running big job's work up to its last checkpoint, and return how much that is."""
        interval = ms(self.scenario.checkpoint_interval)
        kept = self.worked(self.gang, self.fleet.start[self.gang], at) // interval * interval
        self.kept[self.gang, at] = kept
        self.fleet.run[self.gang] -= kept
        self.fleet.estimate[self.gang] -= kept
        return kept

    # ---- books ----

    def overhead(self, row: int, start: int, end: int) -> tuple[int, int]:
        """Return (pause, tax) in ms within one attempt of a job that ran from `start` to `end`."""
        act = self.act
        if row not in act.paused or not start <= self.crisis < end:
            return 0, 0
        resumed = act.paused[row]
        tax, remaining = act.tax.get(row, (0, 0))
        moved_for = max(0, end - resumed)
        paid = round(moved_for * tax / (tax + remaining)) if tax else 0
        return min(end, resumed) - self.crisis, paid

    def worked(self, row: int, start: int, end: int) -> int:
        """Return the ms of one attempt that were work: neither pause nor tax."""
        return end - start - sum(self.overhead(row, start, end))

    # ---- looking ----

    def _look(self) -> None:
        self.snapshots.append(self._snapshot(self.fleet.now))

    def _witness(self, now: int) -> None:
        """Look at the fleet just before or after the big job starts; it may not have left the line yet."""
        shot = self._snapshot(now)
        started = self.gang in self.fleet.held and self.fleet.line.holds(self.gang)
        self.starts.append(replace(shot, waiting=shot.waiting - started))

    def _snapshot(self, at: int) -> Snapshot:
        fleet = self.fleet.fleet
        return Snapshot(
            at=at,
            busy=bytes(fleet.busy),
            failed=tuple(fleet.failed),
            gang_nodes=self.fleet.held.get(self.gang, 0),
            busy_gpus=fleet.busy_gpus,
            fragmentation=fleet.external_fragmentation(),
            largest_block=fleet.longest_block(),
            free_nodes=fleet.whole_free.bit_count(),
            waiting=self.fleet.line.count,
        )

    @property
    def gang_started(self) -> int:
        """When the big job first started, or `NEVER`."""
        return self.fleet.first_start.get(self.gang, self.fleet.start[self.gang])

    @property
    def gang_nodes(self) -> int:
        """The nodes of its first start as a set, or 0."""
        cut = [attempt.nodes for attempt in self.fleet.attempts if attempt.row == self.gang]
        return cut[0] if cut else self.fleet.span.get(self.gang, 0)


def run_audit(scenario: FragmentationAuditScenario) -> FragmentationAuditOutcome:
    """Play one history and return its outcome."""
    from engine.scenarios.audit_books import outcome_of

    run = AuditRun(scenario)
    run.run()
    return outcome_of(run)


def finds_no_block(scenario: FragmentationAuditScenario) -> bool:
    """Return whether the big job cannot start the moment it comes, if nobody acts."""
    run = AuditRun(scenario)
    run.advance(run.crisis)
    return run.gang not in run.fleet.held
