import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InvalidInput, NoAnswer
from engine.fleet.defrag import plan_defrag


def reference(occupants, request, failed):
    """Return window and moves by trying every window."""
    healthy = [node for node in range(len(occupants)) if node not in failed]
    windows = [healthy[i : i + request] for i in range(len(healthy) - request + 1)]
    best = min(windows, key=lambda window: (sum(occupants[n] is not None for n in window), window[0]))
    outside = [n for n in healthy if n not in best and occupants[n] is None]
    movers = [n for n in best if occupants[n] is not None]
    return tuple(best), tuple((mover, outside[i]) for i, mover in enumerate(movers))


def test_the_defragmentation_cases_of_the_oracle_are_met_exactly(shared_dir):
    cases = json.loads((shared_dir / "oracles" / "scheduling.json").read_text())["cases"]
    cases = [case for case in cases if case["kind"] == "defrag"]
    assert {case["id"] for case in cases} >= {"D01", "D02"}
    for case in cases:
        plan = plan_defrag([case["busy"].get(str(n)) for n in range(case["nodes"])], case["request"])
        expected = case["expect"]
        assert list(plan.window) == expected["window"]
        assert [list(move) for move in plan.moves] == expected["moves"]
        assert len(plan.moves) == expected["migrations"]
        assert plan.remaining_after(case["remaining"], case["tax"]) == expected["remaining_after"]


@given(
    occupants=st.lists(st.sampled_from([None, None, "a", "b", "c"]), min_size=1, max_size=12),
    failed=st.sets(st.integers(0, 11), max_size=3),
    request=st.integers(1, 6),
)
def test_the_window_is_the_cheapest_of_all(occupants, failed, request):
    failed = {node for node in failed if node < len(occupants)}
    free = sum(job is None for node, job in enumerate(occupants) if node not in failed)
    if free < request:
        with pytest.raises(NoAnswer, match="are free"):
            plan_defrag(occupants, request, failed)
        return
    plan = plan_defrag(occupants, request, failed)
    assert (plan.window, plan.moves) == reference(occupants, request, failed)


def test_a_failed_node_is_passed_over_and_not_counted():
    assert plan_defrag([None, None, None, "a"], 2, failed=[1]).window == (0, 2)


def test_a_job_on_two_nodes_pays_the_tax_once():
    plan = plan_defrag(["a", None, "a", None, "b", None, None], 4)
    assert plan.moves == ((4, 1),)
    both = plan_defrag([None, "a", "a", None, "b", "b", None, None], 4)
    assert both.moved == {"a"}
    assert both.remaining_after({"a": 100, "b": 100}, 0.1) == {"a": 110, "b": 100}


def test_nothing_free_is_refused():
    with pytest.raises(NoAnswer, match="1 nodes are wanted and 0 are free"):
        plan_defrag(["a"], 1)


def test_a_failed_node_must_exist():
    with pytest.raises(InvalidInput, match="failed"):
        plan_defrag([None], 1, failed=[1])
