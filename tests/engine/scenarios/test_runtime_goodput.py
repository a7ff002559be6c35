import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from engine.errors import FleetlabError, InvalidInput, NoAnswer
from engine.reliability import checkpoint
from engine.reliability.waste import interval_miss
from engine.scenarios.named import Scenarios
from engine.scenarios.productivity import ProductivityGoodputScenario
from engine.scenarios.runtime_goodput import (
    RecoveryBudget,
    RuntimeGoodputScenario,
    SeriesFailureScenario,
    Workload,
)
from engine.units import Quantity

UNITS = {"_s": "s", "_min": "min", "_h": "h"}
REFUSED = {"rt_wait_neg", "rt_window_negative", "rt_profile_negative_detect", "rt_lost_work_neg"}


@pytest.fixture(scope="module")
def rows(shared_dir):
    oracle = json.loads((shared_dir / "oracles" / "goodput.json").read_text())
    kinds: dict = {}
    for row in oracle["rows"]:
        kinds.setdefault(row["kind"], []).append(row)
    return kinds


def term(result, key):
    for suffix, unit in UNITS.items():
        if key.endswith(suffix):
            return getattr(result, key.removesuffix(suffix)).m_as(unit)
    return getattr(result, key)


def agree(result, outputs):
    for key, expected in outputs.items():
        assert term(result, key) == pytest.approx(expected, rel=1e-12, abs=1e-15), key


def job(mtbf="10 h", size="1e12 B", **changes):
    fields = {
        "failures": SeriesFailureScenario(
            n_devices=1, devices_per_node=1, component_mttf={"all": mtbf}, per_node={"all": 1}
        ),
        "workload": Workload(parameters=1),
        "bytes_per_param": size,
        "recovery": RecoveryBudget.default(),
        "input_wait": 0.05,
        "window": "1 week",
        "lost_work": "15 min",
        "preemption_rate": "1 1/day",
    }
    return RuntimeGoodputScenario(**fields | changes)


def from_row(inputs):
    return job(
        mtbf=(inputs["mtbf_s"], "s"),
        size=(inputs["ckpt_bytes"], "B"),
        recovery=RecoveryBudget(
            detection=(inputs["detect_s"], "s"),
            restart=(inputs["restart_s"], "s"),
            write_bandwidth=(inputs["bw_gbs"], "GB/s"),
            warmup=(inputs["warmup_s"], "s"),
        ),
        input_wait=inputs["input_wait"],
        window=(inputs["window_s"], "s"),
        lost_work=(inputs["lost_work_s"], "s"),
        preemption_rate=(inputs["preempt_per_s"], "1/s"),
    )


def test_the_rows_of_the_oracle_are_first_order_to_12_digits(rows):
    for row in rows["runtime_goodput"]:
        if row["id"] in REFUSED:
            with pytest.raises(InvalidInput):
                from_row(row["inputs"])
        else:
            agree(from_row(row["inputs"]).result, row["outputs"])


def test_a_named_job_at_other_sizes(rows):
    named = Scenarios.Llama2_70BRuntimeGoodput128
    assert named.result.runtime_goodput == pytest.approx(0.9039797148029401, rel=1e-15)
    assert named.checkpoint_bytes.m_as("B") == 9.8e11
    swept = named.sweep(row["inputs"]["n_devices"] for row in rows["named_at"])
    for row in rows["named_at"]:
        n = row["inputs"]["n_devices"]
        agree(named.at(n).result, row["outputs"])
        assert swept[n] == named.at(n).result


def test_crossovers(rows):
    for row in rows["crossover"]:
        named = Scenarios.Llama2_70BRuntimeGoodput128.variant(input_wait=row["inputs"]["input_wait"])
        assert named.at(row["inputs"]["start_n"]).crossover(row["inputs"]["step"]) == row["outputs"]["n"]


@given(st.floats(0, 3), st.integers(1, 400), st.integers(1, 5000), st.sampled_from([None, "10 s", "2 h"]))
def test_the_crossover_is_the_least_size_where_failures_waste_more(wait, start, step, interval):
    scenario = Scenarios.Llama2_70BRuntimeGoodput128.at(start).variant(input_wait=wait, interval=interval)
    n = scenario.crossover(step)
    assert (n - start) % step == 0 and n >= start
    assert scenario.at(n).result.failure_side > wait
    assert n == start or scenario.at(n - step).result.failure_side <= wait


