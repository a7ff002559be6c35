"""The sheet: tokens that exist, prefixed names, and no rule that marimo's copy into shadow roots loses."""

import re

import pytest

from engine.paths import shipped

SHEET = shipped("assets", "cockpit.css").read_text(encoding="utf-8")
PLAIN = re.sub(r"/\*.*?\*/", "", SHEET, flags=re.S)
RULES = re.findall(r"([^{}]+)\{([^{}]*)\}", PLAIN)
SCRIPTS = sorted(path.name for path in shipped("assets").glob("*.js"))
SHORTHANDS = ("font", "border", "background", "margin", "padding", "inset", "flex", "grid", "outline")
APART = {"border-radius", "outline-offset", "grid-area", "grid-column", "grid-row"}
"""Named like longhands, and not part of the shorthand."""


def test_every_token_that_is_used_is_defined():
    defined = set(re.findall(r"(--fl-[\w-]+)\s*:", PLAIN))
    in_scripts = "".join(shipped("assets", name).read_text(encoding="utf-8") for name in SCRIPTS)
    by_markup = {"--fl-at", "--fl-from", "--fl-to", "--fl-filled", "--fl-limit"}
    used = set(re.findall(r"var\((--[\w-]+)", PLAIN))
    assert used - defined - by_markup == set()
    assert all(name.startswith("--fl-") for name in defined | used)
    assert "--fl-at" in in_scripts


def test_every_class_is_ours_or_marimos():
    theirs = {
        "cockpit",
        "flex",
        "flex-col",
        "marimo-cell",
        "m-auto",
        "fixed",
        "right-8",
        "z-10000",
        "js-plotly-plot",
        "main-svg",
        "annotation-text",
        "xgrid",
        "ygrid",
        "textpoint",
        "hoverlayer",
        "hovertext",
        "axistext",
        "bg",
    }
    classes = {name for selector, _ in RULES for name in re.findall(r"\.([a-zA-Z][\w-]*)", selector)}
    assert {name for name in classes if not name.startswith("fl-")} <= theirs


@pytest.mark.parametrize("shorthand", SHORTHANDS)
def test_no_rule_has_a_shorthand_with_a_token_and_a_longhand_of_it(shorthand):
    """marimo copies rules as text; the browser writes such a shorthand as nothing."""
    for selector, body in RULES:
        names = [line.split(":")[0].strip() for line in body.split(";") if ":" in line]
        with_token = re.search(rf"(?:^|;)\s*{shorthand}\s*:[^;]*var\(", body)
        longhands = [name for name in names if name.startswith(f"{shorthand}-") and name not in APART]
        if with_token:
            assert not longhands, (selector.strip(), longhands)


def test_hidden_wins_over_any_display():
    assert re.search(r"\[hidden\]\s*\{\s*display:\s*none !important", PLAIN)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_builds_no_markup_from_texts_and_asks_nobody(name):
    source = shipped("assets", name).read_text(encoding="utf-8")
    markup = re.findall(r"innerHTML\s*=\s*(.*)", source)
    assert all(one.startswith('model.get("html")') for one in markup)
    assert not re.search(r"https?://|fetch\(|XMLHttpRequest|eval\(", source)
