"""Saved work and sealed predictions: what is accepted, and the one sentence for what is not."""

import json
import re

import pytest

from engine.errors import FileProblem, InvalidInput, UnknownName
from engine.missions import load_mission
from labs.cockpit.progress import open_acts
from labs.cockpit.saved import SavedWork, opened, seal
from labs.cockpit.session import visit
from labs.cockpit.stage import saved_work
from tests.labs.outcomes import audit_outcome
from tests.labs.stages import SEALED, stage_of

PLAN = load_mission("08")
OFFER = {"act": "audit", "value": "6.5 h", "why": "Somebody must finish.", "at": "2026-11-29T14:02:00.000Z"}


def work_json(**changes):
    stage = stage_of(audit_outcome())
    record = saved_work(stage, {"audit": SEALED}, {}, {"audit": "I would migrate."}).model_dump(mode="json")
    return json.dumps(record | changes)


def test_a_prediction_is_sealed_with_its_unit_and_its_time():
    sealed = seal(PLAN, OFFER)
    assert sealed.quantity.to("min").magnitude == pytest.approx(390)
    assert sealed.at.year == 2026


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"value": "6 GPU"}, "prediction"),
        ({"value": "6"}, "prediction"),
        ({"value": "-6 h"}, "prediction"),
        ({"value": "nan h"}, "prediction"),
        ({"value": "inf h"}, "prediction"),
        ({"value": "6 weeks"}, "prediction"),
        ({"value": "soon"}, "prediction"),
        ({"why": 7}, "why"),
        ({"at": "yesterday"}, "at"),
        ({"mood": "good"}, "mood"),
        ({"why": "half \ud800"}, "why"),
        ({"why": "x" * 4001}, "4,000 characters"),
    ],
)
def test_a_prediction_that_makes_no_sense_names_its_field(change, said):
    with pytest.raises(InvalidInput, match=said) as raised:
        seal(PLAN, OFFER | change)
    assert "\n" not in str(raised.value)


def test_a_prediction_for_no_act_is_refused():
    with pytest.raises(UnknownName, match="no act 'encore'"):
        seal(PLAN, OFFER | {"act": "encore"})


@pytest.mark.parametrize("offer", [None, [], "6 h", 6])
def test_a_prediction_that_is_no_record_is_refused(offer):
    with pytest.raises(InvalidInput, match="prediction"):
        seal(PLAN, offer)


def test_saved_work_comes_back_as_it_was():
    content = work_json()
    work, sentence = opened(PLAN, visit(PLAN), "work.json", content)
    assert json.loads(work.model_dump_json()) == json.loads(content)
    assert work.returned.outcome["big_job"]["job"] == 70123
    assert "fleet_map" not in work.returned.outcome
    assert sentence == "Opened work.json: levers, 1 sealed and 1 written."


def test_before_the_seal_what_is_saved_has_nothing_of_the_outcome():
    assert saved_work(stage_of(sealed=None), {}, {}, {}).returned is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"lab": "02"}, "this work is of lab 02, and this page of lab 08"),
        (
            {"student": "ada"},
            r"of student ada, and this page of student guest\. Open the lab with \?student=ada first",
        ),
        ({"seed": 99}, "of seed 99"),
        ({"levers": {"policy": "lottery"}}, "lever policy: 'lottery' is not accepted"),
        ({"levers": {"evict": 1}}, "evict"),
        ({"levers": {"warp": True}}, "no lever 'warp'"),
        ({"version": 2}, "version"),
        ({"sealed": {"audit": OFFER | {"value": "6 GPU"}}}, "prediction"),
        ({"rationale": {"audit": "x" * 4001}}, "4,000 characters"),
        ({"grade": 1}, "grade"),
        ({"rationale": {"audit": "half \ud800"}}, "surrogate"),
        ({"rationale": {"\ud800": "half"}}, "surrogate"),
        ({"rationale": {"encore": "More."}}, "no act 'encore'"),
        ({"sealed": {"audit": OFFER | {"why": "half \ud800"}}}, "surrogate"),
        ({"sealed": {"gamble": OFFER}}, "the prediction of gamble"),
    ],
)
def test_a_file_that_does_not_fit_is_one_sentence_with_its_name(changes, said):
    with pytest.raises(FileProblem, match=said) as raised:
        opened(PLAN, visit(PLAN), "work.json", work_json(**changes))
    assert str(raised.value).startswith("work.json: ") and "\n" not in str(raised.value)


@pytest.mark.parametrize(("content", "line"), [("", 1), ("{\n 'a'", 2), ("\x00", 1)])
def test_a_file_that_is_not_json_says_the_line(content, line):
    with pytest.raises(FileProblem, match=re.escape(f"work.json:{line}: ")):
        opened(PLAN, visit(PLAN), "work.json", content)


def test_work_under_an_older_plan_opens_and_says_so():
    _, sentence = opened(PLAN, visit(PLAN), "work.json", work_json(plan="0123456789abcdef"))
    assert "another version of the mission plan" in sentence


def test_saved_work_is_versioned():
    assert SavedWork.read_json(work_json()).version == 1


def test_what_a_page_sent_that_does_not_fit_costs_only_itself():
    texts = {"audit": "Mine.", "gamble": 5, "rescale": None, "a": "x" * 4001, "b": "\ud800", "c": {"d": 1}}
    levers = {"migrate": True, "evict": 7, "warp": True, "policy": ["fcfs"]}
    work = saved_work(stage_of(audit_outcome()), {"audit": SEALED}, levers, texts)
    assert work.rationale == {"audit": "Mine."}
    assert work.levers == PLAN.start_values("audit")
    assert open_acts(PLAN, {"audit"}, {"audit": 5}) == ["audit"]
