"""Acts II and III, played in a real browser by keyboard: what is on the page is what the engine returns."""

import pytest

from engine.scenarios.checkpoint_gamble import CheckpointGambleScenario
from engine.scenarios.elastic_rescale import ElasticRescaleScenario
from labs.cockpit import view_gamble, view_rescale
from tests.browser.acts import PLAN, argue, ask, choose, predict, reach, settle, slide, type_value
from tests.browser.test_levers import PALETTE, cell_centres, close, plain

SCENARIOS = {
    "gamble": (CheckpointGambleScenario, view_gamble),
    "rescale": (ElasticRescaleScenario, view_rescale),
}


def outcome_of(act, **levers):
    scenario, _ = SCENARIOS[act]
    return scenario(**PLAN.act(act).settings, **(PLAN.start_values(act) | levers)).outcome()


def check_cards(lab, act, outcome):
    _, view = SCENARIOS[act]
    expected = {card.name: plain(str(card.shown)) for card in view.cards(outcome, PLAN, PLAN.act(act))}
    assert {name: plain(said) for name, said in lab.cards().items()} == expected
    return expected


def check_charts(lab, act, outcome):
    _, view = SCENARIOS[act]
    for name, chart in view.charts(outcome).items():
        drawn = lab.plotted(name)
        lanes = drawn[: len(chart.lanes)]
        for lane, trace in zip(chart.lanes, lanes, strict=True):
            assert trace["x"].count(None) == len(lane.spans)
        for one, trace in zip((*chart.series, *chart.points), drawn[len(chart.lanes) :], strict=True):
            close(trace["x"], one.x)
            close(trace["y"], one.y)


def check_map(lab, outcome, view):
    fleet, frame = outcome.fleet_map, int(lab.canvas.get_attribute("data-frame"))
    assert frame == view.shown_frame(outcome)
    check_frame(lab, fleet, frame)


def check_frame(lab, fleet, frame):
    colours, shape = cell_centres(lab), fleet.shape
    assert len(colours) == shape.columns * shape.rows
    wrong = []
    for gpu in range(shape.gpus):
        column, row = shape.cell(gpu)
        state, seen = fleet.state(frame, gpu), tuple(colours[row * shape.columns + column])
        if seen != PALETTE[state] and not (state == 2 and seen[0] > 190):  # a cross covers a failed cell
            wrong.append((gpu, state, seen))
    assert wrong == []


def check_log(lab, outcome):
    assert [plain(line) for line in lab.log()] == [
        plain(event.sentence) for event in reversed(outcome.events)
    ]


# ---- acts open in order ----


def test_acts_open_in_order_and_a_locked_one_says_what_opens_it(lab):
    tab = lab.page.locator(".fl-act[data-act=gamble]")
    assert tab.get_attribute("data-state") == "locked" and "locked" in tab.inner_text()
    assert "Act I is done" in tab.get_attribute("title")
    predict(lab, "audit")
    lab.choose_act("gamble")
    coming = lab.page.locator("[data-zone=coming]")
    coming.get_by_text("Act I comes first").wait_for()
    assert "at least 5 words" in coming.inner_text()
    assert lab.page.locator("form.fl-prediction").count() == 0

    lab.choose_act("audit")
    coming.wait_for(state="hidden")
    lab.page.locator("[data-zone=why] textarea").fill("Too few words")
    lab.page.locator(".fl-saved[data-state=kept]").wait_for()
    assert tab.get_attribute("data-state") == "locked"
    argue(lab, "gamble")
    assert "locked" not in tab.inner_text() and not tab.get_attribute("title")
    ask(lab, "gamble")
    assert lab.page.locator(".fl-act[data-act=rescale]").get_attribute("data-state") == "locked"


# ---- before the seal ----


@pytest.mark.parametrize("act", ["gamble", "rescale"])
def test_nothing_of_the_outcome_is_on_the_page_or_sent_before_the_seal(lab, act):
    reach(lab, act)
    _, view = SCENARIOS[act]
    outcome = outcome_of(act)
    sent_before = len(lab.received)
    lab.choose_act("audit")
    settle(lab, "audit")
    ask(lab, act)
    known = view.crisis_hours(outcome)
    later = [event.sentence for event in outcome.events if event.hours > known]
    later += [str(card.shown) for card in view.cards(outcome, PLAN, PLAN.act(act)) if card.value]
    later += [chart.alt for chart in view.charts(outcome).values()]
    page = plain(lab.text())
    sent = plain("".join(str(frame) for frame in lab.received[sent_before:])).replace("\\u00a0", " ")
    for text in map(plain, later):
        assert text not in page
        assert text not in sent
    assert {met for met, _ in lab.badges().values()} == {"unknown"}
    for zone in ("cards", "map", "chart", "formula"):
        assert lab.page.locator(f"[data-zone={zone}]").is_hidden()
    assert lab.page.locator("[data-zone=lever] .fl-levers").get_attribute("inert") is not None
    assert lab.page.locator(".fl-formula, .fl-card, .js-plotly-plot").count() == 0


