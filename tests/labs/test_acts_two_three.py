"""Acts II and III on screen: numbers are the engine's, both writers draw all charts, acts open in order."""

from datetime import UTC, datetime
from itertools import pairwise, product

import pytest

from engine.missions import load_mission
from engine.reliability.checkpoint import goodput
from engine.scenarios.checkpoint_gamble import CheckpointGambleScenario
from labs.cockpit.audit import known_events, log
from labs.cockpit.charts import Axis, Chart, Mark, label_sides
from labs.cockpit.fleet_map import fleet_panel, picture
from labs.cockpit.formula import formula_panel
from labs.cockpit.plotly_charts import figure
from labs.cockpit.progress import LEAST_WORDS, open_acts
from labs.cockpit.saved import SealedPrediction, seal
from labs.cockpit.session import visit
from labs.cockpit.stage import play, set_scene
from labs.cockpit.svg_charts import svg
from labs.cockpit.telemetry import cards, charts
from labs.cockpit.views import view

PLAN = load_mission("08")
VISIT = visit(PLAN)
GUESS = {"gamble": "20 min", "rescale": "90 %"}
RESPONSES, LAYOUTS = PLAN.levers["response"].values, PLAN.levers["layout"].values


def stage(act, sealed=True, opened=None, **levers):
    guess = SealedPrediction(act=act, value=GUESS[act], why="it must", at=datetime(2026, 1, 1, tzinfo=UTC))
    scene = set_scene(PLAN, VISIT, act, {act: guess} if sealed else {}, opened)
    return play(scene, levers)


def series(chart, name):
    return next(one for one in chart.series if one.name == name)


def points(chart, name):
    return next(one for one in chart.points if one.name == name)


# ---- acts open in order ----


def test_an_act_opens_once_the_one_before_is_sealed_and_argued_for():
    enough = " ".join(["word"] * LEAST_WORDS)
    assert open_acts(PLAN, {}, {}) == ["audit"]
    assert open_acts(PLAN, {}, {"audit": enough}) == ["audit"]
    assert open_acts(PLAN, {"audit"}, {"audit": "too few words"}) == ["audit"]
    assert open_acts(PLAN, {"audit"}, {"audit": f"  {enough}\n"}) == ["audit", "gamble"]
    assert open_acts(PLAN, {"audit", "gamble"}, {"audit": enough, "gamble": enough}) == [
        "audit",
        "gamble",
        "rescale",
    ]


def test_an_act_whose_prediction_is_sealed_stays_open_when_the_text_before_it_is_removed():
    assert open_acts(PLAN, {"audit", "gamble"}, {}) == ["audit", "gamble"]


def test_a_locked_act_is_not_played_and_shows_nothing():
    locked = stage("gamble", sealed=False, opened=["audit"])
    assert locked.waits_for.id == "audit" and not (locked.ready or locked.asks or locked.open)
    assert locked.outcome is None and known_events(locked) == ()
    assert not stage("gamble", sealed=False, opened=["audit", "gamble"]).open
    assert stage("gamble", sealed=False, opened=["audit", "gamble"]).asks
    assert stage("gamble", sealed=True, opened=["audit"]).open  # sealed once, open for good


def test_each_act_has_the_seed_of_its_own_settings_unless_the_visit_asks_for_another():
    own, other = PLAN.act("gamble").settings["seed"], visit(PLAN, {"seed": "9"})
    played = set_scene(PLAN, VISIT, "gamble", {}).as_found
    assert played.strip == CheckpointGambleScenario(seed=own).outcome().strip
    assert own != VISIT.seed  # Act I has another
    played = set_scene(PLAN, other, "gamble", {}).as_found
    assert played.strip == CheckpointGambleScenario(seed=9).outcome().strip


# ---- before the seal ----


@pytest.mark.parametrize("act", ["gamble", "rescale"])
def test_nothing_of_the_outcome_before_the_seal(act):
    one = stage(act, sealed=False)
    assert (cards(one), dict(charts(one)), formula_panel(one), picture(one, 1)) == ("", {}, "", {})
    events = known_events(one)
    assert 0 < len(events) < len(one.as_found.events)
    later = [event.sentence for event in one.as_found.events if event not in events]
    assert later and not any(sentence in log(one) for sentence in later)


def test_the_spike_does_not_say_how_many_replicas_it_broke():
    assert "replica" not in log(stage("rescale", sealed=False))
    assert "Broken replicas: 2 of 10" in log(stage("rescale"))


@pytest.mark.parametrize(
    ("act", "good", "bad"),
    [("gamble", "20 min", "20 %"), ("gamble", "900 s", "1 d"), ("rescale", "90 %", "90 min")],
)
def test_a_prediction_is_sealed_in_the_units_of_its_act(act, good, bad):
    offer = {"act": act, "why": "so", "at": "2026-01-01T00:00:00Z"}
    assert seal(PLAN, offer | {"value": good}).act == act
    with pytest.raises(ValueError, match="prediction"):
        seal(PLAN, offer | {"value": bad})


