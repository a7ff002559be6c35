"""What run.mjs runs inside Pyodide: import the whole engine, then return the digests as JSON."""

import importlib
import json
import platform
import sys
from pathlib import Path

sys.path[:0] = ["/fleetlab", "/site"]
for path in sorted(Path("/fleetlab/engine").rglob("*.py")):
    if not path.stem.endswith("_torch"):  # there is no PyTorch in a browser
        name = ".".join(path.relative_to("/fleetlab").with_suffix("").parts)
        importlib.import_module(name.removesuffix(".__init__"))

import numpy as np  # noqa: E402

from tests.engine.histories import digests  # noqa: E402

json.dumps(
    {
        "platform": sys.platform,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "digests": digests(),
    }
)
