"""Requests with their plans, shared by the tests of profiling."""

from engine.planner import PlanRequest, plan

FINETUNE = {
    "workload": {
        "kind": "transformer_finetune",
        "model": "Qwen/Qwen2.5-7B",
        "method": "full",
        "train_tokens_m": 1000,
    },
    "resources": {
        "gpus": 8,
        "gpu_type": "h100",
        "interconnect": "same_host_nvlink",
    },
    "objective": {"mode": "fastest"},
}
GENERIC = {
    "workload": {"kind": "pytorch_training", "parameters_m": 0.04, "est_train_gpu_hours": 10},
    "resources": {"gpus": 1, "gpu_type": "t4"},
}


def question(data, **changes):
    """Return a request, with `changes` as `workload__seq_len=512`, and the plan chosen for it."""
    data = {group: dict(fields) for group, fields in data.items()}
    for name, value in changes.items():
        group, _, field = name.partition("__")
        data.setdefault(group, {})[field] = value
    request = PlanRequest.read(data)
    chosen = plan(request).selected
    assert chosen is not None
    return request, chosen
