"""Every lab runs headless, at its default and at its extreme levers; and a notebook is thin."""

import ast
import itertools
import re
import subprocess
import sys

import pytest

from engine.missions import load_mission
from engine.paths import shipped
from labs.cockpit.views import ready
from tests.labs.notebooks import LABS, cells, notebook, run

PLANS = {name: load_mission(name[:2]) for name in LABS}
ACTS = [(name, act) for name, plan in PLANS.items() for act in plan.acts if ready(act)]
IDS = [f"{name[:2]}-{act.id}" for name, act in ACTS]
EXTREMES = [
    (name, act, dict(zip(act.levers, values, strict=True)))
    for name, act in ACTS
    for values in itertools.product(
        *[
            dict.fromkeys((PLANS[name].levers[one].values[0], PLANS[name].levers[one].values[-1]))
            for one in act.levers
        ]
    )
]


def offer(act):
    return {
        "act": act.id,
        "value": f"6 {act.prediction.units[-1]}",
        "why": "A guess.",
        "at": "2026-11-29T14:02:00Z",
    }


def play(name, act, levers):
    """Run a lab as a student who sealed every prediction, wrote a line, chose an act and moved its levers."""

    def prepare(held):
        plan = PLANS[name]
        held["prediction"].offers = [offer(one) for one in plan.acts]
        held["why"].texts = {one.id: "I would migrate because it costs less." for one in plan.acts}
        held["acts"].act = act.id
        held["panel"].values = levers

    return run(name, prepare)


def html(outputs):
    return "".join(output.text for output in outputs if output is not None)


def test_there_is_a_lab():
    assert "08_fleet_orch.py" in LABS


@pytest.mark.parametrize("name", LABS)
def test_marimo_finds_nothing_to_complain_about(name):
    command = [sys.executable, "-m", "marimo", "check", "--strict", str(shipped("labs", name))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", LABS)
def test_a_lab_opens_sealed_at_its_default_levers(name):
    outputs, names = run(name)
    assert names["stage"].outcome is None and names["stage"].asks
    assert names["fleet"].picture == {} and names["cards"].html == ""
    assert names["work"].record["returned"] is None
    zones = re.findall(r'data-zone="(\w+)"', html(outputs))
    assert {"head", "brief", "lever", "lock", "cards", "map", "chart", "log", "why", "work"} <= set(zones)
    assert len(zones) == len(set(zones))


@pytest.mark.parametrize(("name", "act"), ACTS, ids=IDS)
def test_an_act_plays_at_its_default_levers(name, act):
    outputs, names = play(name, act, PLANS[name].start_values(act.id))
    stage = names["stage"]
    assert stage.open and stage.complaint == "" and stage.act.id == act.id
    assert names["fleet"].picture["shape"] == stage.outcome.fleet_map.shape.model_dump()
    assert names["cards"].html.count("<article") == 4
    assert names["work"].record["returned"]["levers"] == dict(stage.levers)
    assert "NaN" not in html(outputs) and "nan" not in re.findall(r"\bnan\b", names["cards"].html)


@pytest.mark.parametrize(
    ("name", "act", "levers"), EXTREMES, ids=lambda value: getattr(value, "id", None) or str(value)[:60]
)
def test_an_act_plays_at_its_extreme_levers(name, act, levers):
    _, names = play(name, act, levers)
    assert names["stage"].complaint == ""
    assert dict(names["stage"].levers) == levers
    assert names["stage"].outcome is not None
    assert names["cards"].html.count("<article") == 4


@pytest.mark.parametrize(("name", "act"), ACTS, ids=IDS)
def test_every_lever_that_is_shown_is_an_input_of_the_engine(name, act):
    plan, start = PLANS[name], PLANS[name].start_values(act.id)
    _, names = play(name, act, start)
    shown = re.findall(r'data-name="(\w+)"', names["panel"].html)
    assert shown == list(act.levers)
    before = names["stage"].outcome
    for lever in shown:
        changed = [play(name, act, start | {lever: v})[1]["stage"].outcome != before
                   for v in plan.levers[lever].values if v != start[lever]]  # fmt: skip
        assert any(changed), f"{lever} changes nothing"


@pytest.mark.parametrize("name", LABS)
def test_every_control_is_read_by_another_cell(name):
    found = cells(name)
    held = found["levers"].defs
    assert held
    for control in held:
        readers = [one for one, cell in found.items() if one != "levers" and control in cell.refs]
        assert readers, f"{control} is made and read by no cell"


@pytest.mark.parametrize("name", LABS)
def test_a_notebook_is_thin(name):
    """Named cells of at most fifteen lines, and no arithmetic: the one call into the engine has it."""
    tree = ast.parse(shipped("labs", name).read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert [node.name for node in functions if node.name.startswith("_")] == []
    for node in functions:
        assert node.end_lineno - node.lineno + 1 <= 15, node.name
    assert not [
        node for node in ast.walk(tree) if isinstance(node, (ast.BinOp, ast.AugAssign, ast.For, ast.While))
    ]
    assert not re.search(r"<\w+[ >]", shipped("labs", name).read_text(encoding="utf-8"))  # no markup either


@pytest.mark.parametrize("name", LABS)
def test_the_sheet_of_a_notebook_exists(name):
    """marimo answers a missing css_file with one line in its log."""
    config = notebook(name).app._config
    assert shipped("labs").joinpath(config.css_file).resolve() == shipped("assets", "cockpit.css")


def test_a_lab_whose_plan_cannot_be_used_says_why_in_one_sentence(monkeypatch):
    from labs.cockpit import session

    def broken(lab):
        from engine.errors import PlanError

        raise PlanError("the key 'leverz' is not known.", file="08_fleet_orch.md", line=37)

    monkeypatch.setattr(session, "load_mission", broken)
    plan, said = session.mission("08")
    assert plan is None and said == "08_fleet_orch.md:37: the key 'leverz' is not known."
    outputs, _ = run("08_fleet_orch.py")
    assert said.replace("'", "&#39;") in html(outputs)
