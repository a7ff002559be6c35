"""Saving, opening and starting afresh; and what a page says when something stored is broken."""

import json

import pytest

from engine.missions import load_mission
from labs.cockpit.saved import SavedWork
from tests.browser.test_survival import area, text_is

TEXT = 'Killing loses work & <b>migrating</b> taxes "it".'
LEVERS = {"policy": "fcfs", "evict": False, "migrate": True}


def saved(lab):
    with lab.page.expect_download() as download:
        lab.page.locator("[data-do=save]").click()
    return download.value.suggested_filename, download.value.path().read_text(encoding="utf-8")


def open_file(lab, tmp_path, content, name="work.json"):
    file = tmp_path / name
    file.write_text(content, encoding="utf-8")
    lab.page.locator("[data-zone=work] input[type=file]").set_input_files(file)
    lab.until("e => e.textContent && !e.textContent.startsWith('Opening')", ".fl-status")
    return lab.status()


def store(lab, piece, text):
    """Write a raw text where the page keeps a piece."""
    plan = load_mission("08")
    lab.page.evaluate(
        "([key, text]) => localStorage.setItem(key, text)", [f"fleetlab:08:{plan.digest}:guest:{piece}", text]
    )


@pytest.fixture
def worked(lab):
    lab.seal("6", "h", "Somebody must finish first.")
    lab.press("migrate")
    lab.shows(LEVERS)
    area(lab).press_sequentially(TEXT)
    return lab


def test_saved_work_holds_everything_and_reads_back(worked):
    name, content = saved(worked)
    assert name == "fleetlab-08-guest.json"
    work = SavedWork.read_json(content, name)
    assert work.rationale == {"audit": TEXT}
    assert work.levers == LEVERS
    assert work.sealed["audit"].value == "6 h"
    assert (work.lab, work.student, work.seed) == (
        "08",
        "guest",
        load_mission("08").act("audit").settings["seed"],
    )
    assert work.returned.levers == LEVERS
    assert work.returned.outcome["big_job"]["wait"] == "600.0 s"
    assert work.saved_at is not None


def test_before_the_seal_saved_work_holds_nothing_of_the_outcome(lab):
    _, content = saved(lab)
    assert json.loads(content)["returned"] is None


def test_another_browser_opens_saved_work(worked, visit, served_lab, tmp_path):
    _, content = saved(worked)
    other = visit(served_lab).open()
    assert "Opened work.json" in open_file(other, tmp_path, content)
    other.opened()
    other.shows(LEVERS)
    text_is(other, TEXT)
    other.reload()
    text_is(other, TEXT)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "work.json:1"),
        ("[]", "work.json"),
        ('{"version": 1}', "lab"),
        (
            '{"version": 9, "lab": "08", "plan": "", "student": "guest", "seed": 8, "levers": {},'
            '"sealed": {}, "rationale": {}}',
            "version",
        ),
    ],
)
def test_a_file_that_is_no_saved_work_is_one_sentence_and_changes_nothing(lab, tmp_path, content, said):
    area(lab).press_sequentially("kept")
    answer = open_file(lab, tmp_path, content)
    assert said in answer and answer.count("\n") == 0
    assert area(lab).input_value() == "kept"


def test_work_of_another_student_is_refused_by_name(worked, visit, served_lab, tmp_path):
    _, content = saved(worked)
    other = visit(served_lab).open("?student=ada")
    answer = open_file(other, tmp_path, content)
    assert "student guest" in answer and "student ada" in answer


@pytest.mark.parametrize(
    ("piece", "broken"),
    [
        ("rationale", "{broken"),
        ("levers", "[1, 2]"),
        ("sealed", "null"),
        ("draft", "{broken"),
        ("act", "[1, 2]"),
        ("rationale", '{"audit": 5}'),
        ("rationale", '{"audit": null}'),
        ("rationale", '{"audit": {"a": 1}}'),
        ("rationale", json.dumps({"audit": "x" * 5000})),
        ("rationale", '{"__proto__": "one two three four five"}'),
        ("levers", '{"evict": 7}'),
        ("levers", '{"constructor": true}'),
        ("levers", '{"policy": {"a": 1}}'),
        ("draft", '{"audit": {"value": {}, "unit": "h", "why": ""}}'),
        ("sealed", '{"audit": 5}'),
        ("sealed", '{"audit": {"act": "audit", "value": 6, "why": "", "at": ""}}'),
    ],
)
def test_a_stored_piece_that_is_broken_is_set_aside_and_told(lab, piece, broken):
    store(lab, piece, broken)
    lab.reload()
    lab.page.locator("[data-zone=work] .fl-status:not([hidden])").wait_for()
    assert f"The stored {piece} could not be read" in lab.status()
    kept = lab.page.evaluate("Object.entries(localStorage).filter(([key]) => key.includes(':set-aside:'))")
    assert [value for _, value in kept] == [broken]
    assert f":{piece}:set-aside:" in kept[0][0]
    area(lab).fill("The page goes on.")
    lab.page.locator(".fl-saved[data-state=kept]").wait_for()
    assert lab.stored("rationale") == {"audit": "The page goes on."}


