"""How fast the fleet with nodes is: a replay with placement, and the histories of Act I."""

import random

import numpy as np
import pytest

from engine.fleet.jobs import Jobs
from engine.fleet.node_scheduler import NodeScheduler, run_to_end
from engine.fleet.occupancy import Occupancy
from engine.scenarios.audit_run import run_audit
from engine.scenarios.fragmentation_audit import FragmentationAuditScenario

COUNT = 200_000


def trace(load=0.8):
    """A steady trace of small jobs on 10,000 GPUs."""
    rng = random.Random(1)
    size = np.array(rng.choices([1, 2, 4], [0.5, 0.3, 0.2], k=COUNT))
    run = np.array([1 + round(rng.lognormvariate(15.79, 1.2)) for _ in range(COUNT)])  # median 2 h
    gap = float(run.mean()) * float(size.mean()) / (load * 10_000)
    submit = np.cumsum([rng.expovariate(1 / gap) for _ in range(COUNT)]).astype(np.int64)
    return Jobs(np.arange(COUNT), submit, size, run * 2, run, np.zeros(COUNT, np.int64))


@pytest.mark.parametrize("placement", ["spread", "best"])
def test_first_come_replay_with_placement(benchmark, placement):
    jobs = trace()

    def setup():
        return (NodeScheduler(Occupancy(1250, 8), jobs, policy="fcfs", placement=placement),), {}

    benchmark.pedantic(run_to_end, setup=setup, rounds=5)
    benchmark.extra_info["jobs per second"] = round(COUNT / benchmark.stats.stats.median)


@pytest.mark.parametrize("act", ["nothing", "evict", "migrate"])
@pytest.mark.parametrize("policy", ["fcfs", "best-fit", "preemption"])
def test_act_one_uncached(benchmark, policy, act):
    switches = {} if act == "nothing" else {act: True}
    seeds = iter(range(100, 200))

    def setup():
        return (FragmentationAuditScenario(policy=policy, seed=next(seeds), **switches),), {}

    benchmark.pedantic(run_audit, setup=setup, rounds=7)


def test_act_one_cached(benchmark):
    scenario = FragmentationAuditScenario()
    scenario.outcome()
    benchmark(scenario.outcome)
