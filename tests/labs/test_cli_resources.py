"""`fleetlab resources show` as a user and a program meet it."""

import json

import pytest
from typer.testing import CliRunner

from engine.resources import ResourceKey, ResourceStore
from labs.cli_resources import app


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    store = ResourceStore("resources.db")
    long, short = ResourceKey("embed", "[bold]bge", "long"), ResourceKey("embed", "[bold]bge", "short")
    for peak in (4.5, 5.3, 4.9):
        store.record(long, {"peak_gb": peak, "workers": 4, "seconds": 30, "units": 12}, 0.5, run="a")
    store.record(short, {"peak_gb": 8.5, "workers": 4}, 0.5, oom=True, run="a")
    return tmp_path


def show(*arguments):
    return CliRunner().invoke(app, ["show", *arguments])


def test_every_key_is_a_row_with_its_numbers_and_their_source(folder):
    answer = show("resources.db")
    assert answer.exit_code == 0
    rows = [line.split() for line in answer.stdout.splitlines() if line.strip().startswith("embed")]
    assert rows == [
        ["embed", "[bold]bge", "long", "0.50", "1.44", "1.00", "2.5", "0", "learned", "from", "3", "runs"],
        ["embed", "[bold]bge", "short", "0.50", "3.00", "1.00", "–", "1", "default"],
    ]


def test_programs_get_the_same_as_json(folder):
    answer = json.loads(show("resources.db", "--json", "--variant", "long").stdout)
    assert len(answer) == 1
    assert answer[0]["key"] == {"task_type": "embed", "model": "[bold]bge", "variant": "long"}
    assert answer[0]["resources"]["memory_per_worker_gb"] == pytest.approx(1.44)
    assert answer[0]["resources"]["source"] == "learned from 3 runs"
    assert answer[0]["open_kills"] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.db"], "missing.db: there is no such file."),
        (["notes.txt"], "no SQLite database"),
        (["resources.db", "--model", "gpt2"], "no report with model 'gpt2'"),
        (["empty.db"], "no report yet"),
    ],
)
def test_a_mistake_is_one_line_and_touches_nothing(folder, arguments, words):
    (folder / "notes.txt").write_text("notes")
    (folder / "empty.db").touch()
    before = {path: path.read_bytes() for path in folder.iterdir()}
    answer = show(*arguments)
    assert answer.exit_code == 2
    assert words in answer.stderr and answer.stdout == ""
    assert len(answer.stderr.strip().splitlines()) == 1
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