# ---- Act II ----


@pytest.mark.parametrize("interval", ["30 s", "15 min", "1 h", "24 h"])
def test_the_curve_is_the_engines(interval):
    one = stage("gamble", interval=interval)
    outcome, chart = one.outcome, view(one.act).charts(one.outcome)["goodput_curve"]
    exact = series(chart, "exact")
    assert exact.x == outcome.curve.intervals
    assert exact.y == tuple(100 * value for value in outcome.curve.goodput)
    here, best = points(chart, "you are here"), points(chart, "best")
    assert here.x == (outcome.interval.m_as("s"),)
    assert here.y[0] == pytest.approx(100 * goodput(interval, "40 s", "3 h", "300 s"))
    assert best.x[0] == pytest.approx(903.04, abs=0.01) and best.y[0] == pytest.approx(89.128, abs=1e-3)
    (band,) = chart.bands
    assert (band.low, band.high) == pytest.approx((553.62, 1463.17), abs=0.01)
    assert band.low < best.x[0] < band.high
    assert {mark.x for mark in chart.marks} == {here.x[0], best.x[0]}
    assert chart.x.log and chart.x.low == 30 and chart.x.high == 86400


def test_the_first_order_curve_fades_where_it_is_wrong_and_is_not_drawn_below_zero():
    one = stage("gamble")
    curve, chart = one.outcome.curve, view(one.act).charts(one.outcome)["goodput_curve"]
    holding, fading = series(chart, "first order"), series(chart, "first order, wrong")
    for at, holds in enumerate(curve.first_order_holds):
        assert (holding.y[at] is not None) == holds
        if not holds:
            assert (fading.y[at] is None) == (curve.first_order[at] < 0)
    drawn = [y for one in (holding, fading) for y in one.y if y is not None]
    assert min(drawn) >= 0 and any(first < 0 for first in curve.first_order)
    assert holding.style != fading.style


def test_simulated_points_carry_their_bands():
    one = stage("gamble")
    found, shown = (
        one.outcome.simulated,
        points(view(one.act).charts(one.outcome)["goodput_curve"], "simulated, 95 %"),
    )
    assert shown.x == found.intervals and shown.y == tuple(100 * value for value in found.goodput)
    assert all(low < y < high for low, y, high in zip(shown.low, shown.y, shown.high, strict=True))


@pytest.mark.parametrize("interval", ["30 s", "15 min", "24 h"])
def test_the_strip_accounts_for_every_minute_of_the_run(interval):
    one = stage("gamble", interval=interval)
    chart = view(one.act).charts(one.outcome)["run_strip"]
    spans = sorted(span for lane in chart.lanes for span in lane.spans)
    assert spans[0][0] == 0 and spans[-1][1] == chart.x.high == 12
    assert all(end == pytest.approx(start) for (_, end), (start, _) in pairwise(spans))
    (failures,) = chart.points
    assert failures.x == tuple(moment / 3_600_000 for moment in one.outcome.strip.failures)
    labels = dict(chart.y.ticks)
    assert [labels[lane.y] for lane in chart.lanes] == ["work", "write", "lost", "restart"]


def test_cards_and_words_say_what_the_interval_costs_against_the_best():
    one = stage("gamble", interval="1 h")
    found = {card.name: card for card in view(one.act).cards(one.outcome, PLAN, one.act)}
    assert str(found["goodput"].shown) == "80.9\u00a0%" and "89.1\u00a0%" in found["goodput"].aside
    assert found["goodput"].goal.limit == 0.8
    assert "97.2\u00a0k$/day" in found["tco"].aside
    assert found["wait"].shown.number == "n/a" and found["wait"].places is None
    remark = view(one.act).charts(one.outcome)["goodput_curve"].remark
    assert "32,392\u00a0GPU-h/day" in remark and "97.2\u00a0k$/day" in remark and "too rarely" in remark
    assert "32,392 GPU-hours, 97,175 $" in log(one)


def test_the_formulas_carry_the_numbers_of_the_setting():
    said = {
        term.label: term.value for term in view(stage("gamble").act).formula(stage("gamble").outcome).terms
    }
    assert said["Best interval"] == "15.1\u00a0min" and said["Young’s rule"] == "15.5\u00a0min"
    assert said["Goodput"] == "80.9\u00a0%" and said["First order"].startswith("79.4")
    short = stage("gamble", interval="30 s")
    assert "−36.2\u00a0%, wrong" in formula_panel(short)


def test_the_map_has_the_shape_of_the_job_and_opens_at_the_first_failure():
    one = stage("gamble")
    shown = picture(one, 3)
    assert (shown["shape"]["nodes"], one.outcome.fleet_map.shape.columns) == (2048, 128)
    node = one.outcome.strip.failed_nodes[0]
    assert one.outcome.fleet_map.state(shown["shown"], 8 * node) == 2
    assert "work lost later" in fleet_panel(one)


