"""Bits, boards, placement rules and fragmentation, against lists and recorded answers."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InvalidInput
from engine.fleet.bits import first_run, longest_run, lowest, mask_of, members, without_positions
from engine.fleet.occupancy import Occupancy
from engine.fleet.placement import picker, whole_nodes

flags = st.lists(st.booleans(), max_size=60)


def runs(bits):
    """Every (start, length) of neighbouring true values."""
    found, start = [], None
    for i, bit in enumerate([*bits, False]):
        if bit and start is None:
            start = i
        if not bit and start is not None:
            found.append((start, i - start))
            start = None
    return found


def mask(bits):
    return mask_of(i for i, bit in enumerate(bits) if bit)


@given(flags, st.integers(1, 70))
def test_runs_are_those_of_a_list(bits, length):
    long_enough = [start for start, run in runs(bits) if run >= length]
    assert first_run(mask(bits), length) == (long_enough[0] if long_enough else -1)
    assert longest_run(mask(bits)) == max((run for _, run in runs(bits)), default=0)


@given(flags, st.sets(st.integers(0, 59), max_size=5))
def test_positions_are_cut_out_and_the_rest_closes_up(bits, gone):
    kept = [bit for i, bit in enumerate(bits) if i not in gone]
    assert without_positions(mask(bits), sorted(gone)) == mask(kept)


@given(flags.filter(any), st.data())
def test_the_lowest_members_are_the_first_ones(bits, data):
    everything = list(members(mask(bits)))
    count = data.draw(st.integers(1, len(everything)))
    assert list(members(lowest(mask(bits), count))) == everything[:count]


def fill(fleet, free):
    for node, left in enumerate(free):
        if left < fleet.gpus_per_node:
            fleet.take(node, fleet.gpus_per_node - left)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.integers(1, 4))
def test_placement_rules_pick_what_their_sentences_say(free, gpus):
    fleet = Occupancy(len(free), 4)
    fill(fleet, free)
    room = [n for n, left in enumerate(free) if left >= gpus]
    assert picker(fleet, "best")(gpus, -1) == min(room, key=lambda n: (free[n], n), default=-1)
    assert picker(fleet, "spread")(gpus, -1) == min(room, key=lambda n: (-free[n], n), default=-1)
    assert picker(fleet, "first")(gpus, -1) == min(room, default=-1)
    assert picker(fleet, "random", seed=3)(gpus, -1) in (room or [-1])


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.sets(st.integers(0, 29)), st.integers(1, 8))
def test_fragmentation_passes_over_failed_nodes_and_does_not_count_them(free, failed, length):
    fleet = Occupancy(len(free), 2)
    for node, is_free in enumerate(free):
        if node in failed:
            fleet.fail(node)
        elif not is_free:
            fleet.take(node, 2)
    order = [n for n in range(len(free)) if n not in failed]
    longest = max((run for _, run in runs([free[n] for n in order])), default=0)
    whole = sum(free[n] for n in order)
    assert fleet.external_fragmentation() == (1 - longest / whole if whole else None)
    starts = [order[start : start + length] for start, run in runs([free[n] for n in order]) if run >= length]
    assert fleet.find_block(length) == (mask_of(starts[0]) if starts else 0)


def test_fragmentation_is_total_when_gpus_are_free_but_no_whole_node_is():
    fleet = Occupancy(3, 8)
    fill(fleet, [1, 7, 0])
    assert fleet.external_fragmentation() == 1.0


def test_slots_are_taken_lowest_first():
    fleet = Occupancy(1, 8)
    first, second = fleet.take(0, 2), fleet.take(0, 3)
    fleet.release(0, first)
    assert (first, second, fleet.take(0, 4)) == (0b11, 0b11100, 0b1100011)


@pytest.mark.parametrize(("nodes", "gpus"), [(0, 8), (3, 0), (3, 9)])
def test_an_impossible_fleet_is_refused(nodes, gpus):
    with pytest.raises(InvalidInput, match="is not accepted"):
        Occupancy(nodes, gpus)


def test_an_unknown_placement_is_refused():
    with pytest.raises(InvalidInput, match="placement: 'worst' is not accepted; give one of spread, best"):
        picker(Occupancy(1, 1), "worst")


def cases(shared_dir, kind):
    data = json.loads((shared_dir / "oracles" / "scheduling.json").read_text())
    return [case for case in data["cases"] if case["kind"] == kind]


def test_recorded_node_sequences(shared_dir):
    rules = {"worst": "spread", "best": "best", "first": "first"}
    for case in cases(shared_dir, "node_sequence"):
        fleet = Occupancy(len(case["caps"]), 8)
        fill(fleet, case["caps"])
        pick, placed = picker(fleet, rules[case["policy"]]), []
        for gpus in case["requests"]:
            node = pick(gpus, -1)
            placed.append(None if node < 0 else node)
            if node >= 0:
                fleet.take(node, gpus)
        assert placed == case["expect"]["place"], case["id"]
        assert [fleet.free_of[busy] for busy in fleet.busy] == case["expect"]["free"], case["id"]


def test_recorded_fragmentation(shared_dir):
    for case in cases(shared_dir, "fragmentation"):
        fleet, expect = Occupancy(case["nodes"], 1), case["expect"]
        for node in case["busy"]:
            fleet.take(node, 1)
        assert fleet.whole_free.bit_count() == expect["free"]
        assert fleet.longest_block() == expect["largest"]
        assert fleet.external_fragmentation() == (
            None if expect["external"] is None else pytest.approx(expect["external"], rel=1e-15)
        )


def test_recorded_contiguous_requests(shared_dir):
    for case in cases(shared_dir, "contiguous"):
        fleet = Occupancy(case["nodes"], 1)
        for node in case["busy"]:
            fleet.take(node, 1)
        first = whole_nodes(fleet, case["request"], contiguous=True)
        assert (list(members(first)) or None) == case["expect"]["first"]
