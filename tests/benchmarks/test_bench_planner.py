"""How long one request takes: fine-tuning with a plan, with a hint, large pre-training, and any request."""

import time

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from engine.planner import PlanRequest, plan
from tests.engine.planner.random_requests import requests

RESOURCES = {"gpus": 64, "hosts": 8, "gpu_type": "a100-40gb", "interconnect": "multi_node_ib"}
RESOURCES |= {"hourly_cost_usd_per_gpu": 2.0}
FINETUNE = {"kind": "transformer_finetune", "model": "qwen2.5-7b", "train_tokens_m": 50}
PRETRAIN = {"kind": "transformer_pretrain", "model": "llama-3.1-70b", "train_tokens_m": 15e6}
FLEET = {"gpus": 16384, "hosts": 2048, "gpu_type": "h100", "interconnect": "multi_node_ib"}
FLEET |= {"host_interconnect": "same_host_nvlink"}
CASES = {
    "fine-tuning with a plan": (FINETUNE, RESOURCES, {}),
    "fine-tuning with a hint": (FINETUNE, RESOURCES, {"deadline_minutes": 0.1}),
    "pre-training on 1,024": (PRETRAIN, FLEET | {"gpus": 1024, "hosts": 128}, {}),
    "pre-training on 16,384": (PRETRAIN | {"global_batch": 4096}, FLEET, {}),
}


@pytest.mark.parametrize("name", CASES)
def test_one_request(benchmark, name):
    workload, resources, objective = CASES[name]
    request = PlanRequest.read({"workload": workload, "resources": resources, "objective": objective})
    report = benchmark(plan, request)
    assert (report.hint is not None) == ("hint" in name)


def random_requests(count):
    found = []
    calm = settings(max_examples=count, derandomize=True, phases=[Phase.generate], deadline=None)
    calm = settings(calm, suppress_health_check=list(HealthCheck))
    calm(given(requests)(lambda request: found.append(PlanRequest.read(request))))()
    return found


def seconds(request):
    """The best of three, so that a pause of the machine is not charged to one request."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        plan(request)
        times.append(time.perf_counter() - start)
    return min(times)


def test_two_thousand_random_requests(benchmark):
    times = benchmark.pedantic(
        lambda found: sorted(map(seconds, found)), args=[random_requests(2000)], rounds=1
    )
    benchmark.extra_info["requests"] = len(times)
    benchmark.extra_info["median ms"] = round(1000 * times[len(times) // 2], 3)
    benchmark.extra_info["slowest ms"] = round(1000 * times[-1], 3)