def test_where_nothing_fails_there_is_no_crossover_and_the_result_is_calm():
    calm = SeriesFailureScenario(
        n_devices=8, devices_per_node=8, component_mttf={"gpu": "1 h"}, per_node={"gpu": 0}
    )
    scenario = job(failures=calm, input_wait=0.0, preemption_rate="0 1/day")
    with pytest.raises(NoAnswer, match="never exceeds"):
        scenario.crossover(1)
    assert scenario.result.mtbf.m == math.inf
    assert scenario.result.exact_goodput == pytest.approx(1 - 310 / 604800)
    paused = scenario.variant(interval="90 s").result
    assert paused.exact_goodput == pytest.approx(0.9 * (1 - 310 / 604800))


def test_series_failures(rows):
    for row in rows["series_failure"]:
        inputs, outputs = row["inputs"], row["outputs"]
        result = SeriesFailureScenario(
            n_devices=inputs["n_devices"],
            devices_per_node=inputs["devices_per_node"],
            component_mttf={name: (hours, "h") for name, hours in inputs["component_mttf_h"].items()},
            per_node={name: inputs["per_node"][name] for name in inputs["component_mttf_h"]},
        ).result
        for name, rate in outputs["component_rates"].items():
            assert result.component_rates[name].m_as("1/h") == pytest.approx(rate, rel=1e-12)
        assert result.device_rate.m_as("1/h") == pytest.approx(outputs["device_rate"], rel=1e-12)
        assert result.system_rate.m_as("1/h") == pytest.approx(outputs["system_rate"], rel=1e-12)
        assert result.mtbf.m_as("h") == pytest.approx(outputs["mtbf_h"], rel=1e-12)
        assert result.failures_per_day == pytest.approx(outputs["failures_per_day"], rel=1e-12)


def test_recovery_budgets(rows):
    for row in rows["recovery_budget"]:
        inputs, outputs = row["inputs"], row["outputs"]
        cost = RecoveryBudget.default().cost(
            (inputs["ckpt_bytes"], "B"), (inputs["failure_interval_h"], "h"), inputs["n_devices"]
        )
        terms = (cost.detection, cost.restart, cost.load, cost.warmup, cost.total)
        keys = ("detect_s", "restart_s", "reload_s", "warmup_s", "total_s")
        for value, key in zip(terms, keys, strict=True):
            assert value.m_as("s") == pytest.approx(outputs[key], rel=1e-12)
        assert cost.failures_per_day == pytest.approx(outputs["failures_per_day"], rel=1e-12)
        assert cost.lost_per_day.m_as("min") == pytest.approx(outputs["lost_per_day_min"], rel=1e-12)
        assert cost.day_share == pytest.approx(outputs["day_share"], rel=1e-12)
        assert cost.gpu_hours_per_day.m == pytest.approx(outputs["gpu_hours_per_day"], rel=1e-12)


def test_missing_the_interval(rows):
    for row in rows["checkpoint_waste_at"]:
        inputs, outputs = row["inputs"], row["outputs"]
        miss = interval_miss((inputs["interval_s"], "s"), (inputs["write_s"], "s"), (inputs["mtbf_s"], "s"))
        assert miss.optimum.m_as("s") == pytest.approx(outputs["optimum_s"], rel=1e-12)
        assert miss.optimum_waste == pytest.approx(outputs["optimum_waste"], rel=1e-12)
        assert miss.waste == pytest.approx(outputs["waste"], rel=1e-12)
        assert miss.miss_factor == pytest.approx(outputs["miss_factor"], rel=1e-12)
        assert miss.miss_penalty == pytest.approx(outputs["miss_penalty"], rel=1e-12)
        factor = miss.miss_factor
        assert miss.miss_penalty == pytest.approx((factor + 1 / factor) / 2 - 1, rel=1e-9)


def test_the_exact_reference(rows):
    for row in rows["reference_exact_exponential"]:
        i, outputs = row["inputs"], row["outputs"]
        setting = [(i[key], "s") for key in ("interval_s", "write_s", "mtbf_s", "restart_s")]
        assert checkpoint.goodput(*setting) == pytest.approx(outputs["goodput_exact"], rel=1e-12)
        first = checkpoint.first_order_goodput(*setting)
        assert first == pytest.approx(outputs["goodput_first_order"], rel=1e-12)


