"""`fleetlab profile` as a user and a program meet it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from engine.profiling import ProfileError, Profiler
from labs.cli_profile import profile
from tests.engine.profiling.questions import FINETUNE, GENERIC, carrying_a_run

app = typer.Typer()
app.command()(profile)


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments, data=GENERIC):
        (tmp_path / "request.json").write_text(json.dumps(data))
        return CliRunner().invoke(app, ["request.json", "--backend", "numpy", *arguments])

    return run


def test_a_measurement_is_shown_with_units_and_what_is_absent(run):
    answer = run("--force")
    assert answer.exit_code == 0, answer.output
    for words in ("Measured now.", "Step time", " ms", "Checkpoint save", "20 after 3 to warm up"):
        assert words in answer.stdout
    assert "GPU memory, peak" in answer.stdout and "not measured" in answer.stdout
    assert "- Trained a perceptron of 40,000 parameters" in answer.stdout


def test_a_second_profile_comes_from_the_cache_as_json(run, tmp_path):
    first = json.loads(run("--force", "--json", "--cache", "profiles.db").stdout)
    second = json.loads(run("--json", "--cache", "profiles.db").stdout)
    assert (first["origin"], second["origin"]) == ("measured", "cache")
    assert first["result"] == second["result"]
    assert first["result"]["measured_steps"] == 20
    assert first["plan_id"].startswith("pl_")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["profiles.db", "request.json"]


def test_a_profile_that_is_not_worth_it_is_skipped_with_the_reason(run):
    answer = run()
    assert answer.exit_code == 0
    assert "up to 60% is comfortable" in answer.stdout and "--force" in answer.stdout
    assert json.loads(run("--json").stdout)["origin"] == "skipped"


def test_a_run_over_its_budget_fails_in_a_sentence(run):
    answer = run("--force", "--budget", "0.1")
    assert answer.exit_code == 1
    assert answer.stdout == ""
    assert "No measurement: the run passed its budget of 0.1 s" in answer.stderr
    as_json = run("--force", "--budget", "0.1", "--json")
    assert as_json.exit_code == 1
    assert json.loads(as_json.stdout)["basis"] == "static"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.json"], "missing.json: this file cannot be read"),
        (["."], "this file cannot be read"),
        (["request.json", "--budget", "nan"], "budget_seconds"),
        (["request.json", "--cache", "request.json"], "not a profile cache"),
    ],
)
def test_a_mistake_is_one_line_and_no_traceback(tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    (tmp_path / "request.json").write_text(json.dumps(FINETUNE))
    answer = CliRunner().invoke(app, arguments)
    assert answer.exit_code == 2
    assert words in answer.stderr and "Traceback" not in answer.output
    assert len(answer.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "request.json:1: this is not JSON"),
        ('{"workload": {"kind": "pytorch_training"}}', "parameters_m"),
        ('{"workload": {"kind": "pytorch_training", "parameters_m": 1}}', "No plan survives"),
    ],
)
def test_a_request_that_cannot_be_planned_is_named(tmp_path, monkeypatch, content, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "request.json").write_text(content)
    answer = CliRunner().invoke(app, ["request.json"])
    assert answer.exit_code == 2
    assert words in answer.stderr and answer.stdout == ""


def test_an_error_of_the_profiler_does_not_hide_that_the_plan_is_static(run, monkeypatch):
    def broken(self, request, plan, budget_seconds):
        raise ProfileError("No measurement: broken on purpose.")

    monkeypatch.setattr(Profiler, "profile", broken)
    answer = run("--force")
    assert answer.exit_code == 1
    assert "broken on purpose" in answer.stderr and "static estimates" in answer.stderr


def test_a_folder_that_is_not_there_is_a_failed_measurement(run):
    answer = run("--force", "--folder", "missing")
    assert answer.exit_code == 1
    assert "No folder could be made" in answer.stderr


def test_a_request_may_come_from_standard_input(monkeypatch):
    answer = CliRunner().invoke(app, ["-", "--json"], input=json.dumps(GENERIC))
    assert json.loads(answer.stdout)["origin"] == "skipped"


def test_a_wrong_request_from_standard_input_is_named_so():
    answer = CliRunner().invoke(app, ["-"], input="{")
    assert answer.exit_code == 2
    assert answer.stderr.startswith("fleetlab profile: stdin:1: this is not JSON")


def test_ending_the_command_ends_its_run_from_any_folder(tmp_path):
    (tmp_path / "request.json").write_text(json.dumps(FINETUNE))
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
        "TMPDIR": str(tmp_path),
    }
    command = [sys.executable, "-P", "-m", "labs.cli", "profile", "request.json", "--force"]
    started = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 20
    while not list(tmp_path.glob("fleetlab-*")) and time.monotonic() < deadline:
        time.sleep(0.005)
    started.send_signal(signal.SIGTERM)
    _, errors = started.communicate(timeout=20)
    assert started.returncode != 0 and b"Traceback" not in errors
    assert [path.name for path in tmp_path.iterdir()] == ["request.json"]
    assert carrying_a_run() == []
