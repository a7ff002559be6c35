import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InvalidInput
from engine.fleet.fgd import Task, unusable_gpu_milli, unusable_share


def reference(gpus, cpu, tasks):
    """Return F of one node by the words of the definition."""
    total = 0.0
    for task in tasks:
        roomy = [free for free in gpus if free >= task.gpu_milli]
        asks_none = task.gpus == 0 or task.gpu_milli == 0
        if asks_none or cpu < task.cpu_milli or len(roomy) < task.gpus:
            total += task.popularity * sum(gpus)
        else:
            total += task.popularity * sum(free for free in gpus if free < task.gpu_milli)
    return total


def test_the_published_cases_are_met(shared_dir):
    cases = json.loads((shared_dir / "oracles" / "scheduling.json").read_text())["cases"]
    cases = [case for case in cases if case["kind"] == "fgd"]
    assert {case["id"] for case in cases} >= {"F06", "F07"}
    for case in cases:
        found = unusable_gpu_milli([case["gpus"]], [case["cpu"]], [Task(*task) for task in case["tasks"]])
        assert found[0] == pytest.approx(case["expect"]["F"], rel=1e-12)


milli = st.sampled_from([0, 200, 250, 500, 750, 1000])
tasks = st.builds(
    Task, st.sampled_from([0.1, 0.5]), st.sampled_from([0, 500, 4000]), milli, st.integers(0, 4)
)


@given(
    nodes=st.lists(st.tuples(st.lists(milli, min_size=4, max_size=4), st.integers(0, 4000)), min_size=1),
    mix=st.lists(tasks, max_size=4),
)
def test_every_node_agrees_with_the_definition(nodes, mix):
    gpus, cpus = [node[0] for node in nodes], [node[1] for node in nodes]
    expected = [reference(node[0], node[1], mix) for node in nodes]
    assert unusable_gpu_milli(gpus, cpus, mix) == pytest.approx(expected)


def test_an_empty_cluster_is_usable_and_a_full_one_has_no_share():
    whole = [Task(1.0, 0, 1000, 8)]
    assert unusable_share(np.full((3, 8), 1000), np.full(3, 9000), whole) == 0.0
    assert unusable_share(np.zeros((3, 8)), np.full(3, 9000), whole) is None


def test_swiss_cheese_is_unusable_for_whole_nodes():
    gpus = np.zeros((2, 8))
    gpus[:, :4] = 1000
    assert unusable_share(gpus, [9000, 9000], [Task(1.0, 0, 1000, 8)]) == 1.0
    assert unusable_share(gpus, [9000, 9000], [Task(1.0, 0, 1000, 4)]) == 0.0


@pytest.mark.parametrize(
    ("gpus", "cpu", "name"),
    [
        ([[1001]], [1], "gpu_milli"),
        ([[float("nan")]], [1], "gpu_milli"),
        ([[1]], [-1], "cpu_milli"),
        ([[1]], [1, 2], "cpu_milli"),
        ([1], [1], "cpu_milli"),
    ],
)
def test_what_is_no_free_capacity_is_named(gpus, cpu, name):
    with pytest.raises(InvalidInput, match=name):
        unusable_gpu_milli(gpus, cpu, [])


@pytest.mark.parametrize("task", [(1.5, 0, 0, 0), (0.5, -1, 0, 0), (0.5, 0, 1001, 1), (0.5, 0, 1, True)])
def test_what_is_no_task_is_refused(task):
    with pytest.raises(InvalidInput):
        Task(*task)
