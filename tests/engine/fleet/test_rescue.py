"""Eviction and migration: the window that the definitions name, and nothing in vain."""

import random

import pytest

from engine.fleet.bits import mask_of, members
from engine.fleet.jobs import Jobs
from engine.fleet.node_scheduler import NodeScheduler
from engine.fleet.occupancy import Occupancy
from engine.fleet.rescue import cheapest_eviction, plan_migration

NOW = 50


def crowded(rng, jobs_per_node=3):
    """A fleet with small jobs running, some nodes failed, and a gang that waits."""
    nodes, gpus = rng.randint(3, 9), 4
    rows = [
        (i, rng.randint(0, 40), rng.choice([1, 2, 4]), 200, 200, rng.choice([0, 0, 0, 0, 1]))
        for i in range(jobs_per_node * nodes)
    ]
    rows.sort(key=lambda row: (row[1], row[0]))
    need = rng.randint(2, nodes - 1)
    rows.append((1000, NOW, need * gpus, 100, 100, 1))
    fleet = Occupancy(nodes, gpus)
    for node in rng.sample(range(nodes), rng.choice([0, 0, 1])):
        fleet.fail(node)
    run = NodeScheduler(
        fleet, Jobs.from_rows(rows), policy="priority", placement="spread", contiguous=[len(rows) - 1]
    )
    run.advance(NOW)
    return run, len(rows) - 1, need


def windows(run, need):
    healthy = run.fleet.healthy()
    return [healthy[i : i + need] for i in range(len(healthy) - need + 1)]


def jobs_in(run, nodes):
    return [row for row in run.running() if run.nodes_of(row) & mask_of(nodes)]


def test_eviction_chooses_the_window_that_loses_least_work():
    rng = random.Random(5)
    for _ in range(300):
        run, gang, need = crowded(rng)
        best = None
        for window in windows(run, need):
            jobs = jobs_in(run, window)
            if all(run.priority[row] < run.priority[gang] for row in jobs):
                cost = sum(run.size[row] * (NOW - run.start[row]) for row in jobs)
                if best is None or cost < best[0]:
                    best = cost, window, sorted(jobs)
        found = cheapest_eviction(run, gang, NOW)
        if best is None:
            assert found is None
        else:
            assert (found.lost, list(members(found.nodes)), list(found.victims)) == best


def test_a_job_across_several_nodes_of_a_window_counts_once():
    rows = [(0, 0, 8, 100, 100), (1, 0, 4, 100, 100), (2, 10, 12, 50, 50, 1)]
    run = NodeScheduler(Occupancy(3, 4), Jobs.from_rows(rows), contiguous=[2])
    run.advance(10)
    found = cheapest_eviction(run, 2, 10)
    assert (found.lost, found.victims) == (8 * 10 + 4 * 10, (0, 1))


def test_victims_requeue_at_their_place_and_start_from_zero():
    rows = [(0, 0, 4, 100, 100), (1, 5, 4, 100, 100), (2, 10, 8, 20, 20, 1)]
    run = NodeScheduler(Occupancy(2, 4), Jobs.from_rows(rows), contiguous=[2])
    run.advance(10)
    found = cheapest_eviction(run, 2, 10)
    run.cut(found.victims, 10, "eviction")
    run.line.remove(2)
    run.start_on(2, 10, found.nodes)
    run.serve(10)
    run.advance(500)
    assert list(run.start) == [30, 30, 10]
    assert list(run.due) == [130, 130, 30]
    assert list(run.starts()) == [0, 5, 10]


def test_migration_takes_the_window_with_fewest_jobs_and_every_move_fits():
    rng, planned = random.Random(6), 0
    for _ in range(300):
        run, gang, need = crowded(rng, jobs_per_node=1)
        if gang in run.held:
            continue
        found = plan_migration(run, gang)
        if found is None:
            continue
        planned += 1
        counts = [len(jobs_in(run, window)) for window in windows(run, need)]
        assert list(members(found.nodes)) == windows(run, need)[counts.index(min(counts))]
        assert {row for row, _, _ in found.moves} >= set(jobs_in(run, list(members(found.nodes))))
        busy = {n: bin(run.fleet.busy[n]).count("1") for n in range(run.fleet.nodes)}
        for row, source, _ in found.moves:
            busy[source] -= run.size[row]
        for row, _, target in found.moves:
            busy[target] += run.size[row]
            assert not found.nodes >> target & 1
            assert target not in run.fleet.failed
        assert all(0 <= count <= run.fleet.gpus_per_node for count in busy.values())
        assert all(busy[n] == 0 for n in members(found.nodes))
    assert planned > 20


