"""The fleet with nodes against a slow reference that steps time, and what must hold in any history."""

import random
from array import array
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.fleet.jobs import Jobs
from engine.fleet.node_scheduler import NodeScheduler, run_to_end
from engine.fleet.occupancy import Occupancy
from tests.engine.fleet.reference_nodes import Job, SlowFleet

POLICIES = ["fcfs", "skip", "easy", "priority"]


def random_case(rng, policy):
    nodes, gpus = rng.randint(1, 6), rng.choice([1, 2, 3, 4])
    jobs, submit = [], 0
    for row in range(rng.randint(1, 14)):
        submit += rng.choice([0, 0, 1, 2, 5])
        big = rng.random() < 0.35
        size = rng.randint(1, nodes * gpus + 1) if big else rng.randint(1, gpus)
        run = rng.randint(0, 12)
        estimate = max(1, run + rng.choice([0, 0, 1, 5, 15, -3]))
        jobs.append(Job(row, submit, size, estimate, run, rng.randint(0, 2), rng.random() < 0.5))
    changes = []
    if rng.random() < 0.4:
        node, at = rng.randrange(nodes), rng.randint(0, 20)
        changes = [(at, "fail", node), (at + rng.randint(1, 15), "repair", node)]
    return nodes, gpus, jobs, policy, rng.choice(["spread", "best", "first"]), rng.random() < 0.7, changes


def fast(nodes, gpus, jobs, policy, placement, kill, changes, until):
    table = Jobs.from_rows([(j.row, j.submit, j.size, j.estimate, j.run, j.priority) for j in jobs])
    scheduler = NodeScheduler(
        Occupancy(nodes, gpus),
        table,
        policy=policy,
        placement=placement,
        contiguous=[j.row for j in jobs if j.contiguous],
        kill_at_limit=kill,
    )
    for at, what, node in changes:
        scheduler.advance(at)
        if what == "fail":
            scheduler.fail(node, at)
        else:
            scheduler.repair(node)
        scheduler.serve(at)
    scheduler.advance(until)
    return scheduler


def placed(scheduler, row):
    """The nodes of a job's last start."""
    nodes = scheduler.span.get(row) or 1 << (scheduler.place[row] >> 8)
    return {n for n in range(scheduler.fleet.nodes) if nodes >> n & 1}


@pytest.mark.parametrize("policy", POLICIES)
def test_starts_and_placements_equal_those_of_a_fleet_that_steps_time(policy):
    rng = random.Random(f"nodes {policy}")
    for _ in range(1250):
        case = random_case(rng, policy)
        slow = SlowFleet(*case).play(400)
        quick = fast(*case, until=400)
        starts = {row: int(t) for row, t in enumerate(quick.starts()) if t >= 0}
        assert starts == slow.started, case
        for row in starts:
            assert placed(quick, row) == set(slow.placed[row]), (row, case)


def test_a_reservation_is_found_among_the_first_ends_however_few_are_looked_at(monkeypatch):
    monkeypatch.setattr("engine.fleet.node_reservation.FIRST_LOOK", 0)
    rng = random.Random("first look")
    for _ in range(400):
        case = random_case(rng, "easy")
        quick = fast(*case, until=400)
        assert {row: t for row, t in enumerate(quick.starts()) if t >= 0} == SlowFleet(*case).play(
            400
        ).started


def test_times_may_be_noted_job_by_job_or_all_at_once(monkeypatch):
    rng = random.Random("noted")
    cases = [random_case(rng, "fcfs") for _ in range(200)]
    at_once = [fast(*case, until=400) for case in cases]
    monkeypatch.setattr("engine.fleet.node_lines.NOTED_AT_ONCE", 0)
    for case, whole in zip(cases, at_once, strict=True):
        one_by_one = fast(*case, until=400)
        assert (one_by_one.start, one_by_one.due, one_by_one.limit) == (whole.start, whole.due, whole.limit)


@pytest.mark.parametrize("policy", POLICIES)
def test_times_beyond_what_a_key_of_64_bits_holds_give_the_same_history(policy):
    rng = random.Random(f"long {policy}")
    for _ in range(30):
        nodes, gpus, jobs, policy, placement, kill, _ = random_case(rng, policy)
        short = fast(nodes, gpus, jobs, policy, placement, kill, [], until=400)
        stretch = 2**45
        long = [
            replace(j, submit=j.submit * stretch, estimate=j.estimate * stretch, run=j.run * stretch)
            for j in jobs
        ]
        far = fast(nodes, gpus, long, policy, placement, kill, [], until=400 * stretch)
        assert [s if s < 0 else s * stretch for s in short.starts().tolist()] == far.starts().tolist()


