"""The questions that a mission plan may ask: each scenario's levers, and what its outcome offers to words,
badges, cards and charts.

A scenario is imported when it is asked for. One without a module has its names settled and no engine behind
it: its act stays closed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from engine.errors import NoAnswer, UnknownName
from engine.facts import fact
from engine.scenarios.words import time_words


@dataclass(frozen=True)
class Value:
    """A number of an outcome: the dotted attribute it is read from, and a unit of its dimension."""

    attribute: str
    unit: str


@dataclass(frozen=True)
class ScenarioEntry:
    """What a plan may say about one scenario.

    `levers` and `settings` are fields of the scenario; `values` are for badges and predictions; `words` stand
    in sentences as `{word}` and say nothing that happens after the crisis.
    """

    name: str
    path: str
    levers: tuple[str, ...]
    settings: tuple[str, ...]
    cards: tuple[str, ...]
    charts: tuple[str, ...]
    values: Mapping[str, Value]
    words: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)

    @property
    def ready(self) -> bool:
        """Whether there is an engine behind the scenario."""
        return bool(self.path) and find_spec(self.path.partition(":")[0]) is not None

    def scenario(self) -> type[Any]:
        """Return the scenario's class.

        Raises
        ------
        NoAnswer: if there is no engine behind it yet.
        """
        if not self.ready:
            raise NoAnswer(f"The scenario {self.name!r} cannot be run yet.")
        module, _, class_name = self.path.partition(":")
        found: type[Any] = getattr(import_module(module), class_name)
        return found

    def value(self, outcome: Any, name: str) -> Any:
        """Return a value of an outcome by the name that plans use; None when it does not apply.

        Raises
        ------
        UnknownName: listing the values that the outcome computes.
        """
        if name not in self.values:
            raise UnknownName("value", name, list(self.values))
        return attrgetter(self.values[name].attribute)(outcome)

    def said(self, outcome: Any) -> dict[str, str]:
        """Return the words for a plan's sentences: the fleet as the crisis found it."""
        return {name: word(outcome) for name, word in self.words.items()}


def _busy_share(outcome: Any) -> str:
    shape = outcome.fleet_map.shape
    return f"{100 * outcome.busy_as_found / (shape.nodes * shape.gpus_per_node):.0f} %"


_CARDS = ("mfu", "goodput", "wait", "tco")

_AUDIT = ScenarioEntry(
    name="fragmentation_audit",
    path="engine.scenarios.fragmentation_audit:FragmentationAuditScenario",
    levers=("policy", "evict", "migrate"),
    settings=("seed",),
    cards=_CARDS,
    charts=("through_time", "price"),
    values={
        "fragmentation": Value("fragmentation", "%"),
        "wait": Value("big_job.wait", "h"),
        "goodput": Value("goodput", "%"),
        "cluster_mfu": Value("cluster_mfu", "%"),
        "utilisation": Value("utilisation", "%"),
        "tco": Value("money.per_useful_gpu_hour", "USD/(GPU*h)"),
        "wasted": Value("money.wasted_per_day", "USD/day"),
        "lost": Value("books.lost", "GPU*h"),
        "tax": Value("books.tax", "GPU*h"),
        "pause": Value("books.pause", "GPU*h"),
        "small_jobs_wait": Value("waits.mean", "h"),
        "kills": Value("kills", ""),
        "moves": Value("moves", ""),
    },
    words={
        "busy_share": _busy_share,
        "small_jobs": lambda outcome: f"{outcome.small_jobs_as_found:,}",
        "kind": lambda outcome: f"{outcome.noun}s",
        "idle": lambda outcome: f"{outcome.idle_as_found:,}",
        "job": lambda outcome: f"{outcome.big_job.job}",
        "gpus": lambda outcome: f"{outcome.big_job.gpus:,}",
        "nodes": lambda outcome: f"{outcome.big_job.nodes:,}",
    },
)

_GAMBLE = ScenarioEntry(
    name="checkpoint_gamble",
    path="engine.scenarios.checkpoint_gamble:CheckpointGambleScenario",
    levers=("interval", "write_bandwidth"),
    settings=("seed",),
    cards=_CARDS,
    charts=("goodput_curve", "run_strip"),
    values={
        "goodput": Value("goodput", "%"),
        "best_goodput": Value("best_goodput", "%"),
        "share_of_best": Value("share_of_best", "%"),
        "best_interval": Value("best_interval", "min"),
        "cluster_mfu": Value("cluster_mfu", "%"),
        "tco": Value("money.per_useful_gpu_hour", "USD/(GPU*h)"),
    },
    words={
        "parameters": lambda _: f"{fact('reliability.lab_parameters').value / 1e9:g} billion",
        "gpus": lambda outcome: f"{outcome.gpus:,}",
        "mttf": lambda outcome: time_words(outcome.mtbf.m_as("s")),
        "write_time": lambda outcome: time_words(outcome.write_time.m_as("s")),
    },
)

_RESCALE = ScenarioEntry(
    name="elastic_rescale",
    path="engine.scenarios.elastic_rescale:ElasticRescaleScenario",
    levers=("response", "layout"),
    settings=("first_dead_node", "dead_nodes", "order", "batch", "repack", "spare_nodes", "repair", "window"),
    cards=_CARDS,
    charts=("ring", "throughput"),
    values={
        "capacity": Value("capacity", "%"),
        "wait": Value("wait", "min"),
        "stall": Value("stall", "min"),
        "break_even": Value("break_even", "min"),
        "lost": Value("lost", "GPU*h"),
        "cluster_mfu": Value("cluster_mfu", "%"),
        "goodput": Value("goodput", "%"),
        "tco": Value("money.per_useful_gpu_hour", "USD/(GPU*h)"),
    },
    words={
        "nodes": lambda outcome: f"{outcome.fleet_map.shape.nodes:,}",
        "dead_nodes": lambda outcome: f"{len(outcome.damage.dead_nodes):,}",
        "repair": lambda outcome: time_words(outcome.repair.m_as("s")),
    },
)

SCENARIOS: Mapping[str, ScenarioEntry] = MappingProxyType({e.name: e for e in (_AUDIT, _GAMBLE, _RESCALE)})
"""Every scenario that a plan may name."""
