"""`fleetlab plan`: a file or stdin, from any folder; an explanation or JSON; errors in one sentence."""

import json

import pytest
import typer
from typer.testing import CliRunner

from engine.planner import PlanReport
from labs.cli_plan import plan

REQUEST = {
    "workload": {"kind": "transformer_finetune", "model": "Qwen/Qwen2.5-7B", "train_tokens_m": 50},
    "resources": {"gpus": 8, "gpu_type": "a100-40gb", "hourly_cost_usd_per_gpu": 2},
    "objective": {"mode": "fastest"},
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    app = typer.Typer()
    app.command()(plan)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "request.json").write_text(json.dumps(REQUEST), encoding="utf-8")
    return lambda *arguments, stdin=None: CliRunner().invoke(app, arguments, input=stdin)


def test_a_plan_is_explained_with_what_was_rejected(run):
    result = run("request.json")
    assert result.exit_code == 0
    for words in (
        "ddp on 8 GPUs, launched by torchrun",
        "50.9 min",
        "13.57 USD",
        "best-ranked of",
        "runner-up",
    ):
        assert words in result.stdout
    assert "scaling efficiency 0.05 is below 0.5" in run("-", stdin=json.dumps(slow())).stdout


def slow():
    resources = REQUEST["resources"] | {"interconnect": "multi_node_10g", "hosts": 8}
    return REQUEST | {"resources": resources}


def test_json_is_the_report(run):
    from_file, from_stdin = run("request.json", "--json"), run("-", "--json", stdin=json.dumps(REQUEST))
    assert from_file.stdout == from_stdin.stdout
    report = PlanReport.read_json(from_file.stdout)
    assert report.selected.strategy_family == "ddp"
    assert len(report.candidates) == 17


def test_measured_times_give_the_best_interval(run):
    result = run("request.json", "--checkpoint-write", "40 s", "--gpu-mttf", "24 h", "--restart", "5 min")
    assert "every 903.0" in result.stdout
    assert "goodput: 89" in result.stdout.replace("  ", "")


def test_no_plan_is_an_answer_with_a_hint(run):
    request = REQUEST | {"objective": {"deadline_minutes": 1}}
    result = run("-", stdin=json.dumps(request))
    assert result.exit_code == 0
    assert "feasible but over the deadline or the budget" in result.stdout
    assert "a deadline of" in result.stdout


@pytest.mark.parametrize("columns", ["80", "100", "120", "140"])
def test_no_width_cuts_a_name_a_status_or_a_number(run, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    request = json.dumps(REQUEST | {"objective": {"deadline_minutes": 100}})
    lines = run("-", stdin=request).stdout.splitlines()
    assert not any("…" in line for line in lines)
    assert max(map(len, lines)) <= int(columns)
    for verdict in PlanReport.read_json(run("-", "--json", stdin=request).stdout).candidates:
        memory = f"{verdict.memory.total_gb:.2f} GB"
        assert any(
            {verdict.name, str(verdict.workers)} <= set(line.split()) and memory in line for line in lines
        )


def test_a_narrow_terminal_gets_a_line_for_a_candidate_and_its_reason_beneath(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("-", stdin=json.dumps(REQUEST | {"objective": {"deadline_minutes": 60}})).stdout.splitlines()
    ddp = next(place for place, line in enumerate(lines) if line.startswith("ddp on 8 "))
    assert " ".join(lines[ddp].split()) == "ddp on 8 selected 21.64 GB 50.9 min 13.57 USD"
    late = next(place for place, line in enumerate(lines) if line.startswith("ddp on 4 "))
    assert " ".join(lines[late].split()) == "ddp on 4 over a limit 21.64 GB 101.8 min 13.57 USD"
    assert lines[late + 1] == "    101.8 min is over the deadline of 60 min"
    assert lines[ddp].index("min") == lines[late].index("min")


def test_a_long_field_is_cut_and_says_so(run):
    workload = {"kind": "transformer_pretrain", "model": "llama-3.1-8b"}
    resources = {"gpus": 1024, "hosts": 128, "gpu_type": "h100", "interconnect": "multi_node_ib"}
    result = run("-", stdin=json.dumps({"workload": workload, "resources": resources}))
    assert result.exit_code == 0
    assert "more candidates are in the report (--json)" in result.stdout
    assert "layout: tensor" in result.stdout


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "fleetlab plan: stdin:1: this is not JSON"),
        ("[]", "is not accepted"),
        ("{}", "workload"),
        ('{"workload": {"kind": "poem"}}', "workload.kind: 'poem'"),
        (json.dumps(REQUEST | {"resources": {"gpus": 2, "hosts": 4}}), "resources.hosts"),
        (json.dumps(REQUEST | {"resources": {"gpus": 1e400}}), "resources.gpus"),
        ('{"workload": {"kind": "classical_ml", "dataset_mb": NaN}}', "dataset_mb"),
        (b"\xff\xfe\x00", "not JSON"),
    ],
)
def test_a_wrong_request_is_one_sentence_and_exit_code_2(run, content, words):
    result = run("-", stdin=content)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_missing_file_is_one_sentence_and_exit_code_2(run):
    result = run("nowhere.json")
    assert result.exit_code == 2
    assert "nowhere.json: this file cannot be read" in result.stderr


def test_what_a_user_typed_is_printed_as_it_is(run):
    workload = REQUEST["workload"] | {"model": "[bold]x[/nope]"}
    result = run("-", stdin=json.dumps(REQUEST | {"workload": workload}))
    assert result.exit_code == 0
    assert "[bold]x[/nope]" in result.stdout
