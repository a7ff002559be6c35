import inspect

import pytest

from engine import errors
from engine.errors import (
    FileProblem,
    FleetlabError,
    InvalidInput,
    NoAnswer,
    PlanError,
    UnknownName,
    shown,
)
from engine.units import Quantity

CLASSES = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, FleetlabError)]


def test_every_error_has_a_code_of_its_own_and_a_standard_base():
    assert len({kind.code for kind in CLASSES}) == len(CLASSES) > 5
    for kind in set(CLASSES) - {FleetlabError}:
        assert issubclass(kind, (ValueError, LookupError, RuntimeError))


@pytest.mark.parametrize(
    ("error", "base", "sentence", "fields"),
    [
        (
            InvalidInput("wait", "3 GB", "a time", hint="Try 3 h."),
            ValueError,
            "wait: '3 GB' is not accepted; give a time. Try 3 h.",
            {"parameter": "wait", "given": "3 GB", "accepted": "a time"},
        ),
        (
            PlanError("no title.", file="08.md", line=3),
            ValueError,
            "08.md:3: no title.",
            {"file": "08.md", "line": 3},
        ),
        (FileProblem("empty.", file="a.swf"), ValueError, "a.swf: empty.", {"file": "a.swf", "line": None}),
        (
            UnknownName("lab", "9", ["08", "02"]),
            LookupError,
            "There is no lab '9'. Known: 02, 08.",
            {"kind": "lab", "given": "9"},
        ),
        (
            UnknownName("lab", "9", []),
            LookupError,
            "There is no lab '9'. Known: none.",
            {"kind": "lab", "given": "9"},
        ),
        (NoAnswer("They never cross."), RuntimeError, "They never cross.", {}),
    ],
)
def test_an_error_is_a_sentence_with_its_fields(error, base, sentence, fields):
    assert isinstance(error, base)
    assert str(error) == sentence
    assert error.fields == fields


def test_a_long_value_is_cut():
    assert shown("x" * 500) == "'" + "x" * 58 + "…"
    assert len(str(InvalidInput("name", "x" * 10_000, "less"))) < 120


def test_a_quantity_is_shown_with_its_unit():
    assert shown(Quantity(3, "h")) == "3 h"
