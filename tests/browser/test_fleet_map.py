"""The fleet map: time, pointer, cursor and what it says about a GPU, against the engine."""

from engine.missions import load_mission
from engine.scenarios.fragmentation_audit import FragmentationAuditScenario
from labs.cockpit import view_audit

PLAN = load_mission("08")
ACT = PLAN.act("audit")


def outcome():
    return FragmentationAuditScenario(**ACT.settings, **PLAN.start_values("audit")).outcome()


def at_frame(lab, frame):
    slider = lab.page.locator("[data-zone=map] input[type=range]")
    slider.fill(str(frame))
    lab.page.locator(f"[data-zone=map] canvas[data-frame='{frame}']").wait_for()
    return slider


def frame_with_a_failure(fleet):
    gpus = range(fleet.shape.nodes * fleet.shape.gpus_per_node)
    return next(
        (frame, gpu) for frame in range(len(fleet.labels)) for gpu in gpus if fleet.state(frame, gpu) == 2
    )


def pixel(lab, x, y):
    """The colour of the canvas at a point given in cells."""
    return lab.canvas.evaluate(
        """(canvas, [x, y]) => { const side = Number(canvas.dataset.cell);
            const at = [x, y].map(cells => Math.round(cells * side));
            return [...canvas.getContext("2d").getImageData(...at, 1, 1).data].slice(0, 3); }""",
        [x, y],
    )


def test_the_scrubber_names_the_moment_and_shows_its_frame(lab):
    lab.seal()
    fleet = outcome().fleet_map
    last = len(fleet.labels) - 1
    assert last >= 24
    slider = at_frame(lab, last)
    assert slider.get_attribute("aria-valuetext") == fleet.labels[last]
    assert lab.page.locator(".fl-scrub output").inner_text() == fleet.labels[last]
    counts = [sum(fleet.state(last, gpu) == state for gpu in range(10_000)) for state in range(4)]
    shown = [lab.page.locator(f"[data-count={key}]").inner_text() for key in ("idle", "busy", "dead", "big")]
    assert shown == [f"{count:,}" for count in counts]
    assert f"{counts[1]:,} working" in lab.canvas.get_attribute("aria-label")


def test_a_failed_node_is_red_with_a_white_cross(lab):
    lab.seal()
    fleet = outcome().fleet_map
    frame, gpu = frame_with_a_failure(fleet)
    at_frame(lab, frame)
    column, row = fleet.shape.cell(gpu)
    assert gpu % fleet.shape.gpus_per_node == 0
    middle = pixel(lab, column + 2, row + 1)
    assert min(middle) > 200  # white
    assert pixel(lab, column + 0.5, row + 1.5) == [198, 40, 40]


def test_arrow_keys_name_rack_node_gpu_state_and_job(lab):
    lab.seal()
    found = outcome()
    fleet, frame = found.fleet_map, int(lab.canvas.get_attribute("data-frame"))
    lab.canvas.focus()
    at, readout = [0, 0], lab.page.locator(".fl-readout")
    for key, step in (
        ("ArrowRight", (1, 0)),
        ("ArrowDown", (0, 1)),
        ("Shift+ArrowRight", (4, 0)),
        ("Shift+ArrowDown", (0, 2)),
    ):
        lab.canvas.press(key)
        at = [at[0] + step[0], at[1] + step[1]]
        gpu = next(g for g in range(10_000) if list(fleet.shape.cell(g)) == at)
        node, slot = divmod(gpu, 8)
        state = ("idle", "working", "failed", view_audit.big_job(found))[fleet.state(frame, gpu)]
        assert readout.inner_text().startswith(f"Rack {node // 5}, node {node}, GPU {slot}: {state}")
    busy = next(g for g in range(10_000) if fleet.state(frame, g) == 1)
    column, row = fleet.shape.cell(busy)
    side = int(lab.canvas.get_attribute("data-cell"))
    lab.canvas.hover(position={"x": (column + 0.5) * side, "y": (row + 0.5) * side})
    lab.page.locator(".fl-readout[data-answered]").wait_for()
    said = readout.inner_text().replace("\u00a0", " ")
    job = found.occupant(frame, busy)
    assert f"node {busy // 8}, GPU {busy % 8}: working" in said
    assert f"job {job.job} of {job.user}" in said and said.endswith("left")


def test_the_map_stays_at_the_hour_that_the_student_chose(lab):
    lab.seal()
    fleet = outcome().fleet_map
    late = len(fleet.labels) - 5
    at_frame(lab, late)
    lab.press("migrate")
    assert lab.page.locator(".fl-scrub output").inner_text() == fleet.labels[late]


def test_play_moves_on_and_stops(lab):
    lab.seal()
    at_frame(lab, 3)
    play = lab.page.locator(".fl-scrub button")
    play.click()
    assert play.get_attribute("aria-label") == "Pause"
    lab.page.locator("[data-zone=map] canvas[data-frame='6']").wait_for()
    play.click()
    assert play.get_attribute("aria-label") == "Play"


def test_less_motion_is_one_step_a_press(visit, served_lab):
    lab = visit(served_lab, reduced_motion="reduce").open().seal()
    at_frame(lab, 3)
    step = lab.page.locator(".fl-scrub button")
    assert step.get_attribute("aria-label") == "Step to the next moment"
    step.click()
    lab.page.locator("[data-zone=map] canvas[data-frame='4']").wait_for()
    assert step.get_attribute("data-state") == "step"
