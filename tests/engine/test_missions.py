import math
import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from engine.errors import InvalidInput, NoAnswer, PlanError, UnknownName
from engine.facts import fact
from engine.missions import RangeLever, load_mission, missions, parse_mission
from engine.paths import shipped
from engine.scenarios.audit_outcome import FragmentationAuditOutcome
from engine.scenarios.gamble_outcome import CheckpointGambleOutcome
from engine.scenarios.registry import SCENARIOS
from engine.scenarios.rescale_outcome import ElasticRescaleOutcome
from engine.units import Quantity

FILE = "08_fleet_orch.md"
TEXT = shipped("mission_plans", FILE).read_text(encoding="utf-8")


def read(text):
    return parse_mission(text.encode(), FILE)


def changed(old, new, within=TEXT):
    assert within.count(old) >= 1, old
    return within.replace(old, new, 1)


def line_of(part, text=TEXT):
    return text[: text.index(part)].count("\n") + 1


# ---- the plan of Lab 08 ----


def test_lab_08_holds_all_three_acts_from_the_start():
    plan = load_mission("08")
    assert (plan.title, plan.persona.name) == ("The Fragmentation War", "Cloud Titan")
    assert [(act.number, act.title, act.minutes) for act in plan.acts] == [
        ("I", "Fragmentation Audit", 15),
        ("II", "Checkpoint Gamble", 15),
        ("III", "Elastic Rescale", 15),
    ]
    assert [card.label for card in plan.cards.values()] == ["Cluster MFU", "Goodput", "Wait Time", "TCO"]
    assert plan.topics == ("cluster scheduling", "resource fragmentation", "fault tolerance")
    assert [plan.file, len(plan.digest)] == [FILE, 16]
    assert plan.body.startswith("# The Fragmentation War")


def test_the_example_in_the_documentation_is_true():
    import doctest

    import engine.missions

    assert doctest.testmod(engine.missions) == (0, 2)


def test_badges_turn_at_the_limits_that_the_mission_asks_for():
    badges = load_mission("08").badges
    assert badges["fragmentation"].judge(Quantity(19.9, "%")) is True
    assert badges["fragmentation"].judge(0.20) is False
    assert badges["fragmentation"].judge(None) is None
    assert badges["sla"].judge("4 h") is True
    assert badges["sla"].judge(Quantity(241, "min")) is False
    assert badges["goodput"].judge(0.80) is False
    assert badges["goodput"].judge(0.801) is True
    assert badges["best_goodput"].judge(0.98) is True
    assert badges["best_goodput"].judge(0.979) is False
    with pytest.raises(InvalidInput):
        badges["sla"].judge(0.5)


def test_the_goodput_badge_is_shown_in_act_one_and_belongs_to_act_two():
    plan = load_mission("08")
    assert "goodput" in plan.act("audit").badges
    assert plan.judged_in("goodput").number == "II"
    assert plan.judged_in("sla").number == "I"


def test_levers_open_where_the_mission_says():
    plan = load_mission("08")
    assert plan.start_values("audit") == {"policy": "fcfs", "evict": False, "migrate": False}
    assert plan.start_values("gamble")["interval"] == "1 h"
    assert plan.levers["policy"].values == ("fcfs", "best-fit", "preemption")
    interval = plan.levers["interval"]
    assert (interval.seconds[0], interval.seconds[-1]) == (30, 86_400)
    first, last = interval.band_span
    assert (interval.steps[first], interval.steps[last]) == ("1 h", "24 h")


def test_steps_of_the_interval_are_round_and_grow_evenly_on_a_logarithmic_slider():
    seconds = load_mission("08").levers["interval"].seconds
    ratios = [after / before for before, after in pairwise(seconds)]
    assert all(1 < ratio <= 1.5 for ratio in ratios)


def exact_goodput(tau, write, mtbf, restart):
    return tau / (mtbf * math.exp(restart / mtbf) * math.expm1((tau + write) / mtbf))


def best_interval(write, mtbf):
    low, high = 1e-3, mtbf  # d/dtau of the exact goodput is zero where 1 - tau/M = exp(-(tau + write)/M)
    for _ in range(80):
        tau = (low + high) / 2
        low, high = (tau, high) if 1 - tau / mtbf > math.exp(-(tau + write) / mtbf) else (low, tau)
    return low


