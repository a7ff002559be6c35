import pytest

from engine.errors import InvalidInput
from engine.scenarios.elastic_rescale import ElasticRescaleScenario
from engine.scenarios.rescale_outcome import ElasticRescaleOutcome

RESPONSES = ("wait", "spares", "elastic")
LAYOUTS = {"8x1x100": 0.9, "8x4x25": 0.88, "8x10x10": 0.8, "8x20x5": 0.8}


def act(**levers):
    return ElasticRescaleScenario(**levers).outcome()


@pytest.fixture(scope="module")
def outcomes():
    return {(r, lay): act(response=r, layout=lay) for r in RESPONSES for lay in LAYOUTS}


def test_the_layout_decides_what_ten_dead_nodes_leave(outcomes):
    for (_, layout), one in outcomes.items():
        assert one.capacity.m == pytest.approx(LAYOUTS[layout])
        assert one.damage.dead_nodes == tuple(range(45, 55)) and one.gpus == 800
    assert outcomes["elastic", "8x20x5"].damage.idle_healthy_nodes == 10
    assert outcomes["elastic", "8x1x100"].damage.idle_healthy_nodes == 0
    aligned = act(response="elastic", layout="8x10x10", first_dead_node=40)
    assert aligned.capacity.m == pytest.approx(0.9)


def test_at_scale_ten_nodes_cost_between_1_and_8_percent():
    losses = {row.label: row.loss.m for row in act().at_scale}
    assert losses == {
        "ten of 2,048 nodes, in one replica": 1 / 128,
        "ten of 2,048 nodes, in ten replicas": 10 / 128,
        "ten of 100 one-node replicas": 0.1,
    }


def test_the_ring_is_remade_where_replicas_are_missing(outcomes):
    one = outcomes["elastic", "8x10x10"]
    assert len(one.ring_before.links) == 10 and one.ring_after.remade == ((3, 6),)
    assert one.all_reduce.after.m < one.all_reduce.before.m < 1.1 * one.all_reduce.after.m


def test_the_response_decides_which_links_are_made_anew(outcomes):
    wait, spares = outcomes["wait", "8x10x10"], outcomes["spares", "8x10x10"]
    assert wait.ring_after == wait.ring_before and wait.all_reduce.after == wait.all_reduce.before
    assert spares.ring_after.links == spares.ring_before.links
    assert spares.ring_after.remade == ((3, 4), (4, 5), (5, 6))  # replicas 4 and 5 get stand-ins


def test_the_moment_of_the_spike_does_not_tell_what_is_left(outcomes):
    for one in outcomes.values():
        at_once = [event.sentence for event in one.events if event.hours <= 0]
        assert len(at_once) == 1 and "replicas" not in at_once[0]
        assert [event.hours for event in one.events] == sorted(event.hours for event in one.events)
        assert any("Broken replicas" in event.sentence for event in one.events)


