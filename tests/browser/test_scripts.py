"""The scripts by themselves, without a server: geometry, packing, snapping and differences as in Python."""

import base64
import zlib

import pytest

from engine.fleet.topology import MapShape
from engine.missions import load_mission
from labs.cockpit.modules import module
from tests.labs.outcomes import pack

SHAPES = [
    MapShape(),
    MapShape(nodes=2048, gpus_per_node=8, nodes_per_rack=8, racks_per_row=32, node_columns=4),
    MapShape(nodes=23, gpus_per_node=4, nodes_per_rack=5, racks_per_row=2, node_columns=3),
    MapShape(nodes=1, gpus_per_node=1, nodes_per_rack=1, racks_per_row=1, node_columns=1),
]


@pytest.fixture(scope="module")
def page(browser):
    context = browser.new_context()
    yield context.new_page()
    context.close()


def run(page, script, body, arg=None):
    """Evaluate `body`, which sees the exports of a script as `m` and the argument as `arg`."""
    address = "data:text/javascript;base64," + base64.b64encode(module(script).encode()).decode()
    return page.evaluate(
        f"async ([address, arg]) => {{ const m = await import(address); {body} }}", [address, arg]
    )


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape.columns}x{shape.rows}")
def test_a_gpu_is_drawn_where_python_says(page, shape):
    body = """const s = new m.Shape(arg);
        return [s.columns, s.rows, [...Array(s.gpus).keys()].map(g => s.cell(g))];"""
    columns, rows, cells = run(page, "fleet.js", body, shape.model_dump())
    assert (columns, rows) == (shape.columns, shape.rows)
    assert [tuple(cell) for cell in cells] == [
        shape.cell(g) for g in range(shape.nodes * shape.gpus_per_node)
    ]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape.columns}x{shape.rows}")
def test_a_point_of_the_map_leads_back_to_its_gpu(page, shape):
    body = """const s = new m.Shape(arg);
        return [...Array(s.gpus).keys()].every(g => s.at(...s.cell(g)) === g) && s.at(-1, 0) === -1;"""
    assert run(page, "fleet.js", body, shape.model_dump()) is True


def test_packed_states_unpack_frame_by_frame(page):
    frames = [[0, 1, 2, 3, 1], [3, 3, 0, 2, 2]]
    packed = base64.b64encode(zlib.compress(pack(frames))).decode()
    body = """const cells = await m.inflate(Uint8Array.from(atob(arg), c => c.charCodeAt(0)));
        return [0, 1].map(frame => [...m.unpack(cells, frame, 5)]);"""
    assert run(page, "fleet.js", body, packed) == frames


@pytest.mark.parametrize("typed", ["31 s", "7 min", "0.3 h", "1 h", "13 h", "400 d"])
def test_a_typed_time_snaps_as_the_plan_snaps_it(page, typed):
    lever = load_mission("08").levers["interval"]
    body = "const [typed, steps] = arg; return m.nearest(steps, m.quantity(typed, 's'));"
    found = run(page, "levers.js", body, [typed, lever.magnitudes])
    assert lever.steps[found] == lever.snap(typed)


@pytest.mark.parametrize("typed", ["", "soon", "3", "-3 min", "3 parsecs", "NaN h"])
def test_a_text_that_is_no_time_is_none(page, typed):
    assert run(page, "levers.js", "return Number.isNaN(m.quantity(arg, 's'));", typed) is True


@pytest.mark.parametrize(
    ("typed", "number"),
    [("6,5", 6.5), (" 1 000 ", 1000), ("2.", 2), (".5", 0.5), ("6 h", None), ("1e3", None), ("", None)],
)
def test_a_number_is_read_as_people_type_it(page, typed, number):
    found = run(page, "prediction.js", "const n = m.number(arg); return Number.isNaN(n) ? null : n;", typed)
    assert found == number


@pytest.mark.parametrize(
    ("text", "opens", "sealed", "said"),
    [
        (" ", "Act II", False, "0 of 5 words to open Act II"),
        ("one two three  four", None, True, "4 of 5 words"),
        ("one two three four five", "Act II", False, "5 words; Act II opens at the seal"),
        ("one two three four five", "Act II", True, "5 words; Act II is open"),
        ("one two three four five six", None, True, "6 words"),
    ],
)
def test_the_word_count_says_what_is_missing_and_what_opens(page, text, opens, sealed, said):
    data = {"least": "5"} | ({"opens": opens} if opens else {})
    body = "return m.progress(arg.text, arg.data, arg.sealed);"
    found = run(page, "rationale.js", body, {"text": text, "data": data, "sealed": sealed})
    assert found == said


def test_a_difference_has_the_cards_digits_and_says_whether_it_is_better(page):
    body = """
        const fill = m.changes(), root = document.createElement("div"), said = [];
        const card = (value, unit, places, shown) => {
            root.innerHTML = `<span class="fl-delta" data-card="wait" data-value="${value}"
                data-unit="${unit}" data-places="${places}" data-shown="${shown}" data-better="down"></span>`;
            fill(root);
            said.push([root.firstChild.textContent, root.firstChild.dataset.good ?? null]);
        };
        card(48, "h", "", "> 48 h"); card(21.6, "h", 1, "21.6 h"); card(20.1, "h", 1, "20.1 h");
        card(20.1, "h", 1, "20.1 h"); card(10, "min", 0, "10 min"); card(12, "min", 0, "12 min");
        card(1.2, "h", 1, "1.2 h");
        return said;"""
    assert run(page, "deltas.js", body) == [
        ["", None],
        ["was > 48 h", "true"],
        ["▼ 1.5 h", "true"],
        ["", None],
        ["was 20.1 h", "true"],
        ["▲ 2 min", "false"],
        ["was 12 min", "false"],
    ]