def test_productivity_goodput(rows):
    for row in rows["mpg"]:
        i, outputs = row["inputs"], row["outputs"]
        rate = i["device_hour_rate"]
        fields = {"scheduling": i["S"], "runtime": i["R"], "program": i["P"], "ceilings": i["ceilings"]}
        fields["device_hour_rate"] = None if rate is None else (rate, "USD/(gpu*h)")
        if row["id"] in {"gp_gt1", "gp_neg"}:
            with pytest.raises(InvalidInput):
                ProductivityGoodputScenario(**fields)
            continue
        result = ProductivityGoodputScenario(**fields).result
        for key, expected in outputs.items():
            value = getattr(result, key)
            if isinstance(expected, dict):
                assert dict(value) == pytest.approx(expected, rel=1e-12)
            elif key == "useful_rate":
                assert value.m_as("USD/(gpu*h)") == pytest.approx(expected, rel=1e-12)
            else:
                assert value == pytest.approx(expected, rel=1e-12), key
        parts = result.scheduling_share + result.runtime_share + result.program_share + result.mpg
        assert parts == pytest.approx(1, abs=1e-15)


def test_the_exact_goodput_is_made_of_its_factors():
    result = job().result
    g = checkpoint.goodput(result.interval, "10 s", "10 h", "370 s")
    expected = 0.95 * (1 - 310 / 604800) * g / (1 + 1210 / 86400)
    assert result.exact_goodput == pytest.approx(expected, rel=1e-13)
    assert abs(result.exact_goodput - result.runtime_goodput) < 0.01  # both describe one job


@given(
    st.floats(1, 1e8),
    st.floats(1, 1e16),
    st.floats(0, 3),
    st.floats(1, 1e7),
    st.floats(0, 1e5),
    st.floats(0, 99),
)
def test_the_exact_goodput_is_a_share_and_an_invalid_result_says_why(mtbf, size, wait, window, lost, rate):
    result = job(
        mtbf=(mtbf, "s"), size=(size, "B"), input_wait=wait, window=(window, "s"),
        lost_work=(lost, "s"), preemption_rate=(rate, "1/day"),
    ).result  # fmt: skip
    assert 0 <= result.exact_goodput < 1
    assert result.valid == (not result.reasons)
    if result.valid:
        assert 0 <= result.runtime_goodput <= 1
    json.loads(result.model_dump_json())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"mtbf": "5 s"}, "2M"),
        ({"input_wait": 1.5}, "input wait"),
        ({"window": "5 min"}, "window"),
        ({"preemption_rate": "1 1/min"}, "loss"),
    ],
)
def test_each_reason_is_named(changes, words):
    result = job(**changes).result
    assert not result.valid and any(words in reason for reason in result.reasons)


def test_a_rate_may_be_written_as_one_per_day():
    assert job(preemption_rate="1/day").result == job(preemption_rate=(1, "1/day")).result


def test_a_slider_can_drive_the_interval():
    result = job(interval="1 h").result
    assert result.interval.m_as("s") == 3600
    assert (result.write_share, result.rework_share) == (pytest.approx(10 / 3600), pytest.approx(0.05))
    assert job(interval=job().result.interval).result.runtime_loss == pytest.approx(job().result.runtime_loss)


