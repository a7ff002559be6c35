"""Pre-training layouts against a search by brute force, a pipeline simulated slot by slot, and hand cases."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine.planner import PlanRequest, plan
from engine.planner.catalog import Gpu, Shape
from engine.planner.pretrain import Pretraining, Split
from engine.planner.protocol import Resources, TransformerPretrain
from tests.engine.planner.random_requests import counts, objective, pretrain, resources

LLAMA = Shape(parameters=70.6e9, hidden=8192, layers=80, source="test")
H100 = Gpu(vram_gb=80, peak_flops=700e12, source="test")
WORK = TransformerPretrain(model="llama-3.1-70b", seq_len=4096, global_batch=1024)
FLEET = {"gpus": 16384, "hosts": 2048, "gpu_type": "h100", "interconnect": "multi_node_ib"}
FLEET |= {"host_interconnect": "same_host_nvlink", "hourly_cost_usd_per_gpu": 3}
ONE = Pretraining(WORK, LLAMA, H100, Resources.read(FLEET | {"gpus": 512, "hosts": 64}))


def layouts_by_brute_force(world, host, layers, batch, micro):
    found = set()
    for tensor in (1, 2, 4, 8):
        for pipeline in range(1, layers + 1):
            for data in range(1, world + 1) if tensor * pipeline <= world else ():
                inside_a_host = tensor <= host and (world <= host or host % tensor == 0)
                divides = layers % pipeline == 0 and batch % (data * micro) == 0
                if tensor * pipeline * data == world and inside_a_host and divides:
                    found.add((tensor, pipeline, data))
    return found


@settings(max_examples=25)
@given(
    gpus=st.integers(1, 48),
    hosts=st.sampled_from([1, 2, 3]),
    layers=st.integers(1, 24),
    batch=st.integers(1, 200),
    micro=st.integers(1, 3),
)
def test_every_layout_that_divides_without_remainder_is_tried(gpus, hosts, layers, batch, micro):
    assume(hosts <= gpus)
    workload = {"kind": "transformer_pretrain", "parameters_b": 1, "num_layers": layers}
    workload |= {"global_batch": batch, "micro_batch_per_gpu": micro}
    report = plan(
        PlanRequest.read(
            {"workload": workload, "resources": {"gpus": gpus, "hosts": hosts, "gpu_type": "h100"}}
        )
    )
    tried = [(v.workers, v.layout.tensor, v.layout.pipeline, v.layout.data) for v in report.candidates]
    worlds = sorted({1 << k for k in range(10) if 1 << k < gpus} | {gpus})
    expected = {
        (world, *layout)
        for world in worlds
        for layout in layouts_by_brute_force(world, max(1, gpus // hosts), layers, batch, micro)
    }
    assert len(tried) == len(set(tried))
    assert set(tried) == expected


def pipeline_slots(stages, micro_batches):
    """Run micro-batches through stages one slot at a time; return when the last one leaves."""
    done = [[0] * (micro_batches + 1) for _ in range(stages + 1)]
    for stage in range(1, stages + 1):
        for batch in range(1, micro_batches + 1):
            done[stage][batch] = max(done[stage - 1][batch], done[stage][batch - 1]) + 1
    return done[stages][micro_batches]


@given(st.integers(1, 32), st.integers(1, 64))
def test_the_bubble_is_the_idle_share_of_a_simulated_pipeline(stages, micro_batches):
    split = Split(tensor=1, pipeline=stages, data=1, micro_batches=micro_batches)
    slots = pipeline_slots(stages, micro_batches)
    assert split.bubble == pytest.approx((slots - micro_batches) / slots)


def test_state_is_sixteen_bytes_over_tensor_pipeline_and_shard():
    plain = ONE.parts(Split(8, 4, 16, 64))
    assert plain.weights + plain.gradients + plain.optimizer == pytest.approx(16 * 70.6 / (8 * 4))
    sharded = ONE.parts(Split(8, 4, 16, 64, sharded=True))
    state = sharded.weights + sharded.gradients + sharded.optimizer
    assert state == pytest.approx(16 * 70.6 / (8 * 4 * 16))
    assert sharded.transient == pytest.approx(2 * (70.6 / 80) * 2 / 8)


def test_a_first_stage_holds_as_many_micro_batches_as_there_are_stages():
    one = 4096 * 8192 * 18 * 80 / 1e9
    assert ONE.parts(Split(1, 1, 1, 64)).activations == pytest.approx(one)
    assert ONE.parts(Split(8, 4, 1, 64)).activations == pytest.approx(one / 8)
    assert ONE.parts(Split(1, 4, 1, 2)).activations == pytest.approx(one / 4 * 2)
    recomputed = 4096 * 8192 * (80 / 4 * 4 * 2 + 18) / 1e9 / 8
    kept = ONE.parts(Split(8, 4, 1, 64, checkpointing=True)).activations
    assert kept == pytest.approx(recomputed)


def test_efficiency_counts_bubble_tensor_traffic_transfers_and_gradients():
    split = Split(tensor=8, pipeline=4, data=16, micro_batches=64)
    compute = 4096 * 6 * 70.6e9 / 32 / (0.30 * 700e12)
    boundary = 4096 * 8192 * 2
    tensor = 4 * 20 * (2 * 7 / 8 * boundary / 250e9 + 10e-6)
    transfer = 2 * (boundary / 8 / 25e9 + 50e-6)
    gradients = 2 * 15 / 16 * 70.6e9 / 32 * 2 / 25e9 + 50e-6
    step = (64 + 3) * (compute + tensor + transfer) + max(0, gradients - 64 * compute / 2)
    assert ONE.efficiency(split) == round(64 * compute / step, 2)


def test_sharded_state_is_gathered_for_every_micro_batch():
    split = Split(tensor=8, pipeline=1, data=64, micro_batches=16, sharded=True)
    compute = 4096 * 6 * 70.6e9 / 8 / (0.30 * 700e12)
    tensor = 4 * 80 * (2 * 7 / 8 * 4096 * 8192 * 2 / 250e9 + 10e-6)
    gathers = 16 * (3 * 63 / 64 * 70.6e9 / 8 * 2 / 25e9 + 3 * 80 * 50e-6)
    step = 16 * (compute + tensor) + gathers - 16 * compute / 2
    assert ONE.efficiency(split) == round(16 * compute / step, 2)


def test_a_70b_model_on_16384_gpus_keeps_tensor_groups_in_hosts_and_saves_state_by_itself():
    workload = WORK.variant(global_batch=4096, train_tokens_m=15e6)
    report = plan(
        PlanRequest.read(
            {
                "workload": workload.model_dump(),
                "resources": FLEET,
                "objective": {"mode": "fastest"},
            }
        )
    )
    layout = report.selected.layout
    assert layout.tensor * layout.pipeline * layout.data == report.selected.workers == 16384
    assert layout.tensor <= 8
    assert report.selected.grad_accum == layout.micro_batches == 4096 // layout.data
    assert report.selected.launcher == "torchrun"
    assert not report.selected.colocated
    minutes = 15e12 * 6 * 70.6e9 / (16384 * report.selected.scaling_efficiency * 0.30 * 700e12) / 60
    assert report.selected.time.value == round(minutes, 1)


def test_a_stated_choice_of_checkpointing_is_obeyed():
    for stated in (True, False):
        workload = WORK.variant(activation_checkpointing=stated).model_dump()
        report = plan(PlanRequest.read({"workload": workload, "resources": FLEET | {"gpus": 64, "hosts": 8}}))
        assert {verdict.activation_checkpointing for verdict in report.candidates} == {stated}


def test_more_gpus_than_are_planned_for_stay_unused():
    data = {"workload": WORK.model_dump(), "resources": FLEET | {"gpus": 32768, "hosts": 4096}}
    report = plan(PlanRequest.read(data))
    assert max(verdict.workers for verdict in report.candidates) <= 16384
    assert any("16,384" in warning for warning in report.warnings)


@settings(max_examples=200)
@given(workload=pretrain, hardware=resources(counts), aim=objective)
def test_no_layout_is_more_efficient_than_its_bubble_allows(workload, hardware, aim):
    report = plan(PlanRequest.read({"workload": workload, "resources": hardware, "objective": aim}))
    for verdict in report.candidates:
        layout = verdict.layout
        assert layout.tensor * layout.pipeline * layout.data == verdict.workers
        assert layout.shard in (1, layout.data)
        assert 0 <= layout.bubble < 1
        if verdict.scaling_efficiency is not None:
            assert verdict.scaling_efficiency <= 1 - layout.bubble + 0.0051
