import tomllib

import pytest

from engine import facts as facts_module
from engine.errors import FileProblem, UnknownName
from engine.facts import fact, facts
from engine.paths import shipped
from engine.units import Quantity

FILES = sorted(shipped("engine", "facts").glob("*.toml"))
CAUSES = [one for name, one in facts().items() if name.startswith("llama3.cause_")]


@pytest.fixture
def facts_from(tmp_path, monkeypatch):
    """Return a reader of facts from files of the test's own."""

    def read(content):
        (tmp_path / "mine.toml").write_text(content, encoding="utf-8")
        monkeypatch.setattr(facts_module, "shipped", lambda *parts: tmp_path)
        return facts.__wrapped__()

    return read


GOOD = """
[wait]
label = "Wait"
value = 4
unit = "h"
source = "a paper"
date = "2026-11-29"
mark = "published"
"""


def test_a_fact_has_its_quantity(facts_from):
    assert facts_from(GOOD)["mine.wait"].quantity == Quantity(4, "h")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('unit = "h"', 'unit = "hogshead"', "mine.wait"),
        ("value = 4", "value = nan", "value"),
        ("value = 4", 'value = "four"', "value"),
        ('source = "a paper"', 'source = ""', "source"),
        ('source = "a paper"\n', "", "source"),
        ('mark = "published"', 'mark = "certain"', "mark"),
        ("[wait]", "[wait", "mine.toml"),
        ("[wait]", "wait = 3\n[more]", "mine.toml"),
        ('label = "Wait"', 'label = "Wait"\ncolour = "red"', "colour"),
    ],
)
def test_a_fact_that_is_not_one_names_the_file(facts_from, old, new, said):
    with pytest.raises(FileProblem, match=r"^mine\.toml: ") as caught:
        facts_from(GOOD.replace(old, new))
    assert said in str(caught.value)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_fact_says_where_it_is_from_when_and_how_sure(path):
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    assert tables
    for key in tables:
        one = fact(f"{path.stem}.{key}")
        assert one.source.strip()
        assert one.date[:4].isdigit()
        assert one.mark in ("measured", "published", "derived", "assumed")
        assert not one.label.endswith(".")
        if "chosen for the lab" in one.source:
            assert one.mark == "assumed", one.name


def test_an_unknown_fact_lists_those_of_its_file():
    with pytest.raises(UnknownName, match=r"money\.h100_price"):
        fact("money.h200_price")
    with pytest.raises(UnknownName, match="fleet"):
        fact("weather.rain")


def test_the_causes_of_llama_3_add_up_to_its_unexpected_interruptions():
    assert sum(one.value for one in CAUSES) == fact("llama3.unexpected").value == 419
    total = fact("llama3.unexpected").value + fact("llama3.planned").value
    assert total == fact("llama3.interruptions").value == 466


def test_the_share_of_faulty_gpus_comes_from_counts_and_not_from_the_printed_table():
    assert fact("llama3.cause_faulty_gpu").value / 419 == pytest.approx(0.353, abs=5e-4)


def test_derived_facts_follow_from_what_they_are_derived_from():
    span = fact("llama3.snapshot").quantity
    nodes = fact("llama3.gpus").value / fact("hardware.gpus_per_node").value
    unexpected = fact("llama3.unexpected").value
    assert (span / unexpected).m_as("h") == pytest.approx(fact("llama3.mtbf_unexpected").value, abs=5e-4)
    every = (span / fact("llama3.interruptions").value).m_as("h")
    assert every == pytest.approx(fact("llama3.mtbf_all").value, abs=5e-4)
    rate = unexpected / (nodes / 1000 * span.m_as("day"))
    assert rate == pytest.approx(fact("fleet.node_failure_rate").value, abs=5e-3)


def test_an_idle_h100_costs_two_to_four_dollars_an_hour():
    low, high = fact("money.idle_h100_low").quantity, fact("money.idle_h100_high").quantity
    assert low == Quantity(2, "USD/(GPU*h)")
    assert high == Quantity(4, "USD/(GPU*h)")
    assert low <= fact("money.h100_price").quantity <= high


def test_the_worked_example_of_kubernetes_prefers_the_fuller_node():
    weights, total = (5, 1, 3), 9
    for node, scores in ((1, (7, 5, 3)), (2, (5, 7, 10))):
        score = sum(weight * score for weight, score in zip(weights, scores, strict=True)) / total
        assert fact(f"schedulers.kubernetes_example_node_{node}").value == round(score)