# ---- Act III ----


@pytest.mark.parametrize(("response", "layout"), list(product(RESPONSES, LAYOUTS)))
def test_ring_and_timeline_are_the_engines(response, layout):
    one = stage("rescale", response=response, layout=layout)
    outcome, found = one.outcome, view(one.act).charts(one.outcome)
    ring, timeline = found["ring"], found["throughput"]
    remade = series(ring, "made anew")
    assert remade.x.count(None) == len(outcome.ring_after.remade)
    links = len(outcome.ring_before.links) + len(outcome.ring_after.links)
    assert series(ring, "link").x.count(None) == links - remade.x.count(None)
    broken = [group for group in ring.points if group.name == "broken"]
    assert sum(len(group.x) for group in broken) == (outcome.damage.lost if response == "elastic" else 0)
    for name in ("elastic", "wait", "spares"):
        engine = outcome.responses.named(name)
        (line,) = (one for one in timeline.series if one.name.startswith(f"{name}: "))
        corners = list(zip(line.x, line.y, strict=True))
        for moment, level in zip(engine.moments, engine.throughput, strict=True):
            assert (pytest.approx(moment / 3600), pytest.approx(100 * level)) in corners
        if name == response:
            halo = series(timeline, "your choice")
            assert (halo.x, halo.y) == (line.x, line.y)


def test_the_point_of_the_act_is_on_the_page():
    said = str(formula_panel(stage("rescale"))).replace("\u00a0", " ")
    for share, words in (
        ("0.8 %", "one replica"),
        ("7.8 %", "ten replicas"),
        ("10.0 %", "one-node replicas"),
    ):
        assert words in said and share in said
    one_node = stage("rescale", layout="8x1x100")
    assert str(view(one_node.act).shown(one_node.outcome, "capacity")) == "90.0\u00a0%"
    assert PLAN.badges["capacity"].judge(one_node.outcome.capacity) is True
    assert PLAN.badges["capacity"].judge(stage("rescale").outcome.capacity) is False


def test_a_gpu_says_which_replica_it_works_for():
    one = stage("rescale", response="spares", layout="8x10x10")
    words = view(one.act).occupant
    assert words(one.outcome, 2, 0) == "replica 0 of 10"
    assert words(one.outcome, 2, 8 * 45) == "replica 4 of 10"
    assert "spare" in words(one.outcome, 2, 800)


def test_no_colour_without_a_meaning_in_the_legend():
    assert 'hidden><i class="fl-key fl-key-big">' in fleet_panel(stage("rescale"))


# ---- both writers ----


def every_setting():
    yield from (("gamble", {"interval": step}) for step in ("30 s", "15 min", "24 h"))
    yield from (("rescale", {"response": r, "layout": lay}) for r, lay in product(RESPONSES, LAYOUTS))


@pytest.mark.parametrize(("act", "levers"), list(every_setting()))
def test_both_writers_draw_every_chart_with_words(act, levers):
    for name, chart in charts(stage(act, **levers)).items():
        assert chart.name == name and chart.unit and chart.remark and chart.alt
        drawn = svg(chart)
        assert chart.alt.split(".")[0] in drawn and drawn.count("<svg") == 1 and "nan" not in drawn
        traces = figure(chart).to_dict()["data"]
        assert len(traces) == len(chart.series) + len(chart.points) + len(chart.lanes)
        assert drawn.count("fl-svg-lane") == len(chart.lanes)
        assert drawn.count("<title>") == sum(len(group.x) for group in chart.points)


def test_a_label_grows_into_the_plot():
    def sides(*places, log=False):
        axis = Axis(label="x", low=1 if log else 0, high=100, ticks=(), log=log)
        marks = tuple(Mark(x=x, label="here") for x in places)
        return label_sides(Chart(name="a", title="a", unit="a", remark="a", alt="a", x=axis, marks=marks))

    assert sides() == []
    assert sides(40, 60) == ["left", "right"] and sides(60, 40) == ["right", "left"]
    assert sides(40, 95) == ["left", "left"] and sides(5, 60) == ["right", "right"]
    assert sides(10, 90, log=True) == ["left", "left"]


def test_on_a_logarithmic_axis_plotly_wants_annotations_in_decades():
    chart = charts(stage("gamble", interval="15 min"))["goodput_curve"]
    layout = figure(chart).to_dict()["layout"]
    places = {note["text"]: note["x"] for note in layout["annotations"]}
    assert places["<b>you 15\u00a0min</b>"] == pytest.approx(2.9542, abs=1e-4)  # log10 of 900 s
    assert any(shape["x0"] == 900 for shape in layout["shapes"])
