"""Requests with their plans, and a look at what runs, shared by the tests of profiling."""

import os
import uuid
from pathlib import Path

from engine.planner import PlanRequest, plan
from engine.profiling.child import RUN_VARIABLE

_SESSION = "FLEETLAB_TEST_SESSION"
os.environ.setdefault(_SESSION, uuid.uuid4().hex)

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


def carrying_a_run():
    """Return the processes of profiles that these tests started, and not those of another test run."""
    found, mine = [], os.environ[_SESSION].encode()
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            content = path.read_bytes()
            found += [path.parent.name] * (f"{RUN_VARIABLE}=".encode() in content and mine in content)
        except OSError:
            continue
    return found
