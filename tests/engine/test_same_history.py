"""The same question has the same answer, byte for byte, on every Python, numpy and processor.

The recorded digests were computed on CPython 3.11 for x86-64 with numpy 2.4.6, and on CPython 3.14 for
WebAssembly (Pyodide 314.0.0, where numpy's default integer has 32 bits) with numpy 2.4.3: they are equal. So
are those of CPython 3.12 and 3.13 with numpy 2.5.5, of numpy 2.0.2, and of a processor without AVX-512.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.engine.histories import digests

ROOT = Path(__file__).resolve().parents[2]
RECORDED = json.loads((ROOT / "tests" / "data" / "histories.json").read_text(encoding="utf-8"))


def test_histories_are_the_recorded_ones():
    assert digests() == RECORDED


@pytest.mark.slow
def test_histories_are_the_same_in_the_python_of_the_browser():
    prepared = os.environ.get("FLEETLAB_PYODIDE")
    if not prepared:
        pytest.skip("FLEETLAB_PYODIDE names no folder; tests/pyodide/README.md says how to prepare one")
    node = shutil.which("node")
    assert node, "FLEETLAB_PYODIDE is set, but there is no node"
    command = [node, str(ROOT / "tests" / "pyodide" / "run.mjs"), prepared]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["platform"] == "emscripten"
    assert found["digests"] == digests()
