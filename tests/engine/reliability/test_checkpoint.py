import json
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from engine.errors import InvalidInput
from engine.reliability import checkpoint as ck
from engine.reliability import exponential
from engine.reliability.lambert import minus_w0, work_share
from engine.units import Quantity

LAB = {"write_time": "40 s", "mtbf": "3 h"}


@pytest.fixture(scope="module")
def oracle(shared_dir):
    return json.loads((shared_dir / "oracles" / "checkpoint.json").read_text())


def same(value, expected, rel=1e-9):
    return value == pytest.approx(expected, rel=rel, abs=0)


def s(value):
    return Quantity(value, "s")


def test_every_row_of_the_oracle(oracle):
    for row in oracle["rows"]:
        write, mtbf = s(row["delta"]), s(row["M"])
        rest = {"restart_time": s(row["R"]), "downtime": s(row["D"])}
        best = ck.optimal_interval(write, mtbf)
        run = {"write_time": write, "mtbf": mtbf, **rest}
        assert same(ck.young_interval(write, mtbf).m, row["young"])
        assert same(ck.daly_first_interval(write, mtbf).m, row["daly_first"])
        assert same(ck.daly_interval(write, mtbf).m, row["daly_higher"])
        assert same(best.m, row["exact"])
        if row["delta"] / row["M"] >= 1e-6:
            assert same(best.m, row["scipy_lambertw"])
        assert same(best.m, row["scipy_minimize"], 1e-5)
        assert same(ck.best_goodput(write, mtbf, **rest), row["goodput_closed_form"])
        assert same(ck.goodput(best, **run), row["goodput_exact_opt"])
        assert same(ck.goodput(s(row["young"]), **run), row["goodput_at_young"])
        assert same(ck.goodput(s(row["daly_higher"]), **run), row["goodput_at_daly_higher"])
        first = ck.first_order_goodput(s(row["young"]), write, mtbf, s(row["R"]))
        assert same(first, row["first_order_goodput_at_young"])
        assert ck.segments(s(row["W"]), best) == row["n_segments"]
        written = ck.expected_time(s(row["W"]), best, **run)
        assert same(written.m, row["E_T_write_after_every_segment"])
        bare = ck.expected_time(s(row["W"]), best, **run, final_write=False)
        assert same(bare.m, row["E_T_no_final_write"])
        if "mc_mean" in row:
            assert abs(written.m - row["mc_mean"]) < 4 * row["mc_stderr"]


def test_a_run_without_checkpoints_may_overflow_to_infinity_but_its_logarithm_does_not(oracle):
    for row in oracle["rows"]:
        rest = {"restart_time": s(row["R"]), "downtime": s(row["D"]), "final_write": False}
        run = (s(row["W"]), s(math.inf), s(row["delta"]), s(row["M"]))
        expected, log = row["E_T_no_checkpoint"], ck.log_expected_time(*run, **rest)
        assert math.isfinite(log)
        if expected is None:
            assert ck.expected_time(*run, **rest).m == math.inf and log > 709
        else:
            assert same(ck.expected_time(*run, **rest).m, expected)
            assert log == pytest.approx(math.log(expected), rel=1e-12)


def test_the_slider_curve(oracle):
    for row in oracle["slider_curve"]:
        setting = (s(row["tau"]), s(row["delta"]), s(row["M"]), s(row["R"]))
        assert same(ck.goodput(*setting), row["goodput"])
        assert same(ck.first_order_goodput(*setting), row["first_order_goodput"])
        failures = exponential.failures_per_segment(row["tau"], row["delta"], row["M"])
        assert same(failures, row["E_failures_per_segment"])


def test_the_golden_interval_is_15_minutes_and_3_seconds():
    best = ck.optimal_interval(**LAB)
    assert best.to("min").m == pytest.approx(15.0507, abs=1e-4)
    assert ck.goodput(best, **LAB, restart_time="300 s") == pytest.approx(0.891280, abs=1e-6)


def test_the_lambert_function_agrees_with_scipy():
    special = pytest.importorskip("scipy.special")
    ratio = np.logspace(-6, 2, 200)
    w = special.lambertw(-np.exp(-1 - ratio)).real
    assert np.allclose(work_share(ratio), 1 + w, rtol=1e-8, atol=0)
    assert np.allclose(minus_w0(ratio), -w, rtol=1e-12, atol=0)


def test_the_lambert_function_solves_its_equation_from_1e_minus_12_to_1e3():
    for ratio in np.logspace(-12, 3, 120):
        u = float(work_share(ratio))
        series = math.fsum(u**k / k for k in range(2, 60)) if u < 0.5 else None
        if series is not None:  # −ln(1−u) − u, summed without cancellation
            assert series == pytest.approx(ratio, rel=1e-12)
        elif ratio < 700:
            v = float(minus_w0(ratio))
            assert math.log(v) - v == pytest.approx(-1 - ratio, rel=1e-12)


