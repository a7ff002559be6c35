"""The README's examples are run, and print what their comments say."""

import contextlib
import io
import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)


def title(example):
    return next(line for line in example.splitlines() if "import" in line).split()[1]


@pytest.mark.parametrize("example", EXAMPLES, ids=title)
def test_an_example_prints_what_its_comments_say(example, tmp_path, monkeypatch):
    (tmp_path / "tests" / "data").mkdir(parents=True)  # the examples may write where they run
    shutil.copy(ROOT / "tests" / "data" / "own.swf", tmp_path / "tests" / "data")
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example, "README.md", "exec"), {"__name__": "readme"})
    said = [line.split("  # ")[1] for line in example.splitlines() if line.startswith("print(")]
    assert printed.getvalue().splitlines() == said


def test_every_file_that_the_readme_points_at_exists():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    linked = re.findall(r"\]\(([^)#:]+)\)", text)
    named = re.findall(r"`((?:labs|mission_plans|engine)/[\w./]+)`", text)
    for path in linked + named:
        assert (ROOT / path).exists(), path
