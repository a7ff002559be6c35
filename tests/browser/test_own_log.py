"""A student brings a job log: the act is played on it, and a log that cannot be used changes nothing."""

from tests.engine.scenarios.test_audit_log_of_jobs import swf

CRISIS = "[data-zone=brief]"


def choose(lab, folder, content, name="own.swf"):
    path = folder / name
    path.write_bytes(content)
    lab.page.locator("[data-zone=lever] .fl-own-log input[type=file]").set_input_files(path)


def test_the_crisis_is_told_of_the_log_and_the_students_come_back(lab, tmp_path):
    choose(lab, tmp_path, swf(6000, 100))
    lab.page.locator(CRISIS, has_text="logged jobs").wait_for()
    lab.seal()
    lab.page.locator("[data-zone=map]").wait_for()
    lab.page.get_by_role("button", name="Back to the students").click()
    lab.page.locator(CRISIS, has_text="student jobs").wait_for()
    lab.page.locator("form.fl-prediction").wait_for()  # the prediction was about the log


def test_a_log_that_is_too_short_is_refused_and_the_students_stay(lab, tmp_path):
    choose(lab, tmp_path, swf(3000, 20))
    lab.page.locator(".fl-own-log [role=alert]", has_text="the act needs 62 h").wait_for()
    assert lab.page.locator("[data-zone=notice]").is_hidden()
    assert "student jobs" in lab.page.locator(CRISIS).inner_text()
