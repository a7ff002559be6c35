"""For each lever, one key press changes what the plan names to what the engine returns for those levers."""

import pytest

from engine.missions import load_mission
from engine.scenarios.fragmentation_audit import FragmentationAuditScenario
from labs.cockpit import view_audit

PLAN = load_mission("08")
ACT = PLAN.act("audit")
START = PLAN.start_values("audit")
PALETTE = {0: (255, 255, 255), 1: (18, 160, 122), 2: (198, 40, 40), 3: (30, 67, 128)}


def after_one_press(lever):
    values = PLAN.levers[lever].values
    return START | {lever: values[(values.index(START[lever]) + 1) % len(values)]}


def outcome_of(levers):
    return FragmentationAuditScenario(**ACT.settings, **levers).outcome()


def plain(text):
    return text.replace("\u00a0", " ")


def expected_cards(outcome):
    return {card.name: plain(str(card.shown)) for card in view_audit.cards(outcome, PLAN, ACT)}


def close(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one == (pytest.approx(other, abs=1e-6) if other is not None else None)


def check_charts(lab, outcome, names):
    charts = view_audit.charts(outcome)
    assert set(names) == set(charts)
    for number, series in enumerate(charts["through_time"].series):
        lab.plots("through_time", number, series.says)
    lab.plots("price", 1, [f"{bar.label}: {bar.says}" for bar in charts["price"].bars])
    for series, drawn in zip(charts["through_time"].series, lab.plotted("through_time"), strict=True):
        close(drawn["x"], series.x)
        close(drawn["y"], series.y)
    bars, dots = charts["price"].bars, lab.plotted("price")[1]
    assert dots["y"] == [bar.label for bar in bars]
    close(dots["x"], [max(1.0, bar.value) for bar in bars])
    assert dots["hovertext"] == [f"{bar.label}: {bar.says}" for bar in bars]


def cell_centres(lab):
    """The colour at the centre of every GPU, row by row."""
    return lab.canvas.evaluate(
        """canvas => {
            const side = Number(canvas.dataset.cell), { width, height } = canvas, found = [];
            const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
            for (let y = side >> 1; y < height; y += side) for (let x = side >> 1; x < width; x += side) {
                const at = 4 * (y * width + x);
                found.push([data[at], data[at + 1], data[at + 2]]);
            }
            return found;
        }"""
    )


def check_map(lab, outcome):
    fleet, frame = outcome.fleet_map, int(lab.canvas.get_attribute("data-frame"))
    assert frame == view_audit.shown_frame(outcome)
    colours, shape, wrong = cell_centres(lab), fleet.shape, []
    failed, red = set(), set()
    assert len(colours) == shape.columns * shape.rows
    for gpu in range(shape.nodes * shape.gpus_per_node):
        column, row = shape.cell(gpu)
        state, seen = fleet.state(frame, gpu), tuple(colours[row * shape.columns + column])
        if state == 2:
            failed.add(gpu // shape.gpus_per_node)
        if seen == PALETTE[2]:
            red.add(gpu // shape.gpus_per_node)
        crossed = state == 2 and seen[0] > 190  # a failed node carries a white cross, whose edge is blended
        if seen != PALETTE[state] and not crossed:
            wrong.append((gpu, state, seen))
    assert wrong == []
    assert red == failed  # the cross covers only the middle of a node: some of its GPUs are plainly red


@pytest.mark.parametrize("lever", list(ACT.levers))
def test_one_key_press_moves_what_the_plan_names_to_what_the_engine_returns(lab, lever):
    moves, levers = ACT.levers[lever], after_one_press(lever)
    before, after = outcome_of(START), outcome_of(levers)
    lab.seal()
    lab.shows(START)
    check_map(lab, before)
    assert {name: plain(text) for name, text in lab.cards().items()} == expected_cards(before)

    lab.press(lever)
    lab.shows(levers)
    shown = {name: plain(text) for name, text in lab.cards().items()}
    assert shown == expected_cards(after)
    assert {name for name in shown if shown[name] != expected_cards(before)[name]} == set(moves.cards)
    check_charts(lab, after, moves.charts)
    assert moves.map
    check_map(lab, after)
    assert [plain(line) for line in lab.log()] == [plain(event.sentence) for event in reversed(after.events)]


def test_badges_turn_in_both_directions(lab):
    lab.seal()
    lab.shows(START)
    assert {name: met for name, (met, _) in lab.badges().items()} == {
        "fragmentation": "false",
        "sla": "false",
        "goodput": "later",
    }
    lab.press("migrate")
    lab.shows(START | {"migrate": True})
    turned = lab.badges()
    assert turned["fragmentation"][0] == turned["sla"][0] == "true"
    assert "10 min" in plain(turned["sla"][1]) and "met" in turned["sla"][1]
    lab.press("migrate")
    lab.shows(START)
    again = lab.badges()
    assert again["fragmentation"][0] == again["sla"][0] == "false"
    assert "missed" in again["sla"][1]


def test_a_card_says_what_it_changed_by(lab):
    lab.seal()
    lab.shows(START)
    lab.press("migrate")
    lab.shows(START | {"migrate": True})
    delta = lab.page.locator("[data-card=mfu] .fl-delta")
    before, after = (
        100 * float(outcome_of(levers).cluster_mfu) for levers in (START, START | {"migrate": True})
    )
    assert after > before
    said = delta.inner_text()
    assert said.startswith("▲") and said.endswith("points")
    assert float(said.split()[1]) == pytest.approx(after - before, abs=0.11)
    assert delta.get_attribute("data-good") == "true"


def test_the_page_asks_no_other_machine_but_for_plotlys_mathjax(lab):
    lab.seal()
    outside = {url for url in lab.requests if not url.startswith((lab.url, "data:", "blob:"))}
    assert all("mathjax" in url for url in outside)
    assert [error for error in lab.errors if "ERR_" not in error and "MathJax" not in error] == []


@pytest.mark.parametrize(("lever", "name"), [("evict", "Eviction"), ("migrate", "Migration")])
def test_the_log_opens_on_what_the_student_did(lab, lever, name):
    lab.open()
    lab.seal()
    lab.press(lever)
    lab.shows(START | {lever: True})
    box, event = lab.page.locator(".fl-log"), lab.page.locator(".fl-log li", has_text=name)
    inside, said = box.bounding_box(), event.bounding_box()
    assert inside["y"] <= said["y"] and said["y"] + said["height"] <= inside["y"] + inside["height"]
    assert lab.page.locator(".fl-log li").first.bounding_box()["y"] < inside["y"]  # newer ones are above
    assert lab.page.evaluate("document.scrollingElement.scrollTop") == 0
