import ast
import importlib
import subprocess
import sys

import pytest

from engine.paths import shipped

ROOT = shipped("engine").parent
SCREENS = {"marimo", "plotly", "anywidget", "labs", "typer", "rich"}
NOT_IN_THE_BROWSER = {"scipy", "pandas"}
OPTIONAL = {"torch"}
GENERATORS = {"Random", "SystemRandom", "Generator", "default_rng", "MT19937", "PCG64", "SeedSequence"}
MODULES = sorted((ROOT / "engine").rglob("*.py"))


def name_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").split(".")[0]


def modules_after(code, without=()):
    """Return the top-level modules that a fresh interpreter has loaded after `code`.

    Modules named in `without` cannot be imported there: pint, for one, takes scipy along where it finds it.
    """
    gone = f"import sys; sys.modules.update(dict.fromkeys({sorted(without)}))"
    listing = "print(*{name.split('.')[0] for name, module in sys.modules.items() if module})"
    program = "\n".join([gone, code, listing])
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_module_of_the_engine_names_a_screen(path):
    assert not set(imported(path)) & (SCREENS | NOT_IN_THE_BROWSER)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_threads_and_processes_are_in_profiling_only(path):
    if path.is_relative_to(ROOT / "engine" / "profiling"):
        return
    assert not set(imported(path)) & {"threading", "subprocess", "multiprocessing", "concurrent", "asyncio"}


def test_the_whole_engine_loads_where_no_screen_is_installed():
    names = [name_of(path) for path in MODULES if not path.stem.endswith("_torch")]
    loaded = modules_after(
        "\n".join(f"import {name}" for name in names), SCREENS | NOT_IN_THE_BROWSER | OPTIONAL
    )
    assert {"engine", "numpy"} <= loaded
    assert len(names) > 50


@pytest.mark.parametrize("module", ["engine", "engine.missions", "engine.resources"])
def test_importing_loads_nothing_heavy_before_it_is_needed(module):
    loaded = modules_after(f"import {module}", {"scipy"})
    assert {"pint", "pydantic"} <= loaded
    assert not loaded & (SCREENS | OPTIONAL | {"yaml", "sqlite3"})


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nobody_draws_from_a_global_generator(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in (
            "random",
            "np.random",
            "numpy.random",
        ):
            assert node.attr in GENERATORS, f"{path.name}:{node.lineno}"


@pytest.mark.parametrize("package", sorted(p.parent.name for p in (ROOT / "engine").glob("*/__init__.py")))
def test_no_public_name_of_a_package_is_the_name_of_a_file_in_it(package):
    # importing the file would put it in the place of the name
    public = set(getattr(importlib.import_module(f"engine.{package}"), "__all__", []))
    assert not public & {path.stem for path in (ROOT / "engine" / package).glob("*.py")}
