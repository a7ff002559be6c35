"""The scripts of `assets/` as one text each, since a widget's script cannot import a file beside it.

An import such as `import { Store } from "./store.js"` becomes an import of a `data:` address that holds
the imported file. Equal addresses are one module to the browser, so shared state stays shared.
"""

from __future__ import annotations

import base64
import re
from functools import cache

from engine.paths import shipped

_IMPORT = re.compile(r"""(from\s+)["']\./([\w-]+\.js)["']""")


@cache
def module(name: str) -> str:
    """Return the script `assets/<name>` with everything that it imports inside it.

    Raises
    ------
    UnknownName: if there is no such script.
    """
    source = shipped("assets", name).read_text(encoding="utf-8")
    return _IMPORT.sub(lambda found: f'{found[1]}"{_address(found[2])}"', source)


@cache
def _address(name: str) -> str:
    content = base64.b64encode(module(name).encode()).decode()
    return f"data:text/javascript;base64,{content}"