def test_a_gang_waits_while_every_node_has_failed():
    jobs = Jobs.from_rows([(1, 0, 4, 5, 5), (2, 1, 1, 5, 5)])
    run = NodeScheduler(Occupancy(2, 2), jobs, policy="easy")
    for node in (0, 1):
        run.fail(node, 0)
    run.advance(3)
    assert run.line.count == 2
    for node in (0, 1):
        run.repair(node)
    run.serve(3)
    run.advance(20)
    assert run.starts().tolist() == [3, 8]


def test_ends_release_before_arrivals_enqueue_at_one_instant():
    jobs = Jobs.from_rows([(1, 0, 2, 5, 5), (2, 5, 2, 5, 5)])
    assert list(run_to_end(NodeScheduler(Occupancy(1, 2), jobs)).starts()) == [0, 5]


def test_a_job_larger_than_the_fleet_is_passed_over():
    jobs = Jobs.from_rows([(1, 0, 9, 3, 3), (2, 1, 4, 3, 3)])
    done = run_to_end(NodeScheduler(Occupancy(2, 4), jobs))
    assert list(done.starts()) == [-1, 1]
    assert done.impossible == {0}


def test_two_gangs_of_a_hundred_nodes_never_hold_fifty_each():
    jobs = Jobs.from_rows([(1, 0, 800, 10, 10), (2, 0, 800, 10, 10)])
    assert list(run_to_end(NodeScheduler(Occupancy(100, 8), jobs)).starts()) == [0, 10]


def test_a_contiguous_gang_passes_over_a_failed_node():
    fleet = Occupancy(4, 2)
    fleet.fail(1)
    jobs = Jobs.from_rows([(1, 0, 6, 5, 5)])
    done = NodeScheduler(fleet, jobs, contiguous=[0])
    done.advance(0)
    assert placed(done, 0) == {0, 2, 3}


def test_random_placement_is_uniform_over_the_nodes_that_fit_and_repeats_with_its_seed():
    counts = [0] * 4
    jobs = Jobs.from_rows([(i, i, 1, 1, 1) for i in range(4000)])
    for seed in (1, 1):
        done = NodeScheduler(Occupancy(4, 1), jobs, placement="random", seed=seed)
        done.advance(5000)
        counts = [counts[n] + sum(p >> 8 == n for p in done.place) for n in range(4)]
    assert all(count % 2 == 0 for count in counts)
    assert all(abs(count / 2 - 1000) < 4 * (4000 * 0.25 * 0.75) ** 0.5 for count in counts)


@settings(max_examples=150)
@given(st.randoms(use_true_random=False), st.sampled_from(POLICIES))
def test_no_gpu_holds_two_jobs_and_every_gpu_is_busy_idle_or_failed(rng, policy):
    nodes, gpus, jobs, policy, placement, kill, changes = random_case(rng, policy)
    quick = fast(nodes, gpus, jobs, policy, placement, kill, changes, until=0)
    table = {j.row: j for j in jobs}
    for now in range(1, 120):
        quick.advance(now)
        holders = {}
        assert quick.late <= set(quick.running())
        assert len(quick.ends) == len(quick.late) + 1
        for row in quick.running():
            slots = quick.place[row] & 255
            for node in placed(quick, row):
                mask = (1 << gpus) - 1 if row in quick.held else slots
                for slot in (s for s in range(gpus) if mask >> s & 1):
                    assert (node, slot) not in holders
                    holders[node, slot] = row
            want = table[row].size if row not in quick.held else gpus * quick.nodes_needed(row)
            assert sum(holder == row for holder in holders.values()) == want
            assert quick.start[row] >= table[row].submit
        fleet = quick.fleet
        assert {(n, s) for n in range(nodes) for s in range(gpus) if fleet.busy[n] >> s & 1} == set(holders)
        assert len(holders) == fleet.busy_gpus
        assert fleet.busy_gpus + fleet.free_gpus + len(fleet.failed) * gpus == nodes * gpus


def parts(run, kind):
    """What a run holds of one kind of container, by name."""
    return {name: value for name, value in vars(run).items() if isinstance(value, kind)}