def slow_migration(run, need):
    """Definition 7 on lists: (window, moves), or None."""
    wide = {row for row in run.running() if row in run.held}
    allowed = [w for w in windows(run, need) if not wide & set(jobs_in(run, w))]
    if not allowed:
        return None
    window = min(allowed, key=lambda w: (len(jobs_in(run, w)), windows(run, need).index(w)))
    at = {row: run.place[row] >> 8 for row in run.running() if row not in wide}
    full = {node for row in wide for node in members(run.nodes_of(row))}
    outside = [n for n in run.fleet.healthy() if n not in window and n not in full]
    movers, moves = [(row, node) for row, node in at.items() if node in window], []
    at = {row: node for row, node in at.items() if node not in window}

    def on(node):
        return [row for row, place in at.items() if place == node]

    def free(node):
        return run.fleet.gpus_per_node - sum(run.size[row] for row in on(node))

    while movers:
        movers.sort(key=lambda move: (-run.size[move[0]], move[1], move[0]))
        row, source = movers.pop(0)
        fits = [n for n in outside if free(n) >= run.size[row]]
        if fits:
            target = min(fits, key=lambda n: (free(n), n))
        else:
            small = [n for n in outside if on(n) and all(run.size[x] < run.size[row] for x in on(n))]
            if not small:
                return None
            left = lambda n: sum(run.size[x] * (run.limit[x] - run.now) for x in on(n))  # noqa: E731
            target = min(small, key=lambda n: (left(n), n))
            movers += [(x, target) for x in on(target)]
            at = {x: node for x, node in at.items() if node != target}
        at[row] = target
        moves.append((row, source, target))
    return window, tuple(moves)


def test_migration_equals_a_slow_reading_of_its_definition():
    rng, planned = random.Random(9), 0
    for _ in range(600):
        run, gang, need = crowded(rng, jobs_per_node=rng.choice([1, 1, 2, 3]))
        if gang in run.held:
            continue
        found = plan_migration(run, gang)
        planned += found is not None
        assert (found and (list(members(found.nodes)), found.moves)) == slow_migration(run, need)
    assert planned > 40


def test_migration_goes_by_size_and_best_fit():
    # four nodes of 4 hold 2, 3, 1 and 1; the gang wants two nodes, and all windows hold two jobs
    rows = [(0, 0, 2, 99, 99), (1, 1, 3, 99, 99), (2, 2, 1, 99, 99), (3, 3, 1, 99, 99), (4, 10, 8, 50, 50, 1)]
    run = NodeScheduler(Occupancy(4, 4), Jobs.from_rows(rows), placement="spread", contiguous=[4])
    run.advance(10)
    found = plan_migration(run, 4)
    assert list(members(found.nodes)) == [0, 1]
    assert found.moves == ((1, 1, 2), (0, 0, 3))


def test_migration_clears_the_node_of_smaller_jobs_with_least_time_left():
    # node 0 holds a 4, the others a 1 with 82, 73 and 64 ms left: none has 4 free, so node 3 is cleared
    rows = [(0, 0, 4, 99, 99), (1, 1, 1, 90, 90), (2, 2, 1, 80, 80), (3, 3, 1, 70, 70), (4, 10, 4, 50, 50, 1)]
    run = NodeScheduler(Occupancy(4, 4), Jobs.from_rows(rows), placement="spread")
    run.advance(9)
    found = plan_migration(run, 4)
    assert found.moves == ((0, 0, 3), (3, 3, 1))


def test_migration_is_refused_and_moves_nothing_when_the_fleet_is_too_full():
    rows = [(0, 0, 3, 99, 99), (1, 0, 3, 99, 99), (2, 0, 3, 99, 99), (3, 10, 8, 50, 50, 1)]
    run = NodeScheduler(Occupancy(3, 4), Jobs.from_rows(rows), contiguous=[3])
    run.advance(10)
    before = bytes(run.fleet.busy)
    assert plan_migration(run, 3) is None
    assert bytes(run.fleet.busy) == before


def test_delayed_jobs_end_later_and_their_estimates_move_too():
    run = NodeScheduler(Occupancy(1, 4), Jobs.from_rows([(0, 0, 2, 30, 20)]), policy="easy")
    run.advance(10)
    run.delay(5, {0: (0, 2)})
    assert (run.due[0], run.limit[0]) == (25, 37)
    run.advance(24)
    assert run.running() == [0]
    run.advance(25)
    assert run.running() == []


@pytest.mark.parametrize("policy", ["fcfs", "skip", "easy", "priority"])
def test_a_failed_node_cuts_its_jobs_and_comes_back_empty(policy):
    run = NodeScheduler(Occupancy(2, 4), Jobs.from_rows([(0, 0, 8, 30, 20), (1, 1, 2, 30, 5)]), policy=policy)
    run.advance(4)
    assert run.fail(1, 4) == [0]
    run.serve(4)
    run.repair(1)
    run.serve(6)
    run.advance(100)
    assert run.starts()[0] == 0
    assert run.start[0] >= 6
    assert run.due[0] == run.start[0] + 20
