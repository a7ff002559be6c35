"""Which request is refused, what a plan says of itself, and what a hint suggests."""

import pytest

from engine.errors import InvalidInput
from engine.planner import (
    PLANNER_VERSION,
    Measured,
    Objective,
    PlanRequest,
    Resources,
    plan,
    protocol,
    request_digest,
)
from engine.planner.explain import explain

QWEN = {"kind": "transformer_finetune", "model": "Qwen/Qwen2.5-7B", "train_tokens_m": 50}
SMALL = {"gpus": 8, "gpu_type": "a100-40gb", "interconnect": "same_host_nvlink", "hourly_cost_usd_per_gpu": 2}


def ask(workload, resources=None, **objective):
    return PlanRequest.read({"workload": workload, "resources": resources or {}, "objective": objective})


def test_a_digest_is_sixteen_hex_digits_that_do_not_depend_on_how_the_request_is_written():
    short = ask(QWEN, {"gpus": 8, "gpu_type": "l4"})
    long = PlanRequest.read_json(short.model_dump_json())
    digest = request_digest(short)
    assert digest == request_digest(long) == plan(short).request_digest
    assert len(digest) == 16
    assert set(digest) <= set("0123456789abcdef")
    assert request_digest(ask(QWEN, {"gpu_type": "l4", "gpus": 8})) == digest
    assert request_digest(ask(QWEN, {"gpus": 8, "gpu_type": "l4", "cpu_ram_gb": "32 GB"})) == digest


def test_a_digest_changes_with_the_request_what_was_measured_and_the_version(monkeypatch):
    request = ask(QWEN, SMALL)
    seen = {
        request_digest(request),
        request_digest(ask(QWEN, SMALL, mode="fastest")),
        request_digest(request, Measured(checkpoint_write="40 s")),
        request_digest(request, Measured(checkpoint_write="41 s")),
    }
    monkeypatch.setattr(protocol, "PLANNER_VERSION", PLANNER_VERSION + "x")
    assert len(seen | {request_digest(request)}) == 5


def test_a_plan_is_named_by_its_digest_and_says_why_it_won():
    report = plan(ask(QWEN, SMALL, mode="fastest"))
    selected = report.selected
    assert selected.plan_id == f"pl_{report.request_digest}"
    assert (selected.strategy_family, selected.workers, selected.launcher) == ("ddp", 8, "torchrun")
    assert selected.workload_mode == "coordinated_training"
    assert "best-ranked of 17 for fastest" in selected.selected_because
    assert "runner-up: fsdp2 on 8, 50.9 min, 13.57 USD" in selected.selected_because
    assert [library.name for library in selected.libraries] == ["torch", "transformers", "peft"]
    assert selected.plan_id in explain(report)
    assert "zero3_cpu_offload on 8, feasible" in explain(report)


def test_a_qlora_workload_is_obeyed_even_where_quantization_is_not_allowed():
    report = plan(ask(QWEN | {"method": "qlora"}, {"gpus": 1, "gpu_type": "t4"}, allow_quantization=False))
    assert report.selected.quantization == "nf4"
    assert [verdict.name for verdict in report.candidates] == ["single_gpu"]
    assert "fsdp2" not in {v.family for v in plan(ask(QWEN | {"method": "qlora"}, SMALL)).candidates}


def test_nvme_offload_is_accepted_with_a_warning():
    report = plan(ask(QWEN, SMALL, allow_nvme_offload=True))
    assert any("NVMe" in warning for warning in report.warnings)
    assert report.selected is not None


def test_a_rank_above_the_hidden_size_is_an_error():
    with pytest.raises(InvalidInput, match=r"workload\.lora_rank: 3585 .* at most .* 3584"):
        plan(ask(QWEN | {"lora_rank": 3585}, SMALL))
    assert plan(ask(QWEN | {"lora_rank": 3585, "method": "full"}, SMALL))


def test_more_hosts_than_gpus_are_warned_about_and_refused_when_strict():
    request = ask(QWEN, SMALL | {"gpus": 2, "hosts": 4})
    assert any("4 hosts" in warning for warning in plan(request).warnings)
    with pytest.raises(InvalidInput, match=r"resources\.hosts: 4 .* 2"):
        plan(request, strict=True)
    assert plan(ask(QWEN, {"gpus": 0, "hosts": 4}), strict=True).selected is None


@pytest.mark.parametrize(
    ("group", "field", "value"),
    [
        ("workload", "seq_len", 63),
        ("workload", "seq_len", 64.5),
        ("workload", "train_tokens_m", float("nan")),
        ("workload", "train_tokens_m", float("inf")),
        ("workload", "parameters_b", 0),
        ("workload", "parameters_b", True),
        ("workload", "precision", "int8"),
        ("resources", "gpus", -1),
        ("resources", "gpus", True),
        ("resources", "vram_gb", "24 s"),
        ("resources", "vram_gb", "24"),
        ("resources", "hosts", 0),
        ("resources", "interconnect", "token_ring"),
        ("resources", "cost", 3),
        ("objective", "deadline_minutes", -5),
    ],
)
def test_a_wrong_field_is_named(group, field, value):
    data = {"workload": dict(QWEN), "resources": dict(SMALL), "objective": {}}
    data[group][field] = value
    with pytest.raises(InvalidInput, match=field):
        PlanRequest.read(data)