@pytest.mark.parametrize(
    ("make", "parameter"),
    [
        (lambda: job(mtbf="0 h"), "component_mttf.all"),
        (lambda: job(mtbf="-1 h"), "component_mttf.all"),
        (lambda: job(mtbf=10), "component_mttf.all"),
        (lambda: job(mtbf="10 B"), "component_mttf.all"),
        (lambda: job(size="0 B"), "bytes_per_param"),
        (lambda: job(size=1e12), "bytes_per_param"),
        (lambda: job(size="1e12 flop"), "bytes_per_param"),
        (lambda: job(size="1e12 USD"), "bytes_per_param"),
        (lambda: job(size="1e12 parameter"), "bytes_per_param"),
        (lambda: job(size="3 h"), "bytes_per_param"),
        (lambda: job(window="0 s"), "window"),
        (lambda: job(window="-1 day"), "window"),
        (lambda: job(window=7), "window"),
        (lambda: job(preemption_rate="-1 1/day"), "preemption_rate"),
        (lambda: job(preemption_rate=1), "preemption_rate"),
        (lambda: job(lost_work="-3600 s"), "lost_work"),
        (lambda: job(input_wait=-0.1), "input_wait"),
        (lambda: job(input_wait=math.inf), "input_wait"),
        (lambda: job(input_wait=math.nan), "input_wait"),
        (lambda: job().at(0), "n_devices"),
        (lambda: job().at(1.5), "n_devices"),
        (lambda: job().sweep([8, 0]), "sizes"),
        (lambda: job().sweep([True]), "sizes"),
        (lambda: job().crossover(0), "step"),
        (lambda: job().crossover(-8), "step"),
        (lambda: job().variant(windw="1 week"), "windw"),
        (lambda: RecoveryBudget.default().variant(detection="-60 s"), "detection"),
        (lambda: RecoveryBudget.default().variant(write_bandwidth="100 GB"), "write_bandwidth"),
    ],
)  # fmt: skip
def test_bad_input_is_a_clear_error(make, parameter):
    with pytest.raises(InvalidInput) as error:
        make()
    assert error.value.fields["parameter"] == parameter
    assert parameter in str(error.value)


def test_tables_that_do_not_match_are_refused():
    with pytest.raises(InvalidInput, match="gpu, nic"):
        SeriesFailureScenario(
            n_devices=8, devices_per_node=8, component_mttf={"gpu": "1 h", "nic": "1 h"}, per_node={"gpu": 8}
        )


def test_named_scenarios_are_listed_and_cannot_be_changed():
    described = Scenarios.described()
    assert list(described) == list(Scenarios) and len(described) == len(Scenarios) >= 5
    assert all(len(text) > 20 for text in described.values())
    before = Scenarios.Llama2_70BRuntimeGoodput128
    with pytest.raises(AttributeError):
        Scenarios.Llama2_70BRuntimeGoodput128 = None
    with pytest.raises(AttributeError):
        del Scenarios.Llama2_70BRuntimeGoodput128
    with pytest.raises(ValidationError):
        before.window = "2 week"
    with pytest.raises(TypeError):
        before.failures.component_mttf["gpu"] = Quantity("1 h")
    before.window.ito("h")
    assert Scenarios.Llama2_70BRuntimeGoodput128.result.runtime_goodput == pytest.approx(0.9039797148029401)
    assert before.result == Scenarios.Llama2_70BRuntimeGoodput128.result
    assert not hasattr(Scenarios, "Llama9")
    with pytest.raises(FleetlabError, match="Llama2_70BRuntimeGoodput128"):
        _ = Scenarios.Llama9


def test_named_jobs_are_in_the_range_their_reports_give():
    results = {name: Scenarios[name].result for name in Scenarios}
    assert all(result.valid for result in results.values())
    llama3 = results["Llama3_405BRuntimeGoodput16384"]
    assert llama3.mtbf.m_as("h") == pytest.approx(54 * 24 / 419)
    assert llama3.exact_goodput > 0.90  # the report: more than 90 % effective training time
    lab = results["Lab08_175BRuntimeGoodput16384"]
    assert (lab.write_time.m_as("s"), lab.recovery_time.m_as("s")) == (pytest.approx(40), pytest.approx(300))
    assert lab.mtbf.m_as("h") == pytest.approx(3)
    assert results["BLOOM_176BRuntimeGoodput384"].write_time.m_as("s") == pytest.approx(40)


def test_a_scenario_reads_back_from_its_json():
    for name in Scenarios:
        scenario = Scenarios[name]
        again = RuntimeGoodputScenario.read_json(scenario.model_dump_json())
        assert again == scenario and again.result == scenario.result


def test_a_workload_may_be_anything_with_parameters():
    class Model:
        parameters = 70e9

    assert job(workload=Model(), size="14 B/parameter").checkpoint_bytes.m_as("B") == 9.8e11


def test_a_result_is_read_only():
    result = job().result
    with pytest.raises(AttributeError):
        result.runtime_goodput = 1.0
    with pytest.raises(AttributeError):
        result.note = "better"
    assert type(result.runtime_goodput) is float and type(result.mtbf.m) is float


def test_scenarios_are_found_in_one_place():
    import engine.scenarios as place

    for name in dir(place):
        assert hasattr(place, name)
    assert place.Scenarios is Scenarios
    with pytest.raises(AttributeError):
        _ = place.Llama9
