"""Scenarios with a name: known jobs, ready to vary, that no caller can change.

`Scenarios.Llama2_70BRuntimeGoodput128` is one; `list(Scenarios)` names all and `Scenarios.described()` says
what each of them is. Every access builds a new scenario, so what one caller does is never seen by another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, NoReturn

from engine.errors import UnknownName
from engine.facts import fact
from engine.reliability.failures import SeriesFailureScenario
from engine.reliability.recovery import RecoveryBudget
from engine.scenarios.runtime_goodput import RuntimeGoodputScenario, Workload
from engine.units import Quantity

_NONE = {"input_wait": 0.0, "lost_work": "0 s"}


class _Entry(NamedTuple):
    description: str
    build: Callable[[], RuntimeGoodputScenario]


def _llama2_70b() -> RuntimeGoodputScenario:
    mttf = {name: fact(f"reliability.{name}_mttf").quantity for name in ("gpu", "pcie", "network")}
    return RuntimeGoodputScenario(
        failures=SeriesFailureScenario(
            n_devices=128,
            devices_per_node=8,
            component_mttf=mttf,
            per_node={"gpu": 8, "pcie": 8, "network": 1},
        ),
        workload=Workload(name="Llama 2 70B", parameters=70e9),
        bytes_per_param="14 B/parameter",
        recovery=RecoveryBudget.default(),
        input_wait=0.05 / 0.65,
        window="1 week",
        lost_work="15 min",
        preemption_rate="1 1/day",
    )


def _llama3_405b() -> RuntimeGoodputScenario:
    snapshot = fact("llama3.snapshot").quantity
    return RuntimeGoodputScenario(
        failures=SeriesFailureScenario.from_llama3_causes(n_devices=int(fact("llama3.gpus").value)),
        workload=Workload(name="Llama 3 405B", parameters=405e9),
        bytes_per_param="14 B/parameter",
        recovery=RecoveryBudget.default().variant(
            write_bandwidth=fact("reliability.llama3_storage_bandwidth").quantity
        ),
        window=snapshot,
        preemption_rate=fact("llama3.planned").value / snapshot,
        **_NONE,
    )


def _lab08_175b() -> RuntimeGoodputScenario:
    mtbf, nodes = fact("reliability.lab_mtbf").quantity, 2048
    size = fact("reliability.lab_parameters").quantity * fact("reliability.lab_bytes_per_parameter").quantity
    return RuntimeGoodputScenario(
        failures=SeriesFailureScenario(
            n_devices=8 * nodes,
            devices_per_node=8,
            component_mttf={"node": mtbf * nodes},
            per_node={"node": 1},
        ),
        workload=Workload(name="Lab 08", parameters=fact("reliability.lab_parameters").quantity),
        bytes_per_param=fact("reliability.lab_bytes_per_parameter").quantity,
        recovery=RecoveryBudget(
            detection="60 s",
            restart="120 s",
            write_bandwidth=size / fact("reliability.bloom_write_time").quantity,
            warmup="80 s",
        ),
        window="1 week",
        preemption_rate="0 1/day",
        **_NONE,
    )


def _opt_175b() -> RuntimeGoodputScenario:
    gpus = int(fact("reliability.opt_gpus").value)
    per_node = fact("reliability.opt_failures_per_day").quantity / Quantity(gpus / 8, "node")
    return RuntimeGoodputScenario(
        failures=SeriesFailureScenario.from_node_days(per_node, n_devices=gpus, devices_per_node=8),
        workload=Workload(name="OPT-175B", parameters=175e9),
        bytes_per_param="14 B/parameter",
        recovery=RecoveryBudget.default(),
        window=fact("reliability.opt_run_days").quantity,
        preemption_rate="0 1/day",
        **_NONE,
    )


def _bloom_176b() -> RuntimeGoodputScenario:
    gpus, checkpoint = (
        int(fact("reliability.bloom_gpus").value),
        fact("reliability.bloom_checkpoint").quantity,
    )
    mtbf = fact("reliability.bloom_mtbf").quantity
    per_node = 1 / (mtbf * Quantity(gpus / 8, "node"))
    return RuntimeGoodputScenario(
        failures=SeriesFailureScenario.from_node_days(per_node, n_devices=gpus, devices_per_node=8),
        workload=Workload(name="BLOOM-176B", parameters=176e9),
        bytes_per_param=checkpoint / Quantity(176e9, "parameter"),
        recovery=RecoveryBudget.default().variant(
            write_bandwidth=checkpoint / fact("reliability.bloom_write_time").quantity
        ),
        window="1 week",
        preemption_rate="0 1/day",
        interval=fact("reliability.bloom_interval").quantity,
        **_NONE,
    )


_ENTRIES = {
    "Llama2_70BRuntimeGoodput128": _Entry(
        "Llama 2 70B for a week on 128 GPUs of a shared pool: input waits and one forced preemption a day",
        _llama2_70b,
    ),
    "Llama3_405BRuntimeGoodput16384": _Entry(
        "Llama 3 405B for 54 days on 16,384 GPUs: failures by the causes of its report, planned stops",
        _llama3_405b,
    ),
    "Lab08_175BRuntimeGoodput16384": _Entry(
        "The job of Lab 08: 175 billion parameters on 16,384 GPUs, 40 s writes, a failure every 3 h",
        _lab08_175b,
    ),
    "OPT_175BRuntimeGoodput1024": _Entry(
        "OPT-175B for 33 days on 1,024 GPUs that lose two machines a day",
        _opt_175b,
    ),
    "BLOOM_176BRuntimeGoodput384": _Entry(
        "BLOOM-176B for a week on 384 GPUs: a GPU lost a week, 2.3 TB written in 40 s every 3 h",
        _bloom_176b,
    ),
}


class UnknownScenario(UnknownName, AttributeError):
    """A scenario that is not in the catalogue; an attribute error too, as `hasattr` expects."""


class _Catalogue:
    """The named scenarios, as attributes."""

    __slots__ = ()

    def __getattr__(self, name: str) -> RuntimeGoodputScenario:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> RuntimeGoodputScenario:
        if name not in _ENTRIES:
            raise UnknownScenario("scenario", name, list(_ENTRIES))
        return _ENTRIES[name].build()

    def __iter__(self) -> Iterator[str]:
        return iter(_ENTRIES)

    def __len__(self) -> int:
        return len(_ENTRIES)

    def __dir__(self) -> list[str]:
        return ["described", *_ENTRIES]

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"Named scenarios cannot be changed; make a variant of {name}.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"Named scenarios cannot be removed: {name}.")

    def described(self) -> dict[str, str]:
        """Return one sentence on each scenario, by name."""
        return {name: entry.description for name, entry in _ENTRIES.items()}


Scenarios = _Catalogue()
"""The named scenarios: `Scenarios.Llama2_70BRuntimeGoodput128.result`."""
