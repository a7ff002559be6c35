import json
import random

import numpy as np
import pytest

from engine.errors import InvalidInput, NoAnswer
from engine.reliability import checkpoint
from engine.reliability.draws import Draws
from engine.reliability.montecarlo import simulate_goodput, simulate_runs

LAB = {"interval": "15 min", "write_time": "40 s", "mtbf": "3 h", "restart_time": "300 s"}


def test_draws_are_the_bytes_of_the_seeded_generator():
    words = random.Random(5).randbytes(24)
    expected = [((int.from_bytes(words[i : i + 8], "little") >> 11) + 1) / 2**53 for i in (0, 8, 16)]
    assert Draws(5).uniforms(3).tolist() == expected


def plain_run(tau, write, mtbf, restart, downtime, attempts, rng):
    """One attempt after the other, as the process is told."""
    kept = elapsed = 0.0
    for _ in range(attempts):
        strike = rng.expovariate(1 / mtbf)
        if strike >= tau + write:
            kept, elapsed = kept + tau, elapsed + tau + write
            continue
        elapsed += strike + downtime
        while (strike := rng.expovariate(1 / mtbf)) < restart:
            elapsed += strike + downtime
        elapsed += restart
    return kept / elapsed


def test_it_agrees_with_a_plain_loop_and_with_the_closed_form():
    setting = (500.0, 60.0, 1000.0, 300.0, 120.0)
    plain = plain_run(*setting, 60_000, random.Random(3))
    fast = simulate_goodput(*[(x, "s") for x in setting], seed=3, budget=60_000, tolerance=0)
    exact = checkpoint.goodput(*[(x, "s") for x in setting])
    assert abs(fast.goodput - exact) < 4 * fast.standard_error
    assert abs(plain - exact) < 4 * fast.standard_error


def test_200_random_settings_agree_with_the_closed_form_within_4_standard_errors():
    rng, scores = random.Random(2026), []
    for seed in range(200):
        mtbf = 10 ** rng.uniform(1, 6)
        setting = [
            (mtbf * 10 ** rng.uniform(low, high), "s")
            for low, high in ((-1.5, 0.5), (-3, 0), (-3, 0), (-3, 0))
        ]
        tau, write, restart, downtime = setting
        arguments = (tau, write, (mtbf, "s"), restart, downtime)
        result = simulate_goodput(*arguments, seed=seed, budget=20_000, tolerance=0)
        scores.append((result.goodput - checkpoint.goodput(*arguments)) / result.standard_error)
    assert max(map(abs, scores)) < 4
    assert 0.8 < np.std(scores) < 1.2 and abs(np.mean(scores)) < 0.25  # the error is neither small nor large


def test_whole_runs_take_as_long_as_expected(shared_dir):
    oracle = json.loads((shared_dir / "oracles" / "checkpoint.json").read_text())
    for row in oracle["rows"]:
        if "mc_mean" not in row or row["n_segments"] > 3000:
            continue
        names = ("W", "exact", "delta", "M", "R", "D")
        result = simulate_runs(*[(row[name], "s") for name in names], seed=11, runs=100)
        score = (result.mean.m - row["E_T_write_after_every_segment"]) / result.standard_error.m
        assert abs(score) < 4 and result.p05.m < result.p50.m < result.p95.m


def test_it_says_why_it_stopped():
    assert simulate_goodput(**LAB, seed=1, tolerance=0.01).stopped == "narrow"
    spent = simulate_goodput(**LAB, seed=1, tolerance=1e-6, budget=5000)
    assert spent.stopped == "budget" and spent.attempts == 5000
    calm = simulate_goodput("1 s", "1 s", "1e6 h", seed=1, tolerance=0.5, budget=2000)
    assert calm.failures == 0 and calm.stopped == "budget"  # no failure seen: the band says nothing yet


def test_the_same_seed_gives_the_same_result():
    assert simulate_goodput(**LAB, seed=4) == simulate_goodput(**LAB, seed=4)
    assert simulate_goodput(**LAB, seed=4) != simulate_goodput(**LAB, seed=5)
    known = simulate_goodput(**LAB, seed=4, budget=1000, tolerance=0)
    assert (known.attempts, known.segments + known.failures) == (1000, 1000)


def test_a_wider_confidence_is_a_wider_band():
    narrow = simulate_goodput(**LAB, seed=1, budget=5000, tolerance=0, confidence=0.5)
    wide = simulate_goodput(**LAB, seed=1, budget=5000, tolerance=0, confidence=0.99)
    assert wide.low < narrow.low < narrow.goodput < narrow.high < wide.high
    assert wide.high - wide.goodput == pytest.approx(2.5758 * wide.standard_error, rel=1e-4)


@pytest.mark.parametrize(
    ("changes", "parameter"),
    [
        ({"confidence": 1.0}, "confidence"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"budget": 0}, "budget"),
        ({"seed": 1.5}, "seed"),
        ({"interval": "0 s"}, "interval"),
    ],
)
def test_bad_input_is_named(changes, parameter):
    with pytest.raises(InvalidInput) as error:
        simulate_goodput(**LAB | {"seed": 1} | changes)
    assert error.value.fields["parameter"] == parameter


def test_what_cannot_be_simulated_says_so():
    with pytest.raises(NoAnswer, match="practically never ends"):
        simulate_goodput("1 h", "40 s", "1 h", "6 h", seed=1)
    with pytest.raises(NoAnswer, match="0 of 10 runs"):
        simulate_runs("100 h", "20 h", "40 s", "1 h", seed=1, runs=10, budget=1000)
