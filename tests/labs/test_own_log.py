"""A job log in place of the students: what is read, what is refused, and what it changes."""

import pytest

from engine.missions import load_mission
from labs.cockpit.own_log import log_choice, read_own_log
from labs.cockpit.saved import opened
from labs.cockpit.session import visit
from labs.cockpit.stage import play, run, saved_work, set_scene
from tests.engine.scenarios.test_audit_log_of_jobs import swf

PLAN = load_mission("08")
GUEST = visit(PLAN, {})


def chosen(content, name="own.swf"):
    return {"name": name, "text": content.decode()}


@pytest.fixture(scope="module")
def own():
    shares = []
    log, complaint = read_own_log(PLAN, chosen(swf(6000, 100)), shares.append)
    assert complaint == ""
    assert shares == sorted(shares) and shares[-1] == 1
    return log


def test_the_act_is_played_on_the_log_and_the_other_acts_are_not(own):
    on_log = GUEST.variant(log=own)
    levers = PLAN.start_values("audit")
    assert run(PLAN.act("audit"), on_log, levers).noun == "logged job"
    assert run(PLAN.act("audit"), GUEST, levers).noun == "small student job"
    gamble = PLAN.start_values("gamble")
    assert run(PLAN.act("gamble"), on_log, gamble) == run(PLAN.act("gamble"), GUEST, gamble)


def test_the_crisis_is_told_of_the_log(own):
    assert "logged jobs" in set_scene(PLAN, GUEST.variant(log=own), "audit", {}).act.crisis


def test_predictions_on_a_log_are_kept_apart_from_those_on_the_students(own):
    assert GUEST.variant(log=own).home == f"{GUEST.home}:log-{own.digest}"


def test_nothing_chosen_is_the_students_again():
    assert read_own_log(PLAN, {}, lambda share: None) == (None, "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "own.swf"),
        (b"<script>alert(1)</script>", "own.swf"),
        (swf(3000, 20), "the act needs 62 h"),
        (swf(200, 100), "must fill 10 nodes"),
        (b"\x00\x01 broken\n" * 50, "own.swf"),
    ],
)
def test_a_log_that_cannot_be_used_is_refused_in_one_sentence_and_the_students_stay(text, said):
    log, complaint = read_own_log(PLAN, chosen(text), lambda share: None)
    assert log is None
    assert said in complaint and complaint.endswith("The students stay.")


def test_half_a_surrogate_pair_in_a_log_is_one_more_broken_line():
    text = swf(6000, 100).decode().replace("\n3000 ", "\n\ud800 ")
    log, complaint = read_own_log(PLAN, {"name": "own\ud800.swf", "text": text}, lambda share: None)
    assert complaint == "" and log is not None
    assert log.summary.startswith("own?.swf") and "5,999 jobs" in log.summary


def test_a_broken_line_costs_only_itself():
    content = swf(6000, 100).replace(b"\n3000 ", b"\nnonsense ")
    log, complaint = read_own_log(PLAN, chosen(content), lambda share: None)
    assert complaint == ""
    assert "5,999 jobs" in log.summary


def test_a_hostile_file_name_is_escaped(own):
    log, _ = read_own_log(PLAN, chosen(swf(6000, 100), "<img src=x onerror=alert(1)>"), lambda share: None)
    assert "<img" not in str(log_choice(PLAN.act("audit"), log))
    assert str(log_choice(PLAN.act("gamble"), own)) == ""
    assert "<img" not in str(log_choice(PLAN.act("audit"), None, "<img src=x onerror=alert(1)>"))


def test_what_a_log_must_be_is_said_before_one_is_chosen():
    assert "at least 62\u00a0h of submissions" in str(log_choice(PLAN.act("audit"), None))


def test_work_on_a_log_opens_only_on_the_same_log(own):
    on_log = GUEST.variant(log=own)
    stage = play(set_scene(PLAN, on_log, "audit", {}), {})
    file = saved_work(stage, {}, {}, {}).model_dump_json()
    assert opened(PLAN, on_log, "work.json", file)[0].log == own.digest
    with pytest.raises(ValueError, match="another job log, or on none"):
        opened(PLAN, GUEST, "work.json", file)
