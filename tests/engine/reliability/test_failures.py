import math

import pytest

from engine.errors import InvalidInput
from engine.facts import fact
from engine.reliability.failures import SeriesFailureScenario


def test_llama3_shares_come_from_counts():
    job = SeriesFailureScenario.from_llama3_causes(n_devices=16384)
    shares = job.shares()
    assert shares["Faulty GPU"] == pytest.approx(148 / 419)
    assert sum(shares.values()) == pytest.approx(1)
    assert job.mtbf.m_as("h") == pytest.approx(54 * 24 / 419)
    assert job.result.failures_per_day == pytest.approx(419 / 54)


def test_node_days_of_meta():
    rate = fact("reliability.rsc1_failure_rate").quantity

    def mtbf(gpus):
        return SeriesFailureScenario.from_node_days(rate, n_devices=gpus, devices_per_node=8).mtbf.m_as("h")

    assert mtbf(16384) == pytest.approx(1.803, abs=1e-3)
    assert mtbf(131072) == pytest.approx(0.2254, abs=1e-4)
    assert mtbf(1024) == pytest.approx(28.8, abs=0.1)


def test_surviving_a_window():
    job = SeriesFailureScenario(
        n_devices=16, devices_per_node=8, component_mttf={"node": "6 h"}, per_node={"node": 1}
    )
    assert job.expected_failures("6 h") == pytest.approx(2)
    assert job.survival("3 h") == pytest.approx(math.exp(-1))
    assert job.on(8).survival("6 h") == pytest.approx(math.exp(-1))


def test_a_rate_without_nodes_is_refused():
    with pytest.raises(InvalidInput):
        SeriesFailureScenario.from_node_days("6.5 1/day", n_devices=8, devices_per_node=8)
