"""The labs' notebooks as modules, for tests that run them without a browser."""

import importlib.util
from functools import cache

from engine.paths import shipped

LABS = sorted(path.name for path in shipped("labs").glob("[0-9][0-9]_*.py"))


@cache
def notebook(name):
    path = shipped("labs", name)
    spec = importlib.util.spec_from_file_location(f"lab_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cells(name):
    """The cells of a notebook by name."""
    from marimo._ast.cell import Cell

    return {key: value for key, value in vars(notebook(name)).items() if isinstance(value, Cell)}


def run(name, prepare=None):
    """Run a notebook after `prepare` has changed its widgets as a student would; return outputs and names."""
    module = notebook(name)
    outputs, names = module.app.run()
    if prepare is None:
        return outputs, names
    held = {one: names[one] for one in module.levers.defs}
    prepare(held)
    return module.app.run(defs=held)
