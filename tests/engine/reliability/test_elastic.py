import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InvalidInput, NoAnswer
from engine.reliability.batch import split_batch
from engine.reliability.elastic import (
    StallBudget,
    break_even_repair,
    rescale,
    use_spares,
    wait_for_repair,
)
from engine.reliability.layout import Layout
from engine.reliability.ring import all_reduce_time, reformed, ring


@pytest.fixture(scope="module")
def cases(shared_dir):
    oracle = json.loads((shared_dir / "oracles" / "scheduling.json").read_text())
    return {case["id"]: case for case in oracle["cases"] if case["id"].startswith("E")}


def of_case(case):
    replica = case["tp"] * case["pp"]
    data = case["nodes"] * case["gpus_per_node"] // replica
    return Layout(tensor=case["tp"], pipeline=case["pp"], data=data, gpus_per_node=case["gpus_per_node"])


def test_capacity_cases(cases):
    seen = 0
    for case in cases.values():
        if case["kind"] != "elastic":
            continue
        job, expect = of_case(case), case["expect"]
        step = job.replica_gpus // case["gpus_per_node"]
        damage = job.damage(range(0, 10 * step, step))  # one node in each of ten replicas
        assert (damage.replicas, damage.lost, damage.left) == (
            expect["replicas"],
            expect["lost"],
            expect["left"],
        )
        assert damage.capacity == expect["capacity"]
        assert damage.idle_healthy_nodes == expect["idle_healthy_nodes"]
        seen += 1
    assert seen == 2


def test_batch_cases(cases):
    case = cases["E04"]
    split = split_batch(case["global_batch"], case["micro"], case["replicas"], case["left"])
    expect = case["expect"]
    assert split.steps_before == expect["accum_before"]
    assert split.steps_after == expect["accum_after_ceil"]
    assert split.splits_evenly == expect["exact_batch"]
    assert split.batch_if_padded == expect["batch_if_ceil"]
    assert split.step_time_ratio == expect["step_time_ratio"]
    assert (split.with_more, split.with_fewer) == (42, 76)
    assert 42 * 18 + 76 * 17 == 2048


@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 4), st.data())
def test_a_kept_batch_stays_the_batch(before, steps, micro, data):
    after = data.draw(st.integers(1, before))
    split = split_batch(before * steps * micro, micro, before, after)
    samples = (split.with_more * split.steps_after + split.with_fewer * (split.steps_after - 1)) * micro
    assert samples == before * steps * micro <= split.batch_if_padded
    assert split.with_more + split.with_fewer == after and split.with_more > 0
    assert split.throughput_kept <= split.throughput_shrunk == after / before


def test_ten_nodes_cost_what_their_place_in_the_layout_says():
    one = Layout(tensor=8, pipeline=16, data=128)
    assert one.damage(range(32, 42)).lost / 128 == pytest.approx(0.0078125)
    by_stage = Layout(tensor=8, pipeline=16, data=128, order="stage")
    assert by_stage.damage(range(32, 42)).lost / 128 == pytest.approx(0.078125)
    assert Layout(tensor=8, pipeline=1, data=100).damage(range(10)).capacity == 0.9


def test_a_node_with_several_replicas_takes_them_all():
    small = Layout(tensor=2, pipeline=1, data=12)  # four replicas a node
    damage = small.damage([1])
    assert (damage.hit, damage.left, damage.idle_healthy_nodes) == ((4, 5, 6, 7), 8, 0)