# ---- Act II ----


def test_the_golden_interval_is_found_by_keyboard(lab):
    reach(lab, "gamble")
    predict(lab, "gamble")
    start = outcome_of("gamble")
    check_cards(lab, "gamble", start)
    assert {name: met for name, (met, _) in lab.badges().items()} == {
        "goodput": "true",
        "best_goodput": "false",
    }
    first = plain(lab.log()[0])
    assert "32,392 GPU-hours, 97,175 $" in first and "15.1 min" in first

    steps = PLAN.levers["interval"].steps
    assert slide(lab, "interval", steps.index("15 min") - steps.index("1 h")) == "15 min"
    settle(lab, "gamble", interval="15 min")
    golden = outcome_of("gamble", interval="15 min")
    assert lab.badges()["best_goodput"][0] == lab.badges()["goodput"][0] == "true"
    check_cards(lab, "gamble", golden)
    check_charts(lab, "gamble", golden)
    check_map(lab, golden, view_gamble)
    check_log(lab, golden)
    assert "GPU-hours" in lab.log()[0] and "$, a day" in plain(lab.log()[0])

    assert slide(lab, "interval", -len(steps)) == "30 s"
    settle(lab, "gamble", interval="30 s")
    assert {met for met, _ in lab.badges().values()} == {"false"}
    delta = lab.page.locator("[data-card=goodput] .fl-delta")
    assert delta.inner_text().startswith("▼") and delta.get_attribute("data-good") == "false"


@pytest.mark.parametrize("lever", list(PLAN.act("gamble").levers))
def test_each_lever_of_act_two_moves_what_the_plan_names(lab, lever):
    reach(lab, "gamble")
    predict(lab, "gamble")
    moves, before = PLAN.act("gamble").levers[lever], outcome_of("gamble")
    was = check_cards(lab, "gamble", before)
    value = slide(lab, lever, -1)
    settle(lab, "gamble", **{lever: value})
    after = outcome_of("gamble", **{lever: value})
    now = check_cards(lab, "gamble", after)
    assert {name for name in now if now[name] != was[name]} == set(moves.cards)
    assert set(view_gamble.charts(after)) == set(moves.charts)
    check_charts(lab, "gamble", after)
    check_log(lab, after)
    check_map(lab, after, view_gamble)
    assert not moves.map or before.fleet_map.cells != after.fleet_map.cells


def test_the_map_of_act_two_is_the_engines_at_every_moment(lab):
    reach(lab, "gamble")
    predict(lab, "gamble")
    fleet = outcome_of("gamble").fleet_map
    moment = lab.page.locator("[data-zone=map] input[aria-label=Moment]")
    moment.focus()
    moment.press("Home")
    for frame in range(6):
        lab.page.wait_for_function(
            "([canvas, frame]) => Number(canvas.dataset.frame) === frame",
            arg=[lab.canvas.element_handle(), frame],
        )
        check_frame(lab, fleet, frame)
        moment.press("ArrowRight")
    assert len({fleet.state(frame, 0) for frame in range(6)}) > 1


def test_a_typed_value_snaps_to_the_nearest_step(lab):
    reach(lab, "gamble")
    predict(lab, "gamble")
    for typed in ("17 min", "0,3 h", "1000 s"):
        assert type_value(lab, "interval", typed) == (
            PLAN.levers["interval"].snap(typed.replace(",", ".")),
            "",
        )
    settle(lab, "gamble", interval="16 min")
    assert type_value(lab, "write_bandwidth", "130 GB/s") == ("120 GB/s", "")
    settle(lab, "gamble", interval="16 min", write_bandwidth="120 GB/s")
    for wrong in ("soon", "20 min", "-3 GB/s"):
        kept, error = type_value(lab, "write_bandwidth", wrong)
        assert kept == wrong and wrong in error and "10 GB/s" in error
    lab.shows({"interval": "16 min", "write_bandwidth": "120 GB/s"}, "gamble")