@pytest.mark.parametrize("mtbf_hours", [1.5, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("write", [10, 20, 30, 40, 60, 90, 120, 150, 200, 240, 300])
def test_at_least_five_steps_are_within_two_per_cent_of_the_best_goodput(write, mtbf_hours):
    mtbf = mtbf_hours * 3600
    best = exact_goodput(best_interval(write, mtbf), write, mtbf, 300)
    steps = load_mission("08").levers["interval"].seconds
    assert sum(exact_goodput(tau, write, mtbf, 300) >= 0.98 * best for tau in steps) >= 5


def test_the_best_interval_of_the_lab_is_not_on_the_slider_of_today():
    interval = load_mission("08").levers["interval"]
    assert best_interval(40, 10_800) == pytest.approx(903.043, abs=1e-3)
    assert exact_goodput(3600, 40, 10_800, 300) < 0.98 * exact_goodput(903.043, 40, 10_800, 300)
    assert interval.band_span[0] == interval.steps.index("1 h")


def test_sentences_state_no_number_but_through_the_scenarios_words():
    for plan in missions():
        for act in plan.acts:
            for sentence in act.sentences.values():
                assert not re.search(r"\d", re.sub(r"\{\w+\}", "", sentence)), sentence


def outcome_of(act_id, **moved):
    plan = load_mission("08")
    act = plan.act(act_id)
    values = plan.start_values(act_id) | moved
    return SCENARIOS[act.scenario].scenario()(**act.settings, **values).outcome()


def crisis_of(act_id):
    act = load_mission("08").act(act_id)
    return act.told(SCENARIOS[act.scenario].said(outcome_of(act_id))).crisis


def test_the_crisis_is_told_in_the_numbers_of_the_scenario():
    found = outcome_of("audit")
    assert f"{found.small_jobs_as_found:,} small student jobs" in crisis_of("audit")
    assert f"Job {found.big_job.job}, high priority, needs 1,000 GPUs on 125 whole" in crisis_of("audit")
    assert f"{found.idle_as_found:,} GPUs are idle" in crisis_of("audit")
    assert "175 billion parameters holds all 16,384 GPUs" in crisis_of("gamble")
    assert "every 3 h. A checkpoint took 40 s" in crisis_of("gamble")
    assert "kills 10 of the job's 100 nodes at once" in crisis_of("rescale")


CARDS = {"mfu": "cluster_mfu", "goodput": "goodput", "wait": "wait", "tco": "tco"}
MOVES = [(act, lever) for act in load_mission("08").acts for lever in act.levers]


@pytest.mark.parametrize(("act", "lever"), MOVES, ids=[f"{act.id}-{lever}" for act, lever in MOVES])
def test_one_step_of_a_lever_moves_the_cards_and_the_map_that_the_plan_names(act, lever):
    values = load_mission("08").levers[lever].values
    start = values.index(load_mission("08").start_values(act.id)[lever])
    before, after = outcome_of(act.id), outcome_of(act.id, **{lever: values[(start + 1) % len(values)]})
    entry, moves = SCENARIOS[act.scenario], act.levers[lever]
    shown = {card: value for card, value in CARDS.items() if value in entry.values}
    moved = {card for card, value in shown.items() if entry.value(before, value) != entry.value(after, value)}
    assert moved == set(moves.cards)
    assert (before.fleet_map.cells != after.fleet_map.cells) == moves.map


def test_one_node_replicas_reach_the_capacity_that_the_mission_asks_for():
    plan = load_mission("08")
    met = {
        layout: plan.badges["capacity"].judge(outcome_of("rescale", layout=layout).capacity)
        for layout in plan.levers["layout"].values
    }
    assert met == {"8x1x100": True, "8x4x25": False, "8x10x10": False, "8x25x4": False}


def test_the_briefing_states_assumptions_as_the_facts_have_them():
    body = load_mission("08").body
    for name in ("fleet.migration_pause", "fleet.student_run_median", "fleet.repair_time_median"):
        assert f"{fact(name).value:g} {fact(name).unit}" in body
    for name in ("fleet.mean_load", "fleet.migration_tax", "fleet.job_mfu", "fleet.daily_swing"):
        assert f"{100 * fact(name).value:g} %" in body
    for name in ("elastic_detection", "elastic_rendezvous", "elastic_process_start", "lab_restart"):
        assert f"{fact('reliability.' + name).value:g} s" in body
    assert f"{fact('fleet.node_failure_rate').value} per 1,000 node-days" in body
    first, dead = fact("rescale.first_dead_node").value, fact("rescale.dead_nodes").value
    assert f"nodes {first:g} to {first + dead - 1:g}" in body


def test_the_rubric_asks_for_the_four_things_of_a_good_rationale():
    rubric = load_mission("08").rubric
    assert [item.check for item in rubric] == ["interval", "mttf", "tradeoff", "optimum"]
    assert [item.tolerance for item in rubric] == [0.15, None, None, None]
    assert {item.act for item in rubric} == {"gamble"}


# ---- what an instructor may do without Python ----


def test_a_changed_threshold_changes_badge_and_label_and_digest():
    plan = read(changed("below: 20 %", "below: 35 %"))
    assert plan.badges["fragmentation"].label == "Fragmentation < 35 %"
    assert plan.badges["fragmentation"].judge(0.30) is True
    assert plan.digest != load_mission("08").digest


def test_a_limit_may_be_a_bare_number_or_another_unit():
    assert read(changed("below: 20 %", "below: 0.35")).badges["fragmentation"].judge(0.30) is True
    assert read(changed("at_most: 4 h", "at_most: 90 min")).badges["sla"].judge("2 h") is False


def test_line_endings_and_a_byte_order_mark_do_not_matter():
    assert (
        parse_mission(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode(), FILE).title
        == load_mission("08").title
    )


# ---- what is refused, with file and line ----

MISTAKES = {
    "unknown key of the plan": ("invariant: ", "invariants: ", "unknown key 'invariants'"),
    "unknown key deep inside": ("    below: 20 %", "    under: 20 %", "unknown key 'under'"),
    "unknown key of a lever": ("    hint: Kill small", "    tip: Kill small", "unknown key 'tip'"),
    "lever that the plan does not have": ("      evict: {cards", "      evicted: {cards", "'evicted'"),
    "lever that the scenario does not have": ("      interval: {cards", "      policy: {cards", "'policy'"),
    "card that the plan does not have": ("  tco: {label: TCO", "  tcx: {label: TCO", "'tco'"),
    "card that nobody computes": ("cards: [mfu, goodput, tco]", "cards: [mfu, gooodput]", "'gooodput'"),
    "chart that nobody draws": ("[through_time, price]", "[through_time, prize]", "'prize'"),
    "badge that the plan does not have": (
        "badges: [fragmentation, sla",
        "badges: [fragmented, sla",
        "'fragmented'",
    ),
    "badge that no outcome computes": ("value: share_of_best", "value: share_of_worst", "'share_of_worst'"),
    "badge of an act that is not": ("    act: 3", "    act: 4", "no act 4"),
    "fact that is not": ("- fleet.mean_load", "- fleet.mean_lode", "'fleet.mean_lode'"),
    "scenario that is not": (
        "scenario: checkpoint_gamble",
        "scenario: checkpoint_gambol",
        "'checkpoint_gambol'",
    ),
    "setting that is not": ("settings: {seed: 8}", "settings: {seeds: 8}", "'seeds'"),
    "prediction of nothing": ("value: best_interval", "value: worst_interval", "'worst_interval'"),
    "prediction in a wrong unit": ("units: [s, min, h]", "units: [s, kg, h]", "'kg'"),
    "prediction in no unit": ("units: [min, h]", "units: [min, '2 h +']", "'2 h +'"),
    "placeholder that nobody fills": ("{idle} GPUs are idle", "{idol} GPUs are idle", "'idol'"),
    "placeholder that reaches inside": ("{idle} GPUs are idle", "{idle.real} GPUs are idle", "'idle.real'"),
    "placeholder with a format": ("{idle} GPUs are idle", "{idle:>9} GPUs are idle", "'idle:>9'"),
    "brace without a partner": ("{idle} GPUs are idle", "{idle GPUs are idle", "partner"),
    "limit in a wrong unit": ("at_most: 4 h", "at_most: 4 GPU", "4 GPU"),
    "limit that is no quantity": ("at_most: 4 h", "at_most: four hours", "'four hours'"),
    "limit that is not a number": ("below: 20 %", "below: .nan", "nan"),
    "limit below zero": ("at_most: 4 h", "at_most: -4 h", "-4 h"),
    "step in a wrong unit": ("      - 45 s", "      - 45 GB", "45 GB"),
    "step that is no quantity": ("      - 45 s", "      - soon", "'soon'"),
    "steps that shrink": ("      - 45 s", "      - 20 s", "20 s"),
    "start that is no step": ("    start: 1 h", "    start: 59 min", "'59 min'"),
    "start that is no option": ("    start: fcfs", "    start: lifo", "'lifo'"),
    "start that is no switch": ("    start: false", "    start: perhaps", "perhaps"),
    "kind of lever that is not": ("kind: switch", "kind: button", "button"),
    "minutes that are words": ("minutes: 15", "minutes: quarter", "quarter"),
    "two acts of one name": ("- id: rescale", "- id: gamble", "two acts 'gamble'"),
    "rubric of an act that is not": ("    act: gamble", "    act: gambling", "'gambling'"),
    "check that nobody makes": ("check: optimum", "check: vibes", "'vibes'"),
    "the same key twice": (
        "title: The Fragmentation War",
        "title: One\ntitle: Two",
        "'title' is there twice",
    ),
    "broken YAML": ("topics: [cluster scheduling,", "topics: [cluster scheduling, {", "not YAML"),
    "a tab for indentation": ("  name: Cloud Titan", "\tname: Cloud Titan", "not YAML"),
    "an anchor that is used": ("topics: [cluster", "topics: &t [*t, cluster", "aliases"),
    "a tag": ("title: The Fragmentation War", "title: !!python/name:os.system x", "cannot be read"),
    "a lab that is no number": ('lab: "08"', 'lab: ".*"', "two digits"),
    "a name that is no word": ("  - id: audit", "  - id: The Audit", "small letters"),
    "a digest of its own": ("title: The Fragmentation War", "title: x\ndigest: x", "unknown key 'digest'"),
    "a notebook elsewhere": ("notebook: 08_fleet_orch", "notebook: ../../etc/passwd", "notebook"),
    "a notebook of another lab": (
        "notebook: 08_fleet_orch",
        "notebook: 07_fleet_orch",
        "such as 08_fleet_orch",
    ),
}


@pytest.mark.parametrize(("old", "new", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_sentence_with_file_and_line(old, new, said):
    text = changed(old, new)
    with pytest.raises(PlanError) as caught:
        read(text)
    message = str(caught.value)
    assert message.startswith(f"{FILE}:{caught.value.fields['line']}: ")
    assert said in message
    assert "\n" not in message
    assert "pydantic" not in message


EXACT_LINES = [
    "unknown key deep inside",
    "lever that the plan does not have",
    "badge that no outcome computes",
    "fact that is not",
    "limit in a wrong unit",
    "limit that is no quantity",
    "step that is no quantity",
    "start that is no step",
    "placeholder that nobody fills",
    "minutes that are words",
    "prediction in a wrong unit",
    "check that nobody makes",
    "step in a wrong unit",
    "steps that shrink",
    "kind of lever that is not",
]


@pytest.mark.parametrize("mistake", EXACT_LINES)
def test_the_line_is_where_the_mistake_stands(mistake):
    old, new, _ = MISTAKES[mistake]
    text = changed(old, new)
    with pytest.raises(PlanError) as caught:
        read(text)
    assert caught.value.fields["line"] == line_of(new, text)


def test_a_missing_key_names_the_part_it_is_missing_from():
    text = changed("    value: wait\n    at_most", "    at_most")
    with pytest.raises(PlanError, match="'value' is missing") as caught:
        read(text)
    assert caught.value.fields["line"] == line_of("  sla:", text)


def test_a_badge_needs_exactly_one_limit():
    with pytest.raises(PlanError, match="exactly one"):
        read(changed("below: 20 %", "below: 20 %\n    above: 10 %"))
    with pytest.raises(PlanError, match="exactly one"):
        read(changed("    below: 20 %\n", ""))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no front matter"),
        (b"# A title\n", "no front matter"),
        (b"---\ntitle: x\n", "no end"),
        (b"---\n- a\n- b\n---\n", "not a list of keys"),
        (b"---\n---\n", "not a list of keys"),
        (b"---\ntitle: \xff\n---\n", "UTF-8"),
        (b"---\n1: x\n---\n", "not a word"),
        (b"---\na: " + b"[" * 5000 + b"\n---\n", "nested too deeply"),
        (b"---\na: \x00\n---\n", "not YAML"),
    ],
)
def test_a_file_that_is_no_plan_is_refused(content, said):
    with pytest.raises(PlanError, match=said):
        parse_mission(content, "x.md")


def test_aliases_cannot_blow_up_the_reader():
    rows = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60)]
    with pytest.raises(PlanError, match="aliases"):
        parse_mission("\n".join(["---", *rows, "---"]).encode(), "x.md")


