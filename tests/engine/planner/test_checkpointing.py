"""The checkpoint interval of a plan: static until it can be computed, then the best there is."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InvalidInput
from engine.planner import Measured, PlanRequest, plan

REQUEST = PlanRequest.read(
    {
        "workload": {"kind": "pytorch_training", "parameters_m": 300, "est_train_gpu_hours": 100},
        "resources": {"gpus": 8, "gpu_type": "h100"},
        "objective": {"mode": "fastest"},
    }
)


def goodput(interval, write, mtbf, restart):
    """The share of time kept, straight from its definition: work over the expected time of one segment."""
    return interval / (mtbf * math.exp(restart / mtbf) * math.expm1((interval + write) / mtbf))


@pytest.mark.parametrize(
    "measured", [None, Measured(), Measured(checkpoint_write="40 s"), Measured(gpu_mttf="3 h")]
)
def test_until_both_are_known_the_interval_is_static_and_there_is_no_goodput(measured):
    selected = plan(REQUEST, measured).selected
    assert (selected.checkpoint.interval_seconds, selected.checkpoint.basis) == (300, "static")
    assert selected.checkpoint.backend == "pytorch_dcp"
    assert selected.goodput is None


def test_a_job_of_eight_fails_eight_times_as_often_as_one_gpu():
    measured = Measured(checkpoint_write="40 s", gpu_mttf="24 h", restart="5 min", basis="ledger")
    selected = plan(REQUEST, measured).selected
    assert selected.checkpoint.basis == selected.goodput.basis == "ledger"
    p = math.sqrt(2 * 40 / 10800)
    series = 10800 * (p - p**2 / 3 + p**3 / 36 + p**4 / 270)
    assert selected.checkpoint.interval_seconds == pytest.approx(series, abs=0.01)
    expected = goodput(selected.checkpoint.interval_seconds, 40, 10800, 300)
    assert selected.goodput.value == pytest.approx(expected, abs=1e-6)


@given(st.floats(0.1, 3600), st.floats(0.01, 1e5), st.floats(0, 3600))
def test_no_other_interval_keeps_more(write_s, gpu_mttf_h, restart_s):
    measured = Measured(checkpoint_write=f"{write_s} s", gpu_mttf=f"{gpu_mttf_h} h", restart=f"{restart_s} s")
    mtbf = gpu_mttf_h * 3600 / 8
    best = plan(REQUEST, measured).selected.checkpoint.interval_seconds
    if (best + write_s) / mtbf < 500 and best > 0.1:
        for other in (0.9, 0.99, 1.01, 1.1):
            kept = goodput(best, write_s, mtbf, 0)
            assert goodput(best * other, write_s, mtbf, 0) <= kept * (1 + 1e-7)


def test_a_plan_on_one_gpu_or_of_leases_has_no_checkpoint_policy():
    one = REQUEST.variant(resources=REQUEST.resources.variant(gpus=1))
    measured = Measured(checkpoint_write="40 s", gpu_mttf="24 h")
    assert plan(one, measured).selected.checkpoint is None
    tasks = PlanRequest.read({"workload": {"kind": "independent_tasks", "task_count": 9}})
    assert plan(tasks, measured).selected.checkpoint is None


def test_times_need_their_dimension():
    with pytest.raises(InvalidInput, match="checkpoint_write"):
        Measured(checkpoint_write=40)
    with pytest.raises(InvalidInput, match="gpu_mttf"):
        Measured(gpu_mttf="0 h")
