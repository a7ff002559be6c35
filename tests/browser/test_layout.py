"""All four zones on one screen from 901 px of width, one column below; nothing clipped, light and dark."""

from itertools import pairwise

import pytest

from engine.missions import load_mission

WIDE = [(1920, 1080), (1440, 900), (1366, 768), (1366, 641), (1280, 720), (1024, 768)]
ZONES = ("head", "lever", "brief", "cards", "map", "chart", "log", "why", "work")

# Some texts end in an ellipsis or scroll by design: the facts, the readout, the log.
OVERFLOWING = """() => {
    const allowed = ".fl-readout, .fl-log, .fl-facts dl, textarea";
    const found = [];
    const walk = node => {
        if (node.nodeType !== Node.ELEMENT_NODE || ["STYLE", "SCRIPT"].includes(node.nodeName)) return;
        if (node.closest("svg") || node.closest(".js-plotly-plot")) return;
        const style = getComputedStyle(node);
        if (style.clipPath !== "none") return;  // for screen readers only
        const clips = style.overflowX !== "visible" || style.overflowY !== "visible";
        const over = node.scrollWidth > node.clientWidth + 1 || node.scrollHeight > node.clientHeight + 1;
        if (clips && over && !node.matches(allowed) && node.clientWidth) {
            found.push(`${node.nodeName}.${node.className} ${node.scrollWidth}x${node.scrollHeight} in ` +
                `${node.clientWidth}x${node.clientHeight}`);
        }
        if (node.shadowRoot) [...node.shadowRoot.children].forEach(walk);
        [...node.children].forEach(walk);
    };
    document.querySelectorAll("[data-zone]").forEach(walk);
    return found;
}"""

OVERLAPPING = """zones => {
    const box = name => document.querySelector(`[data-zone=${name}]`).getBoundingClientRect();
    const boxes = zones.map(name => [name, box(name)]);
    const found = [];
    boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {
        const across = p.left < q.right - 1 && q.left < p.right - 1;
        if (across && p.top < q.bottom - 1 && q.top < p.bottom - 1) found.push([a, b]);
    }));
    return found;
}"""


@pytest.fixture(params=[f"{width}x{height}" for width, height in WIDE])
def wide(request, visit, served_lab):
    width, height = map(int, request.param.split("x"))
    return visit(served_lab, viewport={"width": width, "height": height}).open()


def inside(lab):
    return lab.page.evaluate(
        """zones => zones.filter(name => {
            const box = document.querySelector(`[data-zone=${name}]`).getBoundingClientRect();
            const right = innerWidth + 0.5, bottom = innerHeight + 0.5;
            return box.width < 1 || box.left < 0 || box.top < 0 || box.right > right || box.bottom > bottom;
        })""",
        list(ZONES),
    )


def test_all_zones_are_on_one_screen_without_scrolling(wide):
    wide.seal()
    wide.press("migrate")
    wide.shows(load_mission("08").start_values("audit") | {"migrate": True})
    assert inside(wide) == []
    assert wide.page.evaluate(OVERLAPPING, list(ZONES)) == []
    assert wide.page.evaluate(OVERFLOWING) == []
    for page in ("document.documentElement", "document.querySelector('#App')"):
        width, height = wide.page.evaluate(
            f"[{page}.scrollWidth - {page}.clientWidth, {page}.scrollHeight - {page}.clientHeight]"
        )
        assert (width, height) == (0, 0)
    side = int(wide.canvas.get_attribute("data-cell"))
    assert side >= 2
    box = wide.canvas.bounding_box()
    assert box["width"] == 100 * side  # whole pixels a cell


@pytest.mark.parametrize(("width", "height"), [(390, 844), (360, 740), (960, 600), (1240, 700)])
def test_a_phone_and_a_zoomed_page_have_one_column_and_no_sideways_scroll(visit, served_lab, width, height):
    lab = visit(served_lab, viewport={"width": width, "height": height}).open().seal()
    boxes = [
        lab.page.locator(f"[data-zone={zone}]").bounding_box()
        for zone in ("brief", "lever", "cards", "map", "chart", "log")
    ]
    assert all(one["y"] + one["height"] <= two["y"] for one, two in pairwise(boxes))
    assert lab.page.evaluate("document.querySelector('#App').scrollWidth <= innerWidth")
    assert lab.page.evaluate(OVERFLOWING) == []


@pytest.mark.parametrize(
    ("scheme", "background"), [("light", "rgb(233, 237, 240)"), ("dark", "rgb(11, 16, 20)")]
)
def test_the_page_follows_the_systems_colours_inside_widgets_too(visit, served_lab, scheme, background):
    lab = visit(served_lab, color_scheme=scheme).open().seal()
    assert lab.find("e => getComputedStyle(e).backgroundColor", "#App") == background
    surface = lab.find("e => getComputedStyle(e).backgroundColor", "[data-zone=lever]")
    assert lab.find("e => getComputedStyle(e).backgroundColor", ".fl-card") == surface
    assert lab.find("e => getComputedStyle(e).fontSize", ".fl-value") == "24px"


def test_what_tells_its_state_by_colour_keeps_it_when_colours_are_forced(visit, served_lab):
    lab = visit(served_lab, forced_colors="active").open().seal()
    colours = {
        lab.find("e => getComputedStyle(e).backgroundColor", path)
        for path in (".fl-key-busy", ".fl-key-big", ".fl-key-idle", ".fl-key-dead")
    }
    assert len(colours) == 4
    off = lab.find("e => getComputedStyle(e).backgroundColor", "[data-name=evict] .fl-knob")
    lab.press("evict")
    assert lab.find("e => getComputedStyle(e).backgroundColor", "[data-name=evict] .fl-knob") != off


def test_the_sheet_is_there(visit, served_lab):
    """A missing css_file is one line in the server's log and no error."""
    lab = visit(served_lab).open()
    assert (
        lab.find(
            "e => getComputedStyle(e.parentElement.closest('.flex.flex-col')).display", "[data-zone=head]"
        )
        == "grid"
    )


def test_marimos_menu_and_outline_do_not_cover_the_zones(lab):
    assert lab.page.locator("[data-testid=notebook-actions-dropdown]").is_hidden()
    outline = lab.page.locator("div.fixed.right-8")
    outline.wait_for(state="attached")
    assert outline.is_hidden()


def test_print_shows_every_zone_one_below_the_other(lab):
    lab.seal()
    lab.page.emulate_media(media="print")
    boxes = [
        lab.page.locator(f"[data-zone={zone}]").bounding_box()
        for zone in ("brief", "cards", "map", "chart", "log", "why")
    ]
    assert all(box and box["height"] > 0 for box in boxes)
    log = lab.page.locator(".fl-log")
    assert log.evaluate("e => e.scrollHeight <= e.clientHeight + 1")


def test_the_keyboard_reaches_every_lever_and_the_box(lab):
    lab.seal()
    seen = []
    for _ in range(40):
        lab.page.keyboard.press("Tab")
        name = lab.page.evaluate(
            """() => {
                let e = document.activeElement;
                while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
                return e?.closest("[data-name]")?.dataset.name ?? e?.id ?? e?.nodeName; }"""
        )
        seen.append(name)
    assert {"policy", "evict", "migrate", "fl-why"} <= set(seen)
    assert seen.index("policy") < seen.index("evict") < seen.index("migrate") < seen.index("fl-why")