@examples(max_examples=60)
@given(st.data())
def test_a_plan_with_a_line_gone_or_doubled_loads_or_says_where(data):
    lines = TEXT.split("\n")
    number = data.draw(st.integers(0, len(lines) - 1))
    lines[number : number + 1] = [lines[number]] * data.draw(st.sampled_from([0, 2]))
    try:
        read("\n".join(lines))
    except PlanError as error:
        assert 1 <= error.fields["line"] <= len(lines) + 1


@pytest.mark.parametrize("lab", ["99", "", "../08", "08_fleet_orch", "/etc/passwd", "0*"])
def test_only_a_labs_number_opens_a_plan(lab):
    with pytest.raises(UnknownName, match="08"):
        load_mission(lab)


def test_an_act_that_is_not_there_is_named():
    with pytest.raises(UnknownName, match="audit, gamble, rescale"):
        load_mission("08").act("encore")


# ---- typed values ----

INTERVAL = load_mission("08").levers["interval"]


@given(st.floats(1e-3, 1e7))
def test_a_typed_value_snaps_to_the_step_nearest_by_ratio(seconds):
    snapped = Quantity(INTERVAL.snap(Quantity(seconds, "s"))).m_as("s")
    ratio = max(seconds / snapped, snapped / seconds)
    assert all(ratio <= max(seconds / step, step / seconds) * (1 + 1e-12) for step in INTERVAL.seconds)


