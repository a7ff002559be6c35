import json
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InvalidInput
from engine.fleet.jobs import Jobs
from engine.fleet.pool_preemptive import preemptive
from engine.fleet.preemption import Running, choose_victims, choose_victims_on_a_node, kept_ms, lost_unit_ms
from tests.engine.fleet import reference_preemption as reference
from tests.engine.fleet.pool_instances import times, workloads


@st.composite
def pools(draw):
    jobs = [
        Running(i, draw(st.integers(1, 5)), draw(st.integers(0, 2)), draw(st.integers(0, 9)))
        for i in range(draw(st.integers(0, 7)))
    ]
    return jobs, draw(st.integers(0, 6)), draw(st.integers(1, 20)), draw(st.integers(0, 3))


def cases(shared_dir, kind):
    found = json.loads((shared_dir / "oracles" / "scheduling.json").read_text())["cases"]
    return [case for case in found if case["kind"] == kind]


def test_the_victims_of_the_oracle_are_met_exactly(shared_dir):
    rows = cases(shared_dir, "preempt")
    assert {row["id"] for row in rows} >= {"X03", "X04"}
    for row in rows:
        running = [Running(j["id"], j["size"], j["prio"], j["start"]) for j in row["running"]]
        victims = choose_victims(running, row["free"], row["request"]["size"], row["request"]["prio"])
        assert [job.id for job in victims] == row["expect"]["victims"], row["id"]
        assert sum(lost_unit_ms(job, row["now"]) for job in victims) == row["expect"]["lost_unit_time"]


def test_what_a_checkpoint_keeps_is_met_exactly(shared_dir):
    (row,) = cases(shared_dir, "preempt_checkpoint")
    now, every, expected = row["now"], row["checkpoint_every"], row["expect"]
    kept = {str(job["id"]): kept_ms(now - job["start"], every) for job in row["running"]}
    victims = [Running(job["id"], job["size"], 0, job["start"]) for job in row["running"]]
    assert kept == expected["kept"]
    assert {str(j["id"]): j["run"] - kept[str(j["id"])] for j in row["running"]} == expected["remaining"]
    assert sum(lost_unit_ms(victim, now, every) for victim in victims) == expected["lost_unit_time"]


def test_victims_are_the_lowest_priority_then_the_latest_start_then_the_highest_id():
    running = [Running(1, 1, 1, 9), Running(2, 1, 0, 3), Running(3, 1, 0, 5), Running(4, 1, 0, 5)]
    assert [job.id for job in choose_victims(running, 0, 4, 2)] == [4, 3, 2, 1]
    assert [job.id for job in choose_victims(running, 0, 1, 2)] == [4]


def test_of_two_victims_of_which_one_is_enough_the_lower_priority_goes():
    running = [Running(1, 2, 0, 0), Running(2, 2, 1, 0), Running(3, 8, 2, 0)]
    assert [job.id for job in choose_victims(running, 0, 10, 3)] == [1, 3]


@settings(max_examples=400)
@given(pools())
def test_victims_agree_with_the_reference(pool):
    jobs, free, size, priority = pool
    rows = [{"id": j.id, "size": j.size, "priority": j.priority, "start": j.start_ms} for j in jobs]
    found = [job.id for job in choose_victims(jobs, free, size, priority)]
    assert found == reference.victims(rows, free, size, priority)


@given(pools())
def test_nobody_is_stopped_in_vain_and_nobody_who_is_not_needed(pool):
    jobs, free, size, priority = pool
    victims = choose_victims(jobs, free, size, priority)
    assert all(job.priority < priority for job in victims)
    freed = sum(job.size for job in victims)
    possible = free + sum(job.size for job in jobs if job.priority < priority)
    assert bool(victims) == (free < size <= possible)
    for spared in combinations(victims, 1):
        assert free + freed - spared[0].size < size


def test_nobody_is_evicted_from_nodes_that_still_could_not_hold_the_job():
    # Kueue issue 5243: 4 nodes of 8, each with 6 urgent and 2 lesser jobs of one GPU.
    nodes = [(0, [Running(node * 8 + i, 1, 9 if i < 6 else 0, i) for i in range(8)]) for node in range(4)]
    assert choose_victims_on_a_node(nodes, 8, 9, now_ms=100) is None
    assert choose_victims_on_a_node(nodes, 2, 9, now_ms=100) == (0, [nodes[0][1][7], nodes[0][1][6]])


def test_a_job_that_cannot_start_does_not_block_those_behind_it():
    # The rest of Kueue issue 5243, on one node: the urgent job waits, and a later job of one GPU still runs.
    urgent = [(i, 0, 1, 100, 100, 9) for i in range(6)]
    jobs = Jobs.from_rows([*urgent, (6, 0, 1, 100, 100, 0), (7, 1, 8, 5, 5, 9), (8, 2, 1, 5, 5, 9)])
    result = preemptive(jobs, 8)
    starts, _ = times(result.schedule)
    assert starts[8] == 2
    assert starts[7] == 100
    assert result.preemptions.sum() == 0


def test_the_node_that_loses_least_work_is_cleared():
    nodes = [(0, [Running(1, 4, 0, 0)]), (0, [Running(2, 4, 0, 50)]), (1, [Running(3, 3, 0, 50)])]
    assert choose_victims_on_a_node(nodes, 4, 1, now_ms=60) == (2, [nodes[2][1][0]])


def test_a_victim_queues_again_and_starts_from_zero():
    jobs = Jobs.from_rows([(1, 0, 4, 10, 10, 0), (2, 6, 3, 5, 5, 1), (3, 7, 4, 2, 2, 0)])
    result = preemptive(jobs, 4)
    assert times(result.schedule) == ({1: 0, 2: 6, 3: 21}, {1: 21, 2: 11, 3: 23})
    assert result.preemptions.tolist() == [1, 0, 0]
    assert result.lost_unit_ms.tolist() == [24, 0, 0]


def test_a_victim_starts_again_from_its_last_checkpoint():
    jobs = Jobs.from_rows([(1, 0, 4, 10, 10, 0), (2, 7, 3, 5, 5, 1)])
    result = preemptive(jobs, 4, checkpoint_every_ms=3)
    assert times(result.schedule) == ({1: 0, 2: 7}, {1: 16, 2: 12})
    assert result.lost_unit_ms.tolist() == [4, 0]


@pytest.mark.parametrize("checkpoint_every", [None, 3])
@pytest.mark.parametrize("kill_at_limit", [True, False])
@settings(max_examples=250)
@given(instance=workloads(jobs=9))
def test_preemption_agrees_with_the_time_stepping_reference(instance, kill_at_limit, checkpoint_every):
    rows, units = instance
    result = preemptive(
        Jobs.from_rows(rows), units, kill_at_limit=kill_at_limit, checkpoint_every_ms=checkpoint_every
    )
    start, end, stops, lost = reference.simulate(
        rows, units, kill_at_limit=kill_at_limit, checkpoint_every=checkpoint_every
    )
    assert times(result.schedule) == (start, end)
    ids = result.schedule.jobs.ids.tolist()
    assert {i: n for i, n in zip(ids, result.preemptions.tolist(), strict=True) if i in stops} == stops
    assert {i: n for i, n in zip(ids, result.lost_unit_ms.tolist(), strict=True) if i in lost} == lost


@pytest.mark.parametrize("every", [0, -5, 2.5])
def test_a_checkpoint_interval_is_a_positive_whole_number(every):
    with pytest.raises(InvalidInput, match="checkpoint_every_ms"):
        preemptive(Jobs.from_rows([]), 4, checkpoint_every_ms=every)
