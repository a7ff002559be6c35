"""A reload and a server restart in the middle of typing lose nothing."""

import pytest

from tests.browser.lab_server import LabServer

TEXT = "I would migrate: 598 jobs pay 10 % of what they have left"
LEVERS = {"policy": "best-fit", "evict": False, "migrate": True}


@pytest.fixture
def own_lab(chromium_path):
    server = LabServer().start()
    yield server
    server.stop()


def area(lab):
    return lab.page.locator("[data-zone=why] textarea")


def text_is(lab, text):
    lab.until("(area, text) => area.value === text", "textarea", text)


def work_a_while(lab):
    lab.seal("6", "h", "Somebody must finish first.")
    lab.press("policy")
    lab.press("migrate")
    lab.shows(LEVERS)


def check_everything_is_back(lab, text):
    lab.opened()
    lab.shows(LEVERS)
    text_is(lab, text)
    assert "6 h" in lab.page.locator(".fl-verdict").inner_text().replace("\u00a0", " ")
    assert lab.page.locator("[data-name=policy] input:checked").get_attribute("value") == "best-fit"
    assert lab.page.locator("[data-name=migrate] input").is_checked()
    assert not lab.page.locator("[data-name=evict] input").is_checked()


def test_a_reload_in_the_middle_of_a_word_loses_nothing(lab):
    work_a_while(lab)
    cards, log = lab.cards(), lab.log()
    area(lab).press_sequentially(TEXT)
    lab.reload()  # at once: the pause after the last key has not passed
    check_everything_is_back(lab, TEXT)
    assert lab.cards() == cards
    assert lab.log() == log


def test_a_prediction_that_is_half_typed_survives_a_reload(lab):
    form = lab.page.locator("form.fl-prediction")
    form.locator("[name=value]").fill("90")
    form.locator("[name=unit]").select_option("min")
    form.locator("[name=why]").fill("because of the ho")
    lab.reload()
    form.wait_for()
    assert form.locator("[name=value]").input_value() == "90"
    assert form.locator("[name=unit]").input_value() == "min"
    assert form.locator("[name=why]").input_value() == "because of the ho"


def test_a_server_restart_in_the_middle_of_typing_loses_nothing(visit, own_lab):
    lab = visit(own_lab).open()
    work_a_while(lab)
    half = len(TEXT) // 2
    area(lab).press_sequentially(TEXT[:half])
    own_lab.stop()
    area(lab).press_sequentially(TEXT[half:])
    own_lab.start()
    lab.reload()
    check_everything_is_back(lab, TEXT)


def test_after_a_restart_the_open_page_goes_on_by_itself(visit, own_lab):
    lab = visit(own_lab).open()
    work_a_while(lab)
    area(lab).press_sequentially(TEXT)
    own_lab.stop()
    own_lab.start()
    lab.page.locator("[data-zone=why] textarea").wait_for()
    check_everything_is_back(lab, TEXT)


def test_two_students_in_one_browser_do_not_see_each_others_work(visit, served_lab):
    lab = visit(served_lab).open("?student=ada")
    area(lab).fill("Ada's text")
    lab.reload()
    text_is(lab, "Ada's text")
    lab.open("?student=ben")
    text_is(lab, "")
    keys = lab.page.evaluate("Object.keys(localStorage)")
    assert any(
        key.startswith("fleetlab:08:") and ":ada:" in key and key.endswith(":rationale") for key in keys
    )
    lab.open("?student=ada")
    text_is(lab, "Ada's text")


def test_another_seed_is_another_variant_with_a_prediction_of_its_own(visit, served_lab):
    lab = visit(served_lab).open()
    lab.seal()
    lab.open("?seed=9")
    lab.page.locator("form.fl-prediction").wait_for()
    assert lab.epoch() == 0