def test_numbers_may_carry_units():
    assert Resources(vram_gb="80 GB", cpu_ram_gb="0.5 TB") == Resources(vram_gb=80, cpu_ram_gb=500)
    assert Objective(deadline_minutes="2 h", max_cost_usd="5 USD") == Objective(
        deadline_minutes=120, max_cost_usd=5
    )


def test_an_unknown_workload_is_told_which_there_are():
    with pytest.raises(InvalidInput, match=r"workload\.kind: 'poem' .* 'transformer_pretrain'"):
        PlanRequest.read({"workload": {"kind": "poem"}})


def test_a_hint_names_the_field_that_is_missing():
    assert plan(ask(QWEN, {"gpus": 2})).hint.missing_field == "resources.vram_gb"
    unknown = ask({"kind": "transformer_finetune", "model": "ours"}, SMALL)
    assert plan(unknown).hint.missing_field == "workload.parameters_b"
    nothing = plan(ask(QWEN, {"gpus": 0, "gpu_type": "h100"}))
    assert nothing.hint.missing_field == "resources.gpus"
    assert any("no GPUs" in warning for warning in nothing.warnings)


def fields(report):
    return {relaxation.field for relaxation in report.hint.relaxations}


def test_quantization_is_suggested_to_adapters_but_not_to_full_fine_tuning():
    big = QWEN | {"model": "qwen2.5-14b"}
    one = {"gpus": 1, "gpu_type": "l4"}
    adapters = plan(ask(big, one, allow_quantization=False))
    assert adapters.hint.candidate == "single_gpu"
    quantized = next(r for r in adapters.hint.relaxations if r.field == "objective.allow_quantization")
    assert quantized.outcome == "gives a plan"
    full = plan(ask(big | {"method": "full"}, one, allow_quantization=False))
    assert "objective.allow_quantization" not in fields(full)


def test_offload_is_not_suggested_to_generic_training():
    generic = {"kind": "pytorch_training", "parameters_m": 20000}
    report = plan(ask(generic, {"gpus": 2, "gpu_type": "l4"}, allow_cpu_offload=False))
    assert report.hint.deficit_gb > 0
    assert "objective.allow_cpu_offload" not in fields(report)
    assert "resources.gpus" in fields(report)


def test_suggested_memory_is_enough():
    request = ask(QWEN | {"method": "full"}, {"gpus": 1, "gpu_type": "l4"})
    hint = plan(request).hint
    assert hint.deficit_gb == round(128.12 - 0.95 * 24, 2)
    larger = next(r for r in hint.relaxations if r.field == "resources.vram_gb")
    assert larger.change == "GPUs of 135 GB"  # 128.12 / 0.95 = 134.9
    enough = request.variant(resources=request.resources.variant(vram_gb=135))
    assert plan(enough).selected is not None


def test_a_missed_deadline_is_told_by_how_much():
    report = plan(ask(QWEN, SMALL, deadline_minutes=50))
    assert report.hint.rejected_by_policy == 17
    later = next(r for r in report.hint.relaxations if r.field == "objective.deadline_minutes")
    assert later.change == "a deadline of 50.9 min"
    assert plan(ask(QWEN, SMALL, deadline_minutes=50.9)).selected is not None


def test_tasks_that_need_a_gpu_are_not_planned_without_one():
    report = plan(ask({"kind": "independent_tasks", "task_count": 4, "needs_gpu": True}))
    assert report.selected is None
    assert [r.field for r in report.hint.relaxations] == ["resources.gpus"]


def test_tasks_fill_their_slots_in_rounds():
    tasks = {"kind": "independent_tasks", "task_count": 10, "est_minutes_per_task": 7}
    report = plan(ask(tasks, {"hosts": 2, "cpu_cores": 8}))
    leases, alone = report.candidates
    assert (leases.workers, leases.time.value) == (4, 21.0)  # 2 hosts · 8 cores / 4; 3 rounds
    assert (alone.status, alone.time.value) == ("rejected_dominated", 70.0)
    assert report.selected.launcher == "leases"


def test_one_slot_cannot_dodge_the_deadline_by_running_locally():
    tasks = {"kind": "independent_tasks", "task_count": 10, "est_minutes_per_task": 7}
    report = plan(ask(tasks, {"cpu_cores": 4}, deadline_minutes=60))
    assert [verdict.status for verdict in report.candidates] == ["rejected_policy"] * 2


def test_classical_training_needs_three_times_its_data():
    fits = {"kind": "classical_ml", "dataset_mb": 8533}
    assert plan(ask(fits, {"cpu_ram_gb": 32})).selected.strategy_family == "local_process"
    report = plan(ask(fits | {"dataset_mb": 8534}, {"cpu_ram_gb": 32}))
    assert report.selected is None
    assert [r.change for r in report.hint.relaxations] == ["33 GB of host memory"]
    sharded = plan(ask(fits | {"dataset_mb": 8534, "supports_partial_fit": True}, {"cpu_ram_gb": 32}))
    assert (sharded.selected.strategy_family, sharded.selected.workers) == ("sharded_partial_fit", 16)