def test_for_tiny_ratios_the_optimum_is_young_less_two_thirds_of_the_write_time():
    for ratio in (1e-12, 1e-10, 1e-8):
        young = math.sqrt(2 * ratio)
        assert float(work_share(ratio)) == pytest.approx(young - 2 / 3 * ratio, rel=1e-8 * young + 1e-13)


def test_arrays_give_what_single_numbers_give():
    writes = Quantity(np.array([1e-8, 40.0, 300.0, 2e4, 1e7]), "s")
    best = ck.optimal_interval(writes, "3 h")
    shares = ck.best_goodput(writes, "3 h", "5 min")
    for i, write in enumerate(writes.m):
        assert best.m[i] == ck.optimal_interval(s(write), "3 h").m
        assert shares[i] == ck.best_goodput(s(write), "3 h", "5 min")


times = st.floats(1e-2, 1e7)
settings_ = st.tuples(times, times, st.floats(0, 1e5), st.floats(0, 1e5)).filter(lambda t: t[0] < 100 * t[1])


@given(settings_, times)
def test_no_interval_beats_the_optimum_which_restart_and_downtime_do_not_move(setting, tau):
    write, mtbf, restart, downtime = setting
    best = ck.optimal_interval(s(write), s(mtbf))
    assert best.m < mtbf or write > 30 * mtbf
    best_log = ck.log_goodput(best, s(write), s(mtbf), s(restart), s(downtime))
    other = ck.log_goodput(s(tau), s(write), s(mtbf), s(restart), s(downtime))
    assert best_log >= other - 1e-9 * max(1, abs(other)) and best_log < 0


@given(settings_, times)
def test_goodput_is_a_share_and_falls_with_every_cost(setting, tau):
    write, mtbf, restart, downtime = setting
    assume((tau + write + restart) / mtbf < 500)

    def log(d=1.0, m=1.0, r=0.0, w=0.0):
        return ck.log_goodput(s(tau), s(write * d), s(mtbf * m), s(restart + r), s(downtime + w))

    share = ck.goodput(s(tau), s(write), s(mtbf), s(restart), s(downtime))
    assert 0 < share < 1
    assert log(d=1.1) < log() and log(r=mtbf / 10) < log() and log(w=mtbf / 10) < log() < log(m=1.1)


@given(settings_, times, st.floats(1e-3, 1e3))
def test_the_unit_of_time_does_not_matter(setting, tau, k):
    write, mtbf, restart, downtime = setting
    work = 20 * tau
    scaled = [s(k * value) for value in (work, tau, write, mtbf, restart, downtime)]
    plain = [s(value) for value in (work, tau, write, mtbf, restart, downtime)]
    interval = ck.optimal_interval(scaled[2], scaled[3]).m
    assert interval == pytest.approx(k * ck.optimal_interval(plain[2], plain[3]).m, rel=1e-9)
    assert ck.log_goodput(*scaled[1:]) == pytest.approx(ck.log_goodput(*plain[1:]), rel=1e-7, abs=1e-9)
    log = ck.log_expected_time(*scaled) - math.log(k)
    assert log == pytest.approx(ck.log_expected_time(*plain), rel=1e-7, abs=1e-7)


def test_without_failures_a_run_takes_its_work_and_its_writes():
    assert ck.expected_time("10 h", "1 h", "60 s", "1e9 h", "1 h").to("h").m == pytest.approx(10 + 1 / 6)
    assert ck.expected_time("1 h", "2 h", "60 s", "1e9 h", final_write=False).to("h").m == pytest.approx(1)


def test_a_half_written_checkpoint_saves_nothing():
    half = ck.after_failure("110 s", "100 s", "20 s")
    assert (half.kept.m, half.lost.m) == (0, 110)
    whole = ck.after_failure("120 s", "100 s", "20 s")
    assert (whole.kept.m, whole.lost.m) == (100, 0)
    later = ck.after_failure("245 s", "100 s", "20 s")
    assert (later.kept.m, later.lost.m) == (200, 5)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: ck.young_interval(40, "3 h"), "write_time"),
        (lambda: ck.young_interval("0 s", "3 h"), "write_time"),
        (lambda: ck.optimal_interval("40 s", "-1 h"), "mtbf"),
        (lambda: ck.optimal_interval("40 s", "nan h"), "mtbf"),
        (lambda: ck.optimal_interval(Quantity(np.array([1.0, -1.0]), "s"), "3 h"), "write_time"),
        (lambda: ck.goodput("1 h", "40 s", "3 h", "5 USD"), "restart_time"),
        (lambda: ck.goodput("1 h", "40 s", "3 h", downtime="-1 s"), "downtime"),
        (lambda: ck.expected_time("inf s", "1 h", "40 s", "3 h"), "work"),
        (lambda: ck.after_failure("-1 s", "1 h", "40 s"), "elapsed"),
    ],
)
def test_a_wrong_value_is_named(call, name):
    with pytest.raises(InvalidInput) as error:
        call()
    assert error.value.fields["parameter"] == name
