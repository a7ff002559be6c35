"""Until a prediction is sealed, nothing computed from the act's outcome is in the page or was sent to it."""

from engine.missions import load_mission
from engine.scenarios.fragmentation_audit import FragmentationAuditScenario
from labs.cockpit import view_audit
from labs.cockpit.audit_words import arrival

PLAN = load_mission("08")
ACT = PLAN.act("audit")
START = PLAN.start_values("audit")


def outcome():
    return FragmentationAuditScenario(**ACT.settings, **START).outcome()


def plain(text):
    return text.replace("\u00a0", " ").replace("\\u00a0", " ")


def told_later(found):
    """Texts that only the outcome knows: what happens after the crisis, and what the cards will say."""
    after = [event.sentence for event in found.events if event.hours > arrival(found)]
    cards = [str(card.shown) for card in view_audit.cards(found, PLAN, ACT)]
    return [plain(text) for text in after + cards]


def test_nothing_of_the_outcome_is_on_the_page_or_in_what_was_sent_to_it(lab):
    later = told_later(outcome())
    assert len(later) > 10
    page, sent = plain(lab.text()), plain("".join(str(frame) for frame in lab.received))
    for text in later:
        assert text not in page
        assert text not in sent
    assert lab.epoch() == 0
    assert lab.page.locator(".fl-card, .js-plotly-plot").count() == 0
    assert '"frames"' not in sent and '"retained"' not in sent


def test_badges_are_not_yet_known_and_levers_are_inert(lab):
    assert lab.badges() == {
        "fragmentation": ("unknown", "not yet known"),
        "sla": ("unknown", "not yet known"),
        "goodput": ("later", "judged in Act II"),
    }
    assert lab.page.locator("[data-zone=lever] .fl-levers").get_attribute("inert") is not None
    policy = lab.page.locator("[data-zone=lever] [data-name=policy] input:checked")
    assert policy.evaluate("e => { e.focus(); return e.getRootNode().activeElement === e; }") is False


def test_the_log_ends_at_the_crisis(lab):
    found = outcome()
    known = [event.sentence for event in found.events if event.hours <= arrival(found)]
    assert 0 < len(known) < len(found.events)
    assert [plain(line) for line in lab.log()] == [plain(text) for text in reversed(known)]


def test_the_crisis_is_told_in_the_numbers_of_the_fleet_as_found(lab):
    said = plain(lab.page.locator(".fl-crisis").inner_text())
    found = outcome()
    for number in (found.small_jobs_as_found, found.idle_as_found, found.big_job.gpus):
        assert f"{number:,}" in said


def test_a_sealed_prediction_stands_beside_the_engine_and_cannot_be_changed(lab):
    lab.seal("6,5", "h", "Half a day is too long.")
    found = outcome()
    verdict = plain(lab.page.locator(".fl-verdict").inner_text())
    assert "6.5 h" in verdict
    assert plain(str(view_audit.shown(found, "wait"))) in verdict
    assert lab.page.locator("form.fl-prediction").count() == 0
    sealed = lab.stored("sealed")["audit"]
    assert (sealed["value"], sealed["why"]) == ("6.5 h", "Half a day is too long.")
    assert sealed["at"]

    lab.page.evaluate(
        """() => { for (const key of Object.keys(localStorage)) if (key.endsWith(":sealed")) {
            const pieces = JSON.parse(localStorage[key]); pieces.audit.value = "1 h";
            const newValue = JSON.stringify(pieces);
            window.dispatchEvent(new StorageEvent("storage", { key, newValue })); } }"""
    )
    lab.press("migrate")
    assert "6.5 h" in plain(lab.page.locator(".fl-verdict").inner_text())


def test_a_prediction_that_is_no_number_is_told_beside_the_field(lab):
    form = lab.page.locator("form.fl-prediction")
    for bad in ("", "six", "NaN", "-3", "1e9", "6 h"):
        form.locator("[name=value]").fill(bad)
        form.locator("button").click()
        said = form.locator(".fl-error").inner_text()
        assert "Your prediction" in said and (f"“{bad}”" in said if bad else "“" not in said)
    form.locator("[name=value]").fill("6")
    form.locator("[name=why]").fill(" ")
    form.locator("button").click()
    assert form.locator(".fl-error").inner_text() == "Because: give your reason in one sentence."
    assert lab.stored("sealed") is None
    assert lab.epoch() == 0


def test_a_locked_act_says_what_it_will_ask_and_shows_nothing(lab):
    lab.seal()
    for act in PLAN.acts[1:]:
        lab.choose_act(act.id)
        coming = lab.page.locator("[data-zone=coming]")
        coming.get_by_text(act.title).wait_for()
        said = coming.inner_text()
        assert "It will ask:" in said
        assert act.prediction.ask.split("{")[0] in said
        assert "{" not in lab.page.locator("[data-zone=brief]").inner_text()
        for zone in ("cards", "map", "chart"):
            assert lab.page.locator(f"[data-zone={zone}]").is_hidden()
    lab.choose_act("audit")
    lab.page.locator("[data-zone=coming]").wait_for(state="hidden")
    lab.page.locator("[data-zone=map]").wait_for()