@pytest.mark.parametrize("step", INTERVAL.steps)
def test_a_step_snaps_to_itself_in_any_unit(step):
    assert INTERVAL.snap(f"{Quantity(step).m_as('min')} min") == step


@pytest.mark.parametrize("typed", ["", "soon", "0 s", "-5 min", "nan s", "inf h", "3 GB", "17", True])
def test_a_typed_value_that_is_no_time_is_refused(typed):
    with pytest.raises(InvalidInput):
        INTERVAL.snap(typed)


def test_a_lever_in_bytes_per_second_has_no_seconds():
    lever = load_mission("08").levers["write_bandwidth"]
    assert isinstance(lever, RangeLever)
    assert (lever.unit, lever.magnitudes[0]) == ("byte/s", 1e10)
    with pytest.raises(InvalidInput):
        _ = lever.seconds


def test_the_storage_of_act_two_opens_at_the_measured_write_time():
    size = fact("reliability.lab_parameters").quantity * fact("reliability.lab_bytes_per_parameter").quantity
    bandwidth = Quantity(load_mission("08").levers["write_bandwidth"].start)
    assert (size / bandwidth).m_as("s") == pytest.approx(fact("reliability.bloom_write_time").value)


# ---- the registry keeps its word ----

OUTCOMES = {
    "fragmentation_audit": FragmentationAuditOutcome,
    "checkpoint_gamble": CheckpointGambleOutcome,
    "elastic_rescale": ElasticRescaleOutcome,
}


def test_every_scenario_has_an_outcome_to_check():
    assert set(OUTCOMES) == set(SCENARIOS)


@pytest.mark.parametrize("name", OUTCOMES)
def test_every_value_is_a_field_of_the_outcome(name):
    for value in SCENARIOS[name].values.values():
        model = OUTCOMES[name]
        *outer, last = value.attribute.split(".")
        for part in outer:
            model = model.model_fields[part].annotation
        assert last in model.model_fields


@pytest.mark.parametrize("entry", SCENARIOS.values(), ids=lambda entry: entry.name)
def test_levers_and_settings_are_fields_of_the_scenario(entry):
    assert set(entry.levers) | set(entry.settings) <= set(entry.scenario().model_fields)


def test_a_scenario_without_an_engine_says_so():
    closed = replace(SCENARIOS["elastic_rescale"], path="")
    assert not closed.ready
    with pytest.raises(NoAnswer, match="'elastic_rescale' cannot be run yet"):
        closed.scenario()


def test_a_value_that_no_outcome_computes_is_named():
    with pytest.raises(UnknownName, match="fragmentation"):
        SCENARIOS["fragmentation_audit"].value(None, "happiness")
