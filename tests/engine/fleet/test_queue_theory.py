import json

import numpy as np
import pytest

from engine.errors import InvalidInput, NoAnswer
from engine.fleet.coordinated_omission import latencies_around_a_freeze
from engine.fleet.jobs import Jobs
from engine.fleet.quantiles import nearest_rank
from engine.fleet.queue_theory import burst, md1, mg1, mm1, mm1_response_quantile, mmc
from engine.fleet.queueing import POLICIES, fcfs, schedule
from engine.units import Quantity

CUSTOMERS = 1_000_000
TICKS = 1_000_000
"""Ticks of the simulation in one mean service time, fine enough that rounding does not show."""
ONES = np.ones(CUSTOMERS, np.int64)


@pytest.fixture(scope="module")
def oracle(shared_dir):
    return json.loads((shared_dir / "oracles" / "queues_money_carbon.json").read_text())


def figures(row):
    """Return the closed form that a row of the oracle is about."""
    rate = Quantity(row["lam"], "1/s")
    if row["model"] == "M/M/1":
        return mm1(rate, "1 s")
    if row["model"] == "M/D/1":
        return md1(rate, "1 s")
    if row["model"] == "M/M/c":
        return mmc(rate, "1 s", row["c"])
    return mg1(rate, "1 s", row["cs2"])


def test_the_closed_forms_are_the_oracle(oracle):
    rows = [row for row in oracle["queues"] if row["model"].startswith("M/")]
    assert len(rows) == 12
    for row in rows:
        result = figures(row)
        assert result.mean_wait.to("s").magnitude == pytest.approx(row["Wq"], rel=1e-9)
        assert result.mean_response.to("s").magnitude == pytest.approx(row.get("W", row["Wq"] + 1), rel=1e-9)
        assert result.mean_waiting == pytest.approx(row.get("Lq", row["lam"] * row["Wq"]), rel=1e-9)
        assert result.utilisation == pytest.approx(row.get("rho", row["lam"]), rel=1e-9)
        if "P_wait" in row:
            assert result.wait_probability == pytest.approx(row["P_wait"], rel=1e-9)
        if "W_p95" in row:
            p95 = mm1_response_quantile(Quantity(row["lam"], "1/s"), "1 s", 0.95)
            assert p95.to("s").magnitude == pytest.approx(row["W_p95"], rel=1e-9)


def test_one_server_of_many_is_the_single_server():
    one, many = mm1("0.8/s", "1 s"), mmc("0.8/s", "1 s", 1)
    assert many.wait_probability == pytest.approx(one.wait_probability)
    assert many.mean_wait.magnitude == pytest.approx(one.mean_wait.magnitude)


def test_erlangs_formula_holds_for_thousands_of_servers():
    result = mmc("9900/s", "1 s", 10_000)
    assert 0 < result.wait_probability < 1


@pytest.mark.parametrize("model", [mm1, md1])
def test_an_overloaded_queue_has_no_steady_state(model):
    with pytest.raises(NoAnswer, match="without end"):
        model("1/s", "1 s")


def test_a_bare_number_is_no_arrival_rate():
    with pytest.raises(InvalidInput, match="arrival_rate"):
        mm1(0.5, "1 s")


def services(row, draw):
    """Draw service times with mean 1 and the variation of the row: constant, or gamma of shape 1 / C²."""
    variation = {"M/D/1": 0, "M/M/1": 1, "M/M/c": 1}.get(row["model"], row.get("cs2"))
    return draw.gamma(1 / variation, variation, CUSTOMERS) if variation else np.ones(CUSTOMERS)


def simulated_mean_wait(row, seed):
    """Return the mean wait of a million customers on a pool of `c` units, in mean service times.

    The draws are scaled to the mean that they should have: near saturation, the error of the load of a finite
    sample would swamp everything else.
    """
    draw = np.random.default_rng(seed)
    gaps, lengths = draw.exponential(1.0, CUSTOMERS), services(row, draw)
    submit = np.cumsum(gaps / gaps.mean() / row["lam"])
    submit_ticks, run_ticks = (
        np.rint(times * TICKS).astype(np.int64) for times in (submit, lengths / lengths.mean())
    )
    jobs = Jobs(np.arange(CUSTOMERS), submit_ticks, ONES, run_ticks, run_ticks, ONES)
    return fcfs(jobs, row.get("c", 1)).wait_ms.mean() / TICKS