@given(
    st.sampled_from([(1, 1), (2, 1), (4, 2), (8, 1), (8, 4), (16, 2)]),
    st.integers(1, 12),
    st.sampled_from(["replica", "stage"]),
    st.data(),
)
def test_damage_equals_a_plain_count_over_gpus(degrees, data_degree, order, data):
    tensor, pipeline = degrees
    job = Layout(tensor=tensor, pipeline=pipeline, data=8 * data_degree, order=order)
    dead = data.draw(st.sets(st.integers(0, job.nodes - 1), min_size=1, max_size=4))
    ranks = range(job.gpus)
    where = {
        rank: rank // (tensor * pipeline) if order == "replica" else (rank // tensor) % job.data
        for rank in ranks
    }
    assert all(list(where.values()).count(r) == tensor * pipeline for r in set(where.values()))
    hit = {where[rank] for rank in ranks if rank // 8 in dead}
    idle = [
        node
        for node in range(job.nodes)
        if node not in dead and all(where[rank] in hit for rank in range(8 * node, 8 * node + 8))
    ]
    damage = job.damage(dead)
    assert (set(damage.hit), list(damage.idle_nodes)) == (hit, idle)
    assert damage.left == job.data - len(hit)
    assert damage.repacked == 8 * (job.nodes - len(dead)) // (tensor * pipeline)


def test_repacking_healthy_nodes_saves_replicas():
    damage = Layout(tensor=8, pipeline=10, data=10).damage(range(45, 55))
    assert (damage.left, damage.repacked) == (8, 9)


def test_ring_all_reduce(shared_dir):
    oracle = json.loads((shared_dir / "oracles" / "queues_money_carbon.json").read_text())
    for row in oracle["ring_allreduce"]["rows"]:
        time = all_reduce_time(row["n"], (row["bytes"], "B"), (row["bw_Bps"], "B/s"), (row["alpha_s"], "s"))
        assert time.m_as("s") == pytest.approx(row["t_s"], rel=1e-9)


def test_the_ring_closes_over_a_gap_with_one_new_link():
    before = ring(range(10))
    assert len(before.links) == 10 and before.links[-1] == (9, 0)
    after = reformed(before, [4, 5])
    assert after.members == (0, 1, 2, 3, 6, 7, 8, 9) and after.remade == ((3, 6),)
    assert reformed(before, [0, 5]).remade == ((4, 6), (9, 1))
    assert reformed(ring(range(3)), [0, 1]).links == ()


def test_elastic_against_waiting():
    wait = wait_for_repair(105, 450, 4 * 3600)
    elastic = rescale(105, 105, 450, 4 * 3600, throughput=118 / 128)
    assert wait.lost.m_as("h") == pytest.approx(4.154, abs=5e-4)
    assert elastic.lost.m_as("h") == pytest.approx(0.496, abs=5e-4)
    assert break_even_repair(105, 105, 105, 118 / 128) == pytest.approx(113.9, abs=0.05)


@given(st.floats(1, 1e4), st.floats(0, 1e4), st.floats(1, 1e5), st.floats(0.05, 1), st.floats(0, 5000))
def test_the_loss_is_the_area_above_the_timeline_and_the_rollback(stall, rollback, repair, share, reshard):
    shrink = stall + reshard
    elastic = rescale(shrink, shrink, rollback, repair, throughput=share)
    moments = [*elastic.moments]
    area = sum((b - a) * (1 - elastic.at((a + b) / 2)) for a, b in itertools.pairwise(moments))
    assert elastic.lost.m_as("s") == pytest.approx(area + rollback)
    wait = wait_for_repair(stall, rollback, repair)
    even = break_even_repair(stall, shrink, shrink, share)
    if abs(repair - even) > 1e-6 * even:
        assert (elastic.lost < wait.lost) == (repair > even)


def test_spares_stand_in_or_the_job_waits():
    ready = use_spares(105, 450, 14400, dead=10, spares=10)
    assert ready.possible and ready.lost.m_as("s") == 555 and ready.full.m_as("s") == 105
    short = use_spares(105, 450, 14400, dead=10, spares=9)
    assert not short.possible and "9 spares" in short.reason
    assert short.lost == wait_for_repair(105, 450, 14400).lost and short.name == "spares"


def budget(**changes):
    fields = {
        "detection": "15 s", "rendezvous": "30 s", "process_start": "50 s",
        "checkpoint": "980 GB", "bandwidth": "100 GB/s",
    }  # fmt: skip
    return StallBudget(**fields | changes)


def test_a_stall_is_the_sum_of_its_parts():
    assert budget().stall(128, 118).total.m_as("s") == pytest.approx(104.8)


def test_a_checkpoint_of_another_world_size_is_converted_or_refused():
    with pytest.raises(NoAnswer, match="saved on 4 replicas does not load on 6"):
        budget(checkpoint_format="same-size").stall(4, 6)
    assert budget(checkpoint_format="same-size").stall(4, 4).total.m_as("s") == pytest.approx(104.8)
    converted = budget(checkpoint_format="converted").stall(4, 6)
    assert converted.reshard.m_as("min") == 45
    assert budget(checkpoint_format="converted").stall(6, 6).reshard.m == 0


@pytest.mark.parametrize(
    ("make", "parameter"),
    [
        (lambda: Layout.read_text("8x10"), "layout"),
        (lambda: Layout.read_text("8x-1x10"), "layout"),
        (lambda: Layout.read_text("8×1×10"), "layout"),
        (lambda: Layout(tensor=3, pipeline=1, data=1), "layout"),
        (lambda: Layout(tensor=0, pipeline=1, data=8), "tensor"),
        (lambda: Layout(tensor=8, pipeline=1, data=4).damage([4]), "dead_nodes"),
        (lambda: Layout(tensor=8, pipeline=1, data=4).damage([-1]), "dead_nodes"),
        (lambda: split_batch(2048, 1, 100, 90), "global_batch"),
        (lambda: split_batch(2000, 1, 100, 0), "after"),
        (lambda: split_batch(2000, 1, 100, 101), "after"),
        (lambda: all_reduce_time(0, "1 GB", "50 GB/s", "10 µs"), "members"),
        (lambda: all_reduce_time(2, "1 GB", "0 GB/s", "10 µs"), "bandwidth"),
        (lambda: all_reduce_time(2, "1 s", "50 GB/s", "10 µs"), "size"),
        (lambda: break_even_repair(1, 1, 1, 0.0), "throughput"),
    ],
)
def test_bad_input_is_named(make, parameter):
    with pytest.raises(InvalidInput) as error:
        make()
    assert error.value.fields["parameter"] == parameter