@pytest.mark.parametrize("policy", POLICIES)
def test_records_are_32_bytes_a_job_and_the_rest_grows_with_the_jobs_in_flight(policy):
    rng = random.Random(policy)
    rows = [(i, 3 * i, rng.choice([1, 1, 2, 4]), 200, rng.randint(1, 200), 0) for i in range(4000)]
    run = NodeScheduler(Occupancy(40, 4), Jobs.from_rows(rows), policy=policy)
    before = {name: column.tobytes() for name, column in parts(run, array).items()}
    lengths = {name: len(held) for name, held in parts(run, list | dict | set).items()}
    for now in range(0, 13_000, 50):
        run.advance(now)
        in_flight = len(run.running()) + run.line.count
        for name, held in parts(run, list | dict | set).items():
            assert len(held) <= lengths[name] + in_flight, name
    written = [column for name, column in parts(run, array).items() if column.tobytes() != before[name]]
    assert sum(column.itemsize for column in written if len(column) == len(rows)) == 32
    assert run.line.count == 0 == len(run.running())


def test_a_slot_belongs_to_the_job_that_took_it_last():
    rows = [(1, 0, 1, 3, 3), (2, 1, 2, 1, 1)]
    rows += [(3, 6, 1, 1, 0), (4, 6, 1, 1, 0)]  # of no length, on slots that the first two had
    rows += [(5, 6, 1, 50, 50), (6, 6, 3, 9, 9), (7, 6, 3, 90, 90), (8, 8, 1, 5, 5)]
    run = NodeScheduler(Occupancy(1, 3), Jobs.from_rows(rows), policy="easy")
    run.advance(200)
    assert run.starts().tolist()[-1] == 8  # it ends long before the node is clear for the head


def test_a_moved_job_is_found_where_it_went():
    run = NodeScheduler(Occupancy(2, 2), Jobs.from_rows([(1, 0, 1, 9, 9)]), policy="easy")
    run.advance(1)
    run.leave(0)
    run.move(0, 1)
    assert (run.rows_on(0), run.rows_on(1)) == ([], [0])


def test_a_gang_starts_once_the_node_between_two_free_ones_has_failed():
    rows = [
        (1, 0, 2, 3, 3),
        (2, 0, 1, 90, 90),
        (3, 0, 1, 2, 2),
        (4, 0, 2, 3, 3),
        (5, 0, 1, 80, 80),
        (6, 5, 4, 9, 9),
    ]
    run = NodeScheduler(
        Occupancy(4, 2), Jobs.from_rows(rows), policy="easy", placement="best", contiguous=[5]
    )
    run.advance(6)
    assert run.line.count == 1
    run.fail(1, 6)
    run.serve(6)
    assert run.starts()[5] == 6


@pytest.mark.parametrize("policy", POLICIES)
def test_a_failure_cuts_a_job_that_was_to_end_while_the_world_stood_still(policy):
    run = NodeScheduler(Occupancy(1, 2), Jobs.from_rows([(1, 0, 2, 5, 5)]), policy=policy)
    run.advance(1)
    run.hold(7)
    assert run.fail(0, 7) == [0]
    run.repair(0)
    run.serve(8)
    run.advance(30)
    assert (run.start[0], run.due[0]) == (8, 13)
    assert run.fleet.boards == [0, 0, 1]


@settings(max_examples=200)
@given(st.randoms(use_true_random=False))
def test_first_come_first_served_never_overtakes(rng):
    nodes, gpus, jobs, _, placement, _, _ = random_case(rng, "fcfs")
    done = fast(nodes, gpus, jobs, "fcfs", placement, True, [], until=1000)
    starts = [s for s in done.starts() if s >= 0]
    assert starts == sorted(starts)


@settings(max_examples=200)
@given(st.randoms(use_true_random=False))
def test_easy_never_delays_the_head_beyond_its_first_reservation(rng):
    nodes, gpus, jobs, _, placement, _, _ = random_case(rng, "easy")
    slow = SlowFleet(nodes, gpus, jobs, "easy", placement)
    promised = {}
    for now in range(300):
        slow.step(now)
        if slow.queue and slow.running and slow.queue[0].row not in promised:
            promised[slow.queue[0].row] = slow.reserve(now)[0]
    done = fast(nodes, gpus, jobs, "easy", placement, True, [], until=1000)
    for row, at in promised.items():
        assert done.starts()[row] <= at