@pytest.mark.parametrize("row", range(12))
def test_a_million_customers_wait_as_long_as_theory_says(oracle, row):
    expected = oracle["queues"][row]
    assert simulated_mean_wait(expected, seed=2027) == pytest.approx(expected["Wq"], rel=0.05)


@pytest.mark.parametrize("policy", POLICIES)
def test_bursts_wait_exactly_as_theory_says(oracle, policy):
    cases = [row for row in oracle["queues"] if row["model"].startswith("burst")]
    assert len(cases) == 2
    for case in cases:
        count = case.get("bursts", 50)
        rows = [(i, i // case["b"] * case["T"], 1, case["s"], case["s"]) for i in range(count * case["b"])]
        waits = schedule(Jobs.from_rows(rows), 1, policy).wait_ms
        theory = burst(case["b"], f"{case['T']} s", f"{case['s']} s", case.get("bursts"))
        assert waits.mean() == case["mean_wait"] == theory.mean_wait.magnitude
        assert waits.max() == case["max_wait"] == theory.max_wait.magnitude
        assert theory.utilisation == case.get("rho", 1.0)


def test_bursts_that_pile_up_for_ever_have_no_mean_wait():
    with pytest.raises(NoAnswer, match="longer than the interval"):
        burst(10, "5 s", "1 s")


def freeze_case(oracle):
    case = oracle["coordinated_omission"]
    freeze = tuple(Quantity(time, "ms") for time in case["freeze_ms"])
    gap, service = Quantity(case["gap_ms"], "ms"), Quantity(case["service_ms"], "ms")
    return case, latencies_around_a_freeze(case["n"], gap, service, freeze)


@pytest.mark.parametrize(
    ("loop", "latency"), [("open_loop", "from_intended"), ("closed_loop_measured_from_send", "from_send")]
)
def test_the_coordinated_omission_case_is_met_exactly(oracle, loop, latency):
    case, latencies = freeze_case(oracle)
    ascending = sorted(getattr(latencies, latency).to("ms").magnitude.tolist())
    found = {f"p{p}": nearest_rank(ascending, p) for p in (50, 90, 95, 99)}
    found |= {"max": ascending[-1], "over_5ms": sum(value > 5 for value in ascending)}
    assert {name: found[name] for name in case[loop]} == case[loop]


def test_an_open_loop_is_a_pool_whose_server_is_held_by_the_freeze(oracle):
    case, latencies = freeze_case(oracle)
    begin, end = case["freeze_ms"]
    gap, service = case["gap_ms"], case["service_ms"]
    rows = [(i, i * gap, 1, service, service) for i in range(case["n"])]
    result = fcfs(Jobs.from_rows([(-1, begin, 1, end - begin, end - begin), *rows]), 1)
    responses = (result.end_ms - result.jobs.submit_ms)[1:]
    assert responses.tolist() == latencies.from_intended.to("ms").magnitude.tolist()


@pytest.mark.parametrize(("freeze_begin_ms", "latencies_ms"), [(3, [12, 5]), (5, [5, 5]), (0, [15, 5])])
def test_a_request_begun_before_the_freeze_is_finished_after_it(freeze_begin_ms, latencies_ms):
    freeze = (Quantity(freeze_begin_ms, "ms"), Quantity(10, "ms"))
    result = latencies_around_a_freeze(2, "20 ms", "5 ms", freeze)
    assert result.from_send.magnitude.tolist() == latencies_ms


@pytest.mark.parametrize(("count", "percent", "index"), [(1, 50, 0), (20, 95, 18), (21, 95, 19), (4, 100, 3)])
def test_the_nearest_rank_is_a_value_that_occurred(count, percent, index):
    assert nearest_rank(range(count), percent) == index


@pytest.mark.parametrize(("values", "percent"), [([], 50), ([1], 0), ([1], 101)])
def test_there_is_no_rank_of_nothing(values, percent):
    with pytest.raises(InvalidInput):
        nearest_rank(values, percent)
