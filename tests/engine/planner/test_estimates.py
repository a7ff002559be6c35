"""Memory, communication, time and cost of one candidate, recomputed by hand."""

import pytest

from engine.planner import PlanRequest, plan
from engine.planner.catalog import gpu, model_shape
from engine.planner.communication import efficiency, host_link, link_between
from engine.planner.protocol import Resources, TransformerFinetune
from engine.planner.training import world_sizes

QWEN = {"kind": "transformer_finetune", "model": "Qwen/Qwen2.5-7B"}


def report(workload, gpus=2, objective=None, **resources):
    resources = {"gpus": gpus, "gpu_type": "a100-80gb"} | resources
    return plan(
        PlanRequest.read({"workload": workload, "resources": resources, "objective": objective or {}})
    )


def candidate(answer, name, workers):
    return next(v for v in answer.candidates if v.name == name and v.workers == workers)


def test_full_fine_tuning_holds_sixteen_bytes_a_parameter_and_activations():
    memory = candidate(report(QWEN | {"method": "full"}), "single_gpu", 1).memory
    assert memory.weights_gb == memory.gradients_gb == 15.24  # 7.62e9 · 2
    assert memory.optimizer_gb == 91.44  # 7.62e9 · 12
    assert memory.activations_gb == 3.70  # 28 · 2048 · 1 · 3584 · 18
    assert memory.total_gb == 128.12  # with 2.5 flat
    assert memory.transient_gb == 0


def test_adapters_train_eight_matrices_per_layer_and_rank():
    memory = candidate(report(QWEN | {"lora_rank": 16}), "single_gpu", 1).memory
    trained = 8 * 3584 * 16 * 28
    assert memory.weights_gb == round((7.62e9 * 2 + trained * 2) / 1e9, 2)
    assert memory.gradients_gb == round(trained * 2 / 1e9, 2)
    assert memory.optimizer_gb == round(trained * 12 / 1e9, 2)


def test_quantized_weights_take_just_over_half_a_byte():
    memory = candidate(report(QWEN), "qlora_single_gpu", 1).memory
    assert memory.weights_gb == round((7.62e9 * 0.55 + 8 * 3584 * 16 * 28 * 2) / 1e9, 2)


def test_sharding_divides_state_and_gathers_two_layers():
    memory = candidate(report(QWEN | {"method": "full"}, gpus=4), "fsdp2", 4).memory
    assert memory.weights_gb == 3.81
    assert memory.optimizer_gb == 22.86
    assert memory.transient_gb == 1.09  # 2 · 7.62e9/28 · 2


def test_offload_moves_the_optimizer_to_the_host():
    answer = report(QWEN | {"method": "full"}, gpus=4, cpu_ram_gb=28.5)
    offloaded = candidate(answer, "zero3_cpu_offload", 4)
    assert offloaded.memory.optimizer_gb == 0
    assert offloaded.memory.cpu_offload_gb == 22.86  # above 0.8 · 28.5
    assert offloaded.status == "infeasible"
    assert offloaded.deficit_gb is None


def test_activation_checkpointing_is_switched_on_only_where_it_helps():
    long = QWEN | {"method": "lora", "seq_len": 32768}
    answer = report(long, gpus=1, gpu_type="l40s")
    assert candidate(answer, "single_gpu+ackpt", 1).activation_checkpointing
    kept = 28 * 32768 * 3584 * 2 + 32768 * 3584 * 18
    assert candidate(answer, "single_gpu+ackpt", 1).memory.activations_gb == round(kept / 1e9, 2)
    hopeless = report(long | {"micro_batch_per_gpu": 64}, gpus=1, gpu_type="l40s")
    assert hopeless.candidates[0].name == "single_gpu"