def test_a_stored_lever_that_the_plan_does_not_know_is_left_out(lab):
    lab.seal()
    store(lab, "levers", json.dumps({"policy": "lottery", "evict": "maybe", "migrate": True, "warp": "9"}))
    lab.reload()
    lab.opened()
    lab.shows(LEVERS)


def test_what_is_saved_can_be_opened_whatever_is_stored(lab, tmp_path):
    at = "2026-11-29T14:02:00Z"
    store(lab, "levers", json.dumps({"policy": "lottery", "warp": "9", "migrate": True}))
    store(lab, "sealed", json.dumps({"audit": {"act": "audit", "value": "6 GPU", "why": "", "at": at}}))
    store(lab, "rationale", json.dumps({"audit": "half \ud800 a pair", "encore": "More."}))
    _, content = saved(lab)
    assert json.loads(content)["rationale"] == {"audit": "half \ufffd a pair"}
    assert json.loads(content)["sealed"] == {}
    assert "Opened work.json" in open_file(lab, tmp_path, content)


def test_half_a_surrogate_pair_does_not_stop_the_page(lab):
    store(lab, "rationale", json.dumps({"audit": "half \ud800 a pair"}))
    lab.reload()
    text_is(lab, "half \ufffd a pair")
    lab.seal("6", "h", "and \U0001f600")
    lab.press("migrate")
    lab.shows(LEVERS)


def test_opening_a_file_leaves_what_is_sealed_here(worked, tmp_path):
    _, content = saved(worked)
    theirs = json.loads(content)
    theirs["sealed"]["audit"]["value"] = "1 h"
    theirs["rationale"] = {"audit": "Theirs."}
    area(worked).press_sequentially(" And more")  # not kept yet when the file is opened
    said = open_file(worked, tmp_path, json.dumps(theirs))
    assert said.startswith("Opened work.json") and said.endswith("sealed here stays as it was.")
    text_is(worked, "Theirs.")
    assert worked.stored("sealed")["audit"]["value"] == "6 h"
    assert "6 h" in worked.page.locator(".fl-guess").inner_text().replace("\u00a0", " ")
    open_file(worked, tmp_path, json.dumps(theirs | {"rationale": {}}), "second.json")
    assert worked.stored("before-opening")["rationale"] == {"audit": TEXT + " And more"}
    refused = open_file(worked, tmp_path, "{", "third.json")
    assert refused.startswith("third.json:1")


def test_a_page_that_cannot_keep_text_says_so(visit, served_lab):
    lab = visit(served_lab)
    lab.page.add_init_script(
        "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };"
    )
    lab.open()
    area(lab).press_sequentially("not kept")
    lab.page.locator("[data-zone=why] .fl-saved[data-state=blocked]").wait_for()
    assert "does not keep what you type" in lab.status()
    _, content = saved(lab)
    assert SavedWork.read_json(content).rationale == {"audit": "not kept"}


def test_start_fresh_asks_first_and_then_removes_everything(worked):
    work = worked.page.locator("[data-zone=work]")
    work.locator("[data-do=fresh]").click()
    assert "removes your text" in work.locator(".fl-ask").inner_text()
    work.locator("[data-do=keep]").click()
    assert work.locator(".fl-ask").is_hidden()
    assert area(worked).input_value() == TEXT
    work.locator("[data-do=fresh]").click()
    work.locator("[data-do=clear]").click()
    worked.page.locator("form.fl-prediction").wait_for()
    text_is(worked, "")
    assert worked.page.evaluate("Object.keys(localStorage).filter(key => key.startsWith('fleetlab:'))") == []


def test_a_student_name_or_a_seed_that_is_not_accepted_is_one_sentence(visit, served_lab):
    lab = visit(served_lab).open("?student=%3Cscript%3E&seed=NaN")
    said = lab.page.locator("[data-zone=brief] .fl-complaint").inner_text()
    assert "student: '<script>' is not accepted" in said
    assert "seed: 'NaN' is not accepted" in said
