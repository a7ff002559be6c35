"""The widgets from the kernel's side: what they accept from a page, and what they tell it."""

import pytest

from engine.missions import load_mission
from labs.cockpit.modules import module
from labs.cockpit.session import visit
from labs.cockpit.widgets import FleetMap, PredictionForm, Work
from tests.labs.outcomes import audit_outcome
from tests.labs.stages import stage_of
from tests.labs.test_saved import OFFER, work_json

PLAN = load_mission("08")


def test_a_prediction_is_sealed_once():
    form = PredictionForm(PLAN, visit(PLAN))
    form.offers = [OFFER]
    form.offers = [OFFER | {"value": "1 h"}]
    assert form.predictions()["audit"].value == "6.5 h"
    assert form.complaint == ""


@pytest.mark.parametrize("bad", [OFFER | {"value": "nan h"}, OFFER | {"act": "encore"}, {}, "6 h", None])
def test_a_bad_offer_is_told_in_one_sentence_and_seals_nothing(bad):
    form = PredictionForm(PLAN, visit(PLAN))
    form.offers = [bad]
    assert form.predictions() == {}
    assert form.complaint and "\n" not in form.complaint


def test_a_bad_offer_does_not_stop_a_good_one():
    form = PredictionForm(PLAN, visit(PLAN))
    form.offers = [OFFER | {"act": "encore"}, OFFER]
    assert list(form.predictions()) == ["audit"]


class Held:
    job, user, gpus, remaining = 4711, "student 7", 2, "3180 s"


def test_the_map_answers_who_holds_a_gpu_of_the_setting_that_is_shown(monkeypatch):
    monkeypatch.setattr(
        type(audit_outcome()), "occupant", lambda self, frame, gpu: Held if gpu == 9 else None
    )
    fleet = FleetMap()
    fleet.show(stage_of())
    epoch = fleet.picture["epoch"]
    fleet.ask = {"serial": 1, "epoch": epoch, "frame": 3, "gpu": 9}
    assert fleet.answer == {"serial": 1, "sentence": "job 4711 of student 7, 2 GPUs, 53\u00a0min left"}
    fleet.ask = {"serial": 2, "epoch": epoch, "frame": 3, "gpu": 8}
    assert fleet.answer == {"serial": 2, "sentence": ""}


@pytest.mark.parametrize(
    "ask",
    [
        {"frame": -1, "gpu": 9},
        {"frame": 999, "gpu": 9},
        {"frame": 3, "gpu": 10**6},
        {"frame": "3", "gpu": 9},
        {"gpu": 9},
        {"epoch": 0},
    ],
)
def test_the_map_does_not_answer_a_question_that_makes_no_sense(ask):
    fleet = FleetMap()
    fleet.show(stage_of())
    fleet.ask = {"serial": 1, "epoch": fleet.picture["epoch"]} | ask
    assert fleet.answer == {}


def test_a_sealed_map_answers_nothing():
    fleet = FleetMap()
    fleet.show(stage_of(sealed=None))
    fleet.ask = {"serial": 1, "epoch": 1, "frame": 3, "gpu": 9}
    assert fleet.answer == {} and fleet.picture == {}


def test_opening_a_file_gives_its_pieces_or_the_sentence_why_not():
    work = Work(PLAN, visit(PLAN))
    work.opened = {"serial": 1, "name": "work.json", "text": work_json()}
    assert set(work.answer["pieces"]) == {"levers", "sealed", "rationale"}
    work.opened = {"serial": 2, "name": "work.json", "text": "{"}
    assert work.answer["pieces"] is None and work.answer["sentence"].startswith("work.json:1: ")


def test_a_sentence_about_half_a_surrogate_pair_can_be_sent():
    work = Work(PLAN, visit(PLAN))
    work.opened = {"serial": 1, "name": "work.json", "text": work_json(**{"\ud800": 1})}
    assert work.answer["pieces"] is None and work.answer["sentence"].encode()


def test_a_script_carries_what_it_imports():
    script = module("heatmap.js")
    assert 'from "data:text/javascript;base64,' in script and 'from "./' not in script
