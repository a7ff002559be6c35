"""Charts as data, and what plotly and the SVG writer make of them."""

import json
import re
from xml.etree import ElementTree

import pytest

from labs.cockpit.audit_charts import price_of_setting, through_time
from labs.cockpit.plotly_charts import CONFIG, figure
from labs.cockpit.svg_charts import svg
from tests.labs.outcomes import ARRIVAL, HOURS, audit_outcome

OUTCOMES = {
    "waits": audit_outcome(),
    "killed": audit_outcome(wait_h=0.0, kills=438),
    "moved": audit_outcome(wait_h=1 / 6, moves=598),
    "censored": audit_outcome(wait_h=48.0, censored=True),
}
BOTH = [(make, name) for make in (through_time, price_of_setting) for name in OUTCOMES]


def test_time_counts_from_the_arrival_and_shares_are_per_cent():
    chart = through_time(audit_outcome())
    utilisation, fragmentation, block = chart.series
    assert utilisation.x == tuple(hour - ARRIVAL for hour in HOURS)
    assert set(utilisation.y) == {80.0} and set(fragmentation.y) == {100.0} and set(block.y) == {0.0}
    assert "hours after job 70123" in chart.x.label


def test_a_moment_without_a_free_gpu_interrupts_the_line():
    base = audit_outcome()
    holes = (None, *base.through_time.fragmentation[1:])
    samples = base.through_time.variant(fragmentation=holes)
    chart = through_time(base.variant(through_time=samples))
    assert chart.series[1].y[0] is None
    assert "n/a" in chart.series[1].says[0]


def test_a_block_larger_than_needed_is_drawn_at_a_hundred_and_told_in_nodes():
    base = audit_outcome()
    samples = base.through_time.variant(largest_block=(250,) * len(HOURS))
    block = through_time(base.variant(through_time=samples)).series[2]
    assert set(block.y) == {100.0}
    assert block.says[0] == "largest free block 250 of 125 nodes"


def test_a_flat_line_at_zero_says_so_in_words():
    remark = through_time(audit_outcome()).remark
    assert "not one whole node is free" in remark and "125" in remark


@pytest.mark.parametrize(
    ("name", "labels", "acted"),
    [("waits", ["arrives", "starts"], [False, False]), ("killed", ["438 jobs killed"], [True]),
     ("moved", ["598 jobs moved"], [True]), ("censored", ["arrives"], [False])],
)  # fmt: skip
def test_what_the_student_did_is_marked(name, labels, acted):
    marks = through_time(OUTCOMES[name]).marks
    assert [mark.label for mark in marks] == labels
    assert [mark.action for mark in marks] == acted


def test_the_price_has_a_bar_for_each_account_and_idle_is_what_was_not_held():
    bars = {bar.label: bar for bar in price_of_setting(audit_outcome()).bars}
    assert bars["idle or failed"].value == 620000 - 480000
    assert bars["failures"].value == 400 and bars["killed work"].value == 0
    assert all(bar.says.endswith("GPU-h") for bar in bars.values())


@pytest.mark.parametrize(("make", "name"), BOTH)
def test_every_chart_names_its_units_and_has_words(make, name):
    chart = make(OUTCOMES[name])
    assert chart.unit and chart.remark and chart.alt and chart.x.label
    assert all(text for _, text in chart.x.ticks) and len(chart.x.ticks) >= 3


@pytest.mark.parametrize(("make", "name"), BOTH)
def test_plotly_draws_every_series_and_bar_and_asks_nobody(make, name):
    chart = make(OUTCOMES[name])
    drawn = json.loads(figure(chart).to_json())
    if chart.series:
        assert [trace["name"] for trace in drawn["data"]] == [series.name for series in chart.series]
    else:
        assert drawn["data"][1]["y"] == [bar.label for bar in chart.bars]
        written = {note["text"] for note in drawn["layout"]["annotations"]}
        assert {f"<b>{bar.says}</b>" for bar in chart.bars} <= written
    assert drawn["layout"]["height"] is None  # marimo would make it 540 px
    assert "http" not in json.dumps(drawn)
    assert CONFIG["displayModeBar"] is False


@pytest.mark.parametrize(("make", "name"), BOTH)
def test_svg_is_well_formed_inside_its_box_and_has_an_alternative(make, name):
    chart = make(OUTCOMES[name])
    drawing = ElementTree.fromstring(str(svg(chart)))
    width, height = map(float, drawing.get("viewBox").split()[2:])
    assert chart.alt in drawing.get("aria-label")
    texts = [element.text for element in drawing.iter("text")]
    assert all(bar.says in texts and bar.label in texts for bar in chart.bars)
    assert all(mark.label in texts for mark in chart.marks)
    for path in drawing.iter("path"):
        points = re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path.get("d"))
        assert points and all(0 <= float(x) <= width and 0 <= float(y) <= height for x, y in points)