def test_the_map_of_the_job_is_about_square_and_keeps_the_dead_racks_together(outcomes):
    shape = outcomes["wait", "8x10x10"].fleet_map.shape
    assert (shape.columns, shape.rows) == (32, 30)
    with_spares = outcomes["spares", "8x10x10"].fleet_map.shape
    assert all(with_spares.cell(gpu) == shape.cell(gpu) for gpu in range(800))
    rows = {shape.cell(node * 8)[1] // shape.node_rows // shape.nodes_per_rack for node in range(45, 55)}
    assert rows == {1}


def test_the_three_responses_share_one_timeline_and_one_rollback(outcomes):
    one = outcomes["elastic", "8x20x5"]
    r = one.responses
    assert {x.rollback.m_as("s") for x in (r.wait, r.spares, r.elastic)} == {450}
    stall = 15 + 30 + 50 + 9.8
    assert r.wait.lost.m_as("s") == pytest.approx(450 + 4 * 3600 + stall)
    assert r.spares.lost.m_as("s") == pytest.approx(450 + stall)
    assert r.elastic.lost.m_as("s") == pytest.approx(450 + 2 * stall + 0.2 * 4 * 3600)
    assert one.break_even.m_as("s") == pytest.approx(stall / 0.8)
    assert one.lost.m == pytest.approx(r.elastic.lost.m_as("h") * 800)
    assert [r.elastic.at(t) for t in (-1, 0, stall + 1, stall + 14401, 1e5)] == [1, 0, 0.8, 0, 1]


def test_elastic_beats_waiting_exactly_above_the_break_even():
    even = act(response="elastic").break_even.m_as("s")
    short, long = (act(response="elastic", repair=(even * k, "s")).responses for k in (0.99, 1.01))
    assert short.elastic.lost > short.wait.lost and long.elastic.lost < long.wait.lost


def test_the_window_is_accounted_for(outcomes):
    for (response, _), one in outcomes.items():
        job = 800 * 24.0
        assert one.held.m == job + (96 * 24 if response == "spares" else 0)
        assert one.goodput.m == pytest.approx((job - one.lost.m) / one.held.m)
        assert one.cluster_mfu.m == pytest.approx(0.4 * one.goodput.m)
        assert one.money.per_useful_gpu_hour.m == pytest.approx(3 / one.goodput.m)
        assert one.money.wasted_per_day.m == pytest.approx(3 * (one.held.m - job + one.lost.m))


def test_spares_pay_only_if_spikes_come_often(outcomes):
    one = outcomes["spares", "8x20x5"]
    saved = one.responses.elastic.lost.m_as("h") * 800 - one.responses.spares.lost.m_as("h") * 800
    assert one.spares.standing_per_day.m == 12 * 8 * 24
    assert one.spares.pays_every.m_as("day") == pytest.approx(saved / (12 * 8 * 24))


def test_a_kept_batch_runs_slower_than_the_capacity():
    kept = act(response="elastic", layout="8x4x25", batch="keep")
    assert kept.batch.step_time_ratio == pytest.approx(91 / 80)  # ⌈2000/22⌉ by 2000/25
    assert kept.throughput.m == pytest.approx(80 / 91) and kept.capacity.m == pytest.approx(0.88)


def test_repacking_uses_the_healthy_nodes():
    packed = act(response="elastic", layout="8x10x10", repack=True)
    assert packed.capacity.m == pytest.approx(0.9)
    assert packed.ring_after.members == (0, 1, 2, 3, 4, 6, 7, 8, 9)
    fleet = packed.fleet_map
    running = [fleet.state(2, 8 * node) for node in range(100)]
    assert running.count(1) == 90 and running.count(2) == 10


def test_when_elastic_is_not_possible_the_log_says_why_and_it_waits():
    everything = act(response="elastic", layout="8x20x5", order="stage")
    assert everything.damage.left == 0 and everything.capacity.m == 0 and everything.break_even is None
    assert not everything.responses.elastic.possible
    assert everything.lost == act(response="wait", layout="8x20x5").lost
    assert any("hit every replica" in event.sentence for event in everything.events)
    fixed = act(response="elastic", checkpoint_format="same-size")
    assert not fixed.responses.elastic.possible and "saved on 5" in fixed.responses.elastic.reason
    converted = act(response="elastic", checkpoint_format="converted")
    assert converted.stall.m_as("s") == pytest.approx(104.8 + 45 * 60)
    assert converted.stall_parts.reshard.m_as("min") == 45


def test_a_half_written_checkpoint_costs_the_whole_interval():
    during = act(checkpoint_interval="100 s", since_write="105 s")
    assert during.rollback.m_as("s") == pytest.approx(105)
    after = act(checkpoint_interval="100 s", since_write="110 s")  # a write takes 9.8 s
    assert after.rollback.m_as("s") == pytest.approx(0.2)


def states(fleet, frame):
    return [fleet.state(frame, 8 * node) for node in range(fleet.shape.nodes)]


def test_the_map_shows_dead_idle_and_working_nodes(outcomes):
    fleet = outcomes["elastic", "8x20x5"].fleet_map
    assert set(states(fleet, 0)) == {1}
    strike = states(fleet, fleet.crisis)
    assert strike.count(2) == 10 and strike.count(0) == 90
    reduced = states(fleet, fleet.after_act)
    assert (reduced.count(1), reduced.count(0), reduced.count(2)) == (80, 10, 10)
    assert set(states(fleet, len(fleet.hours) - 1)) == {1}
    waiting = outcomes["wait", "8x20x5"].fleet_map
    assert set(states(waiting, waiting.after_act)) == {1}
    spares = outcomes["spares", "8x20x5"].fleet_map
    standing = states(spares, 2)
    assert spares.shape.nodes == 112 and standing.count(1) == 100
    assert (standing.count(2), standing.count(0)) == (10, 2) and spares.after_act == 2
    repaired = states(spares, 3)
    assert (repaired.count(1), repaired[45:55]) == (100, [0] * 10)  # the repaired nodes are the new spares
    short = act(response="spares", spare_nodes=4).fleet_map
    assert states(short, short.after_act) == [1] * 100 + [0] * 4


def test_the_log_tells_the_response_and_what_all_three_cost(outcomes):
    for (response, _), one in outcomes.items():
        last = one.events[-1].sentence
        for name in ("Crash and wait loses", "Hot spares loses", "Elastic rescale loses"):
            assert name in last
        assert ("links made anew: 1" in " ".join(e.sentence for e in one.events)) == (response == "elastic")
    assert "3,323 GPU-hours, 9,970 $" in outcomes["wait", "8x20x5"].events[-1].sentence


def test_the_outcome_reads_back(outcomes):
    for one in outcomes.values():
        assert ElasticRescaleOutcome.read_json(one.model_dump_json()) == one


@pytest.mark.parametrize(
    ("levers", "parameter"),
    [
        ({"layout": "8x1x99"}, "layout"),
        ({"layout": "ring"}, "layout"),
        ({"response": "pray"}, "response"),
        ({"first_dead_node": 95}, "first_dead_node"),
        ({"dead_nodes": 100, "first_dead_node": 0}, "dead_nodes"),
        ({"dead_nodes": 0}, "dead_nodes"),
        ({"repair": "-4 h"}, "repair"),
        ({"repair": 4}, "repair"),
        ({"global_batch": 2048}, "global_batch"),
    ],
)
def test_bad_levers_are_named(levers, parameter):
    with pytest.raises(InvalidInput) as error:
        act(**levers)
    assert error.value.fields["parameter"] == parameter


def test_a_window_that_ends_too_early_is_refused():
    with pytest.raises(InvalidInput, match="window"):
        act(window="2 h")
