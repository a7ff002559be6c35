"""Reliability: goodput for 1,000 sizes (bar 1 ms), one result (150 µs), an Act II lever (5 ms)."""

import numpy as np

from engine.reliability.lambert import work_share
from engine.reliability.montecarlo import simulate_goodput
from engine.scenarios.checkpoint_gamble import CheckpointGambleScenario
from engine.scenarios.elastic_rescale import ElasticRescaleScenario
from engine.scenarios.goodput_result import RuntimeGoodput
from engine.scenarios.named import Scenarios

SIZES = range(128, 128_128, 128)


def test_goodput_of_1000_sizes(benchmark):
    scenario = Scenarios.Llama2_70BRuntimeGoodput128
    swept = benchmark(lambda: {n: one.runtime_goodput for n, one in scenario.sweep(SIZES).items()})
    assert len(swept) == 1000 and swept[16384] == scenario.at(16384).result.runtime_goodput


def every_term(scenario):
    result: RuntimeGoodput = scenario.result
    return result.mtbf, result.interval, result.recovery_time, result.startup_time, result.exact_goodput


def test_one_result_with_quantities(benchmark):
    terms = benchmark(every_term, Scenarios.Llama2_70BRuntimeGoodput128)
    assert 0.9 < terms[-1] < 0.91


def test_a_million_attempts(benchmark):
    lab = {"interval": "15 min", "write_time": "40 s", "mtbf": "3 h", "restart_time": "300 s"}
    result = benchmark.pedantic(simulate_goodput, kwargs=lab | {"seed": 1, "tolerance": 0.0}, rounds=3)
    assert result.attempts == 1_000_000


def test_the_interval_lever_of_act_2(benchmark):
    steps = iter(range(60, 10**9))
    outcome = benchmark(lambda: CheckpointGambleScenario(interval=(next(steps), "s")).outcome())
    assert outcome.best_goodput.m > 0.89


def test_the_bandwidth_lever_of_act_2(benchmark):
    """A new write time each press, so that no curve is cached."""
    steps = iter(range(10**9))
    outcome = benchmark(
        lambda: CheckpointGambleScenario(write_bandwidth=(20 + next(steps) / 1e4, "GB/s")).outcome()
    )
    assert outcome.best_goodput.m > 0.7


def test_a_lever_of_act_3(benchmark):
    outcome = benchmark(lambda: ElasticRescaleScenario(response="elastic").outcome())
    assert outcome.capacity.m == 0.8


def test_the_optimum_of_1000_ratios(benchmark):
    ratios = np.logspace(-12, 3, 1000)
    assert benchmark(work_share, ratios)[-1] == 1.0
