"""Every pool policy agrees with a reference that steps time: 5,000 random instances."""

import random

import pytest
from hypothesis import given, settings

from engine.fleet import pool_backlog
from tests.engine.fleet.pool_instances import run, workloads
from tests.engine.fleet.reference_pool import simulate

CASES = [
    (policy, {"kill_at_limit": kill} | more)
    for kill in (True, False)
    for policy, more in (
        ("fcfs", {}),
        ("skip", {}),
        ("easy", {}),
        ("conservative", {}),
        ("priority", {"blocked_waits": False}),
        ("priority", {"blocked_waits": True}),
    )
]


@pytest.mark.parametrize(("policy", "options"), CASES)
@settings(max_examples=350)
@given(instance=workloads())
def test_a_policy_agrees_with_the_time_stepping_reference(instance, policy, options):
    rows, units = instance
    assert run(rows, units, policy, **options) == simulate(rows, units, policy, **options)


@pytest.mark.parametrize("kill_at_limit", [True, False])
@settings(max_examples=200)
@given(instance=workloads(jobs=40, units=40, horizon=12, longest=20))
def test_easy_with_a_backlog_agrees_with_the_reference(instance, kill_at_limit):
    rows, units = instance
    expected = simulate(rows, units, "easy", kill_at_limit=kill_at_limit)
    assert run(rows, units, "easy", kill_at_limit=kill_at_limit) == expected


@pytest.mark.parametrize("kill_at_limit", [True, False])
def test_easy_reads_a_long_queue_in_pieces_and_finds_the_same(kill_at_limit, monkeypatch):
    monkeypatch.setattr(pool_backlog, "_CHUNK", 2)
    draw = random.Random(8)
    for _ in range(200):
        rows = [
            (i, draw.randint(0, 30), draw.randint(1, 12), draw.randint(0, 15), draw.randint(0, 15), 0)
            for i in range(60)
        ]
        expected = simulate(rows, 12, "easy", kill_at_limit=kill_at_limit)
        assert run(rows, 12, "easy", kill_at_limit=kill_at_limit) == expected