def test_time_is_six_operations_a_parameter_and_token_at_thirty_percent():
    answer = report(QWEN | {"train_tokens_m": 50}, gpus=1, hourly_cost_usd_per_gpu=2.0)
    single = candidate(answer, "single_gpu", 1)
    minutes = 50e6 * 6 * 7.62e9 / (0.30 * 312e12) / 60
    assert single.time.value == round(minutes, 1) == 407.1
    assert single.cost.value == round(407.1 / 60 * 2, 2) == 13.57
    assert (single.time.unit, single.cost.unit, single.time.basis) == ("min", "USD", "static")
    assert candidate(answer, "qlora_single_gpu", 1).time.value == round(minutes * 1.35, 1)
    assert single.cost.quantity.to("USD").magnitude == 13.57


@pytest.mark.parametrize("missing", ["tokens", "peak", "price"])
def test_a_missing_input_gives_no_estimate(missing):
    workload = QWEN if missing == "tokens" else QWEN | {"train_tokens_m": 50}
    price = None if missing == "price" else 2.0
    type_ = "mystery" if missing == "peak" else "h100"
    answer = report(workload, gpus=1, gpu_type=type_, vram_gb=80, hourly_cost_usd_per_gpu=price)
    single = candidate(answer, "single_gpu", 1)
    assert single.cost is None
    assert (single.time is None) == (missing != "price")


def test_half_of_the_computation_hides_communication():
    assert efficiency(10.0, 5.0) == 1.0
    assert efficiency(10.0, 15.0) == 0.5
    assert efficiency(10.0, 45.0) == 0.2


def test_fsdp_over_pcie_is_as_slow_as_its_traffic():
    answer = report(QWEN | {"method": "full", "seq_len": 512, "activation_checkpointing": True}, gpus=2)
    compute = 512 * 6 * 7.62e9 / (0.30 * 312e12)
    traffic = 3 * 1 / 2 * 15.24e9 / 20e9 + 3 * 28 * 20e-6
    expected = compute / (compute + traffic - compute / 2)
    assert candidate(answer, "fsdp2", 2).scaling_efficiency == round(expected, 2)
    assert candidate(answer, "fsdp2", 2).status == "infeasible"


def test_gpus_of_one_host_talk_over_its_own_link():
    resources = Resources(gpus=8, hosts=2, interconnect="multi_node_10g")
    assert link_between(4, resources).name == "same_host_pcie"
    assert link_between(8, resources).name == "multi_node_10g"
    nvlink = resources.variant(host_interconnect="same_host_nvlink")
    assert host_link(nvlink).name == "same_host_nvlink"
    assert link_between(8, nvlink).name == "multi_node_10g"


def test_world_sizes_are_powers_of_two_and_all():
    assert world_sizes(0) == []
    assert world_sizes(1) == [1]
    assert world_sizes(6) == [1, 2, 4, 6]
    assert world_sizes(8) == [1, 2, 4, 8]


@pytest.mark.parametrize(
    "name", ["Qwen/Qwen2.5-7B", "qwen2.5-7b-instruct", "QWEN2.5-7B-Chat-HF", "a/b/qwen2.5-7b-base"]
)
def test_models_are_found_whatever_they_are_called(name):
    shape = model_shape(TransformerFinetune(model=name))
    assert (shape.parameters, shape.hidden, shape.layers) == (7.62e9, 3584, 28)


def test_what_is_stated_wins_over_the_catalog():
    shape = model_shape(TransformerFinetune(model="gpt2", parameters_b=3, hidden_size=1024))
    assert (shape.parameters, shape.hidden, shape.layers) == (3e9, 1024, 12)
    assert gpu(Resources(gpus=1, gpu_type="H100", vram_gb="141 GB")).vram_gb == 141
    assert gpu(Resources(gpus=1, gpu_type="mystery")) is None


def test_a_model_of_unknown_shape_is_like_others_of_its_size():
    shape = model_shape(TransformerFinetune(model="ours", parameters_b=13))
    assert (shape.hidden, shape.layers) == (5120, 40)
    assert model_shape(TransformerFinetune(model="ours", parameters_b=175)).layers == 96
