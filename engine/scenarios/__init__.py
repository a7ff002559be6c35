"""One frozen model per question that a lab asks: levers in, outcome out.

The names below are imported when they are first used, so that `import engine.scenarios` stays light.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "CheckpointGambleScenario": "checkpoint_gamble",
    "ElasticRescaleScenario": "elastic_rescale",
    "FragmentationAuditScenario": "fragmentation_audit",
    "ProductivityGoodputScenario": "productivity",
    "RuntimeGoodputScenario": "runtime_goodput",
    "Scenarios": "named",
    "SeriesFailureScenario": "runtime_goodput",
    "Workload": "runtime_goodput",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
