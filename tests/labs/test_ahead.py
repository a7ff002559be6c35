"""Settings are played ahead once for all sessions, and are then at hand."""

from engine.missions import load_mission
from labs.cockpit import ahead
from labs.cockpit.session import visit
from labs.cockpit.stage import run

PLAN = load_mission("08")


def test_every_setting_of_act_one_is_played_once_for_a_plan(monkeypatch):
    played = []
    monkeypatch.setattr(ahead, "run", lambda act, who, levers: played.append(levers))
    monkeypatch.setattr(ahead, "PAUSE_S", 0)
    monkeypatch.setattr(ahead, "_begun", set())
    assert ahead.play_ahead(PLAN, visit(PLAN, {"seed": 5})) is None  # a variant is somebody's own
    here = visit(PLAN, {})
    thread = ahead.play_ahead(PLAN, here)
    thread.join(10)
    assert len(played) == 3 * 2 * 2
    assert len({tuple(sorted(levers.items())) for levers in played}) == 12
    assert ahead.play_ahead(PLAN, here) is None


def test_an_outcome_that_was_played_ahead_is_the_one_that_a_session_gets():
    act, here = PLAN.act("audit"), visit(PLAN, {"seed": 5})
    levers = PLAN.start_values("audit")
    assert run(act, here, levers) is run(act, here, dict(levers))


def test_an_act_with_many_settings_is_not_played_ahead():
    assert ahead.settings(PLAN, PLAN.act("gamble")) == []
