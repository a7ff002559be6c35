import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.fleet.gangs import start_pod_by_pod, start_whole
from tests.engine.fleet.pool_instances import run


def test_the_gang_case_of_the_oracle_is_met_exactly(shared_dir):
    cases = json.loads((shared_dir / "oracles" / "scheduling.json").read_text())["cases"]
    (case,) = [case for case in cases if case["kind"] == "gang_deadlock"]
    pods, expected = [job["pods"] for job in case["jobs"]], case["expect"]
    round_robin = start_pod_by_pod(pods, case["pool"])
    assert round_robin.held == tuple(expected["pod_by_pod_round_robin"]["running_pods"].values())
    assert round_robin.deadlock is expected["pod_by_pod_round_robin"]["deadlock"]
    starts, ends = run([(job["id"], 0, job["pods"], 10, 10) for job in case["jobs"]], case["pool"], "fcfs")
    assert expected["gang_start"] == {"1": starts[1], "2": "after 1"}
    assert starts[2] == ends[1]


def test_two_jobs_of_a_pod_a_node_do_not_share_the_nodes_half_and_half():
    # Volcano issue 3373: 100 nodes, two jobs of 100 pods that each want a node.
    whole = start_whole([100, 100], 100)
    assert whole.held == (100, 0)
    assert not whole.deadlock
    assert start_pod_by_pod([100, 100], 100).held == (50, 50)
    assert start_pod_by_pod([100, 100], 100).deadlock


def test_a_later_gang_that_fits_starts_beside_the_first():
    assert start_whole([6, 6, 2], 8).held == (6, 0, 2)


def test_pod_by_pod_is_no_deadlock_when_a_gang_gets_all_its_pods():
    admission = start_pod_by_pod([2, 6], 6)
    assert admission.held == (2, 4)
    assert admission.complete == (True, False)
    assert not admission.deadlock


@pytest.mark.parametrize("start", [start_whole, start_pod_by_pod])
@given(pods=st.lists(st.integers(1, 9), max_size=5), units=st.integers(1, 20))
def test_no_more_is_held_than_there_is_and_whole_gangs_never_deadlock(start, pods, units):
    admission = start(pods, units)
    assert sum(admission.held) <= units
    if start is start_whole:
        assert not admission.deadlock
        assert all(held in (0, want) for held, want in zip(admission.held, pods, strict=True))
