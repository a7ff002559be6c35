"""The zones as functions: what they say, that it is escaped, that numbers have units, what a seal hides."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.facts import fact
from engine.missions import load_mission
from labs.cockpit.audit import known_events, log
from labs.cockpit.brief import crisis, prediction_form
from labs.cockpit.charts import Chart
from labs.cockpit.fleet_map import compressed, fleet_panel, picture
from labs.cockpit.header import act_tabs, badge_states, badges, title
from labs.cockpit.levers import fact_list, lever_panel
from labs.cockpit.rationale import rationale_box, work_strip
from labs.cockpit.saved import SealedPrediction
from labs.cockpit.telemetry import caption, cards, charts
from tests.labs.outcomes import SMALL, audit_outcome
from tests.labs.stages import SEALED, stage_of
from tests.labs.test_markup import read

HOSTILE = '</p><script>alert("x")</script><img src=x onerror=alert(1)> & \'"'
UNIT = re.compile(
    r"%|min|h\b|s\b|GPU|\$|node|job|event|rack|day|points|Act|Lab|Rack|per |of|Job|:|in |\bto\b"
)


def all_zones(stage):
    plan = stage.plan
    parts = [
        title(plan),
        act_tabs(plan),
        badges(stage),
        crisis(stage),
        prediction_form(stage),
        lever_panel(plan, stage.act),
        fact_list(stage.act),
        cards(stage),
        fleet_panel(stage),
        log(stage),
        rationale_box(stage),
        work_strip(),
        *(caption(chart) for chart in charts(stage).values()),
    ]
    return "".join(str(part) for part in parts)


OUTCOMES = {
    "waits": audit_outcome(),
    "starts at once": audit_outcome(wait_h=0.0, kills=438),
    "after a pause": audit_outcome(wait_h=1 / 6, moves=598),
    "censored": audit_outcome(wait_h=48.0, censored=True),
    "full fleet": audit_outcome(fragmentation=None),
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_no_zone_shows_a_nan_an_infinity_or_a_python_word(name):
    stage = stage_of(OUTCOMES[name])
    words = read(all_zones(stage)).words
    assert not re.search(r"\b(nan|inf|None|True|False|null|undefined)\b", words)
    assert "{" not in words


@given(words=st.text(min_size=1, max_size=40))
@settings(max_examples=30)
def test_nothing_that_was_typed_or_computed_becomes_a_tag(words):
    hostile = HOSTILE + words
    sealed = SealedPrediction(act="audit", value="6 h", why=hostile, at=SEALED.at)
    stage = stage_of(audit_outcome(sentence=hostile), sealed=sealed, complaint=hostile)
    names = {name for name, _ in read(all_zones(stage)).tags}
    assert not names & {"script", "img"}
    for _, attributes in read(all_zones(stage)).tags:
        assert not any(name.startswith("on") for name in attributes)


def test_a_hostile_event_is_read_back_as_it_was():
    assert HOSTILE in read(log(stage_of(audit_outcome(sentence=HOSTILE)))).words


@pytest.mark.parametrize("name", OUTCOMES)
def test_every_number_on_the_cards_and_the_badges_has_a_unit(name):
    stage = stage_of(OUTCOMES[name])
    for zone in (cards(stage), badges(stage)):
        for piece in re.findall(r">([^<>]*\d[^<>]*)<([^>]*)>([^<]*)", str(zone)):
            text, _, after = piece
            assert UNIT.search(text + after), piece


def test_before_the_seal_no_zone_has_anything_of_the_outcome():
    stage = stage_of(sealed=None)
    assert stage.outcome is None and stage.stamp == ""
    assert cards(stage) == "" and charts(stage) == {} and picture(stage, 1) == {}
    assert [state.met for state in badge_states(stage)] == ["unknown", "unknown", "later"]
    assert all(event.hours <= 14 for event in known_events(stage))
    assert 0 < len(known_events(stage)) < len(stage.as_found.events)
    assert "verdict" not in crisis(stage)
    assert "How long will job 70123 wait" in read(prediction_form(stage)).words


def test_after_the_seal_the_form_is_gone_and_the_prediction_stands_beside_the_engine():
    stage = stage_of(audit_outcome(wait_h=0.0))
    assert prediction_form(stage) == ""
    verdict = read(crisis(stage)).words.replace("\u00a0", " ")
    assert "You predicted6 h" in verdict and "21.6 h" in verdict  # what the engine says when nobody acts


def test_badges_turn_with_the_outcome_and_say_it_in_words():
    missed = badge_states(stage_of(audit_outcome()))
    met = badge_states(stage_of(audit_outcome(wait_h=0.0, fragmentation=0.1)))
    assert [state.met for state in missed] == ["false", "false", "later"]
    assert [state.met for state in met] == ["true", "true", "later"]
    assert {state.verdict for state in met} == {"met", "judged in Act II"}
    unknown = badge_states(stage_of(audit_outcome(fragmentation=None)))[0]
    assert (unknown.met, unknown.value) == ("unknown", "n/a")


@pytest.mark.parametrize(("wait", "met"), [(4.0, "true"), (4.0001, "false")])
def test_the_sla_is_met_at_four_hours_and_not_after(wait, met):
    assert badge_states(stage_of(audit_outcome(wait_h=wait)))[1].met == met


def test_the_cards_say_what_the_outcome_says():
    words = read(cards(stage_of())).words.replace("\u00a0", " ")
    for said in (
        "30.9 %",
        "99.92 %",
        "21.6 h",
        "3.88 $/GPU-h",
        "400 GPU-h lost",
        "163 k$/day wasted",
        "goal 4 h",
    ):
        assert said in words


def test_a_censored_wait_has_no_difference_to_the_one_before():
    tags = read(cards(stage_of(OUTCOMES["censored"]))).tags
    wait = next(
        found for _, found in tags if found.get("class") == "fl-delta" and found["data-card"] == "wait"
    )
    assert wait["data-places"] == "" and wait["data-shown"] == ">\u00a048\u00a0h"


def test_the_log_is_newest_first_with_a_mark_and_a_word():
    words = read(log(stage_of())).words
    assert words.index("starts on nodes") < words.index("asks for 125") < words.index("8,000 GPUs are busy")
    assert "✓ Done" in words and "× Failure" in words


def test_only_levers_that_move_something_in_the_act_are_shown():
    plan = load_mission("08")
    shown = re.findall(r'data-name="(\w+)"', str(lever_panel(plan, plan.act("audit"))))
    assert shown == list(plan.act("audit").levers) == ["policy", "evict", "migrate"]


def test_every_fact_of_the_act_is_shown_with_source_and_mark():
    stage = stage_of()
    words = read(fact_list(stage.act)).words
    for name in stage.act.facts:
        assert fact(name).label in words and fact(name).source in words and fact(name).mark in words


def test_the_picture_takes_its_shape_from_the_outcome_and_is_packed_once():
    stage = stage_of()
    first, second = picture(stage, 1), picture(stage, 2)
    assert first["shape"] == SMALL.model_dump()
    assert first["frames"] is second["frames"] is compressed(stage.outcome.fleet_map.cells)
    size = len(stage.outcome.fleet_map.cells) // len(first["labels"])
    shown = first["shown"]
    assert first["now"] == stage.outcome.fleet_map.cells[shown * size : (shown + 1) * size]


def test_the_map_opens_at_the_start_of_the_big_job_when_that_follows_at_once():
    fleet = OUTCOMES["after a pause"].fleet_map
    assert picture(stage_of(OUTCOMES["waits"]), 1)["shown"] == fleet.after_act
    opened = picture(stage_of(OUTCOMES["after a pause"]), 1)["shown"]
    assert opened > fleet.crisis and fleet.hours[opened] >= 14 + 1 / 6


def test_charts_name_themselves_as_the_plan_does():
    found = charts(stage_of())
    assert set(found) == {
        name for moves in load_mission("08").act("audit").levers.values() for name in moves.charts
    }
    assert all(isinstance(chart, Chart) and chart.name == name for name, chart in found.items())