def test_the_formula_opens_with_the_seal_and_follows_the_lever(lab):
    reach(lab, "gamble")
    predict(lab, "gamble")
    formula = lab.page.locator("[data-zone=formula]")
    assert "15.1 min" in plain(formula.inner_text()) and "80.9 %" in plain(formula.inner_text())
    slide(lab, "interval", -1)
    settle(lab, "gamble", interval="50 min")
    assert "τ interval 50 min" in plain(formula.inner_text())
    goodput = plain(str(view_gamble.shown(outcome_of("gamble", interval="50 min"), "goodput")))
    assert goodput in plain(formula.inner_text())


# ---- Act III ----


def test_each_response_shows_the_timeline_that_the_engine_returns(lab):
    reach(lab, "rescale")
    predict(lab, "rescale")
    start = outcome_of("rescale")
    check_map(lab, start, view_rescale)
    moves = PLAN.act("rescale").levers["response"]
    seen = {"elastic": check_cards(lab, "rescale", start)}
    for response in ("wait", "spares", "elastic"):
        choose(lab, "response", response)
        settle(lab, "rescale", response=response)
        outcome = outcome_of("rescale", response=response)
        seen[response] = check_cards(lab, "rescale", outcome)
        check_charts(lab, "rescale", outcome)
        check_map(lab, outcome, view_rescale)
        check_log(lab, outcome)
        halo = lab.plotted("throughput")[0]
        engine = outcome.responses.named(response)
        corners = list(zip(halo["x"], halo["y"], strict=True))
        for moment, level in zip(engine.moments, engine.throughput, strict=True):
            assert (pytest.approx(moment / 3600), pytest.approx(100 * level)) in corners
    changed = {name for name in seen["wait"] if seen["wait"][name] != seen["elastic"][name]}
    assert changed == set(moves.cards) and set(view_rescale.charts(start)) == set(moves.charts)


def test_the_layout_decides_how_much_is_left_and_turns_the_badge(lab):
    reach(lab, "rescale")
    predict(lab, "rescale")
    before = check_cards(lab, "rescale", outcome_of("rescale"))
    assert lab.badges()["capacity"][0] == "false" and "80" in lab.badges()["capacity"][1]
    choose(lab, "layout", "8x1x100")
    settle(lab, "rescale", layout="8x1x100")
    outcome = outcome_of("rescale", layout="8x1x100")
    assert lab.badges()["capacity"][0] == "true" and "90" in lab.badges()["capacity"][1]
    check_charts(lab, "rescale", outcome)
    check_map(lab, outcome, view_rescale)
    after = check_cards(lab, "rescale", outcome)
    moves = PLAN.act("rescale").levers["layout"]
    assert {name for name in after if after[name] != before[name]} == set(moves.cards)
    said = plain(lab.page.locator("[data-zone=formula]").inner_text())
    for share in ("0.8 %", "7.8 %", "10.0 %"):
        assert share in said


# ---- what was typed and chosen survives ----


def test_every_act_comes_back_after_a_reload(lab):
    predict(lab, "audit")
    lab.press("migrate")
    lab.shows(PLAN.start_values("audit") | {"migrate": True})
    argue(lab, "gamble")
    ask(lab, "gamble")
    predict(lab, "gamble")
    slide(lab, "interval", -3)
    settle(lab, "gamble", interval="40 min")
    argue(lab, "rescale", "Forty minutes, since the fleet fails every 3 h.")
    lab.reload()
    settle(lab, "gamble", interval="40 min")
    assert "30 min" in plain(lab.page.locator(".fl-verdict").inner_text())
    slide(lab, "interval", -1)  # a lever that is moved after the reload must not forget those of Act I
    settle(lab, "gamble", interval="35 min")
    ask(lab, "rescale")
    predict(lab, "rescale")
    choose(lab, "response", "wait")
    settle(lab, "rescale", response="wait")
    lab.page.locator("[data-zone=why] textarea").fill("Waiting pays when the repair is quick.")
    lab.page.locator(".fl-saved[data-state=kept]").wait_for()
    lab.reload()
    settle(lab, "rescale", response="wait")
    area = lab.page.locator("[data-zone=why] textarea")
    assert area.input_value() == "Waiting pays when the repair is quick."
    lab.choose_act("gamble")
    settle(lab, "gamble", interval="35 min")
    lab.page.wait_for_function("area => area.value.startsWith('Forty')", arg=area.element_handle())
    lab.choose_act("audit")
    settle(lab, "audit", migrate=True)
    assert {act: one["value"] for act, one in lab.stored("sealed").items()} == {
        "audit": "6 h",
        "gamble": "30 min",
        "rescale": "90 %",
    }
