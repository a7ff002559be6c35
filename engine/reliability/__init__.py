"""Failures, checkpoints, goodput and elastic training: how much of the held time becomes progress."""

from engine.reliability.checkpoint import (
    after_failure,
    best_goodput,
    daly_first_interval,
    daly_interval,
    expected_time,
    first_order_goodput,
    flat_region,
    goodput,
    log_expected_time,
    log_goodput,
    optimal_interval,
    young_interval,
)
from engine.reliability.failures import SeriesFailureScenario
from engine.reliability.layout import Layout
from engine.reliability.montecarlo import simulate_goodput, simulate_runs
from engine.reliability.recovery import RecoveryBudget
from engine.reliability.ring import all_reduce_time

__all__ = [
    "Layout",
    "RecoveryBudget",
    "SeriesFailureScenario",
    "after_failure",
    "all_reduce_time",
    "best_goodput",
    "daly_first_interval",
    "daly_interval",
    "expected_time",
    "first_order_goodput",
    "flat_region",
    "goodput",
    "log_expected_time",
    "log_goodput",
    "optimal_interval",
    "simulate_goodput",
    "simulate_runs",
    "young_interval",
]
