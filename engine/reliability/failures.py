"""How often something fails: a series of components, in which any one failure stops the job."""

from __future__ import annotations

import math
from typing import Annotated, Any, Self

import pint
from pydantic import PrivateAttr

from engine.errors import InvalidInput
from engine.facts import fact, facts
from engine.model import Frozen
from engine.reliability.fields import Count, CountOrZero, MeanTime, Rate, Table, Unchanging
from engine.units import PositiveTime, Quantity, Time, si, ureg, whole

_PER_HOUR = ureg.Unit("1/h")
_HOUR = ureg.Unit("h")


class SeriesFailures(Frozen):
    """The failure rates of a job: by component, of a device and of the whole, and the mean time between."""

    component_rates: Annotated[dict[str, Rate], Unchanging]
    device_rate: Rate
    system_rate: Rate
    mtbf: MeanTime
    failures_per_day: float


class SeriesFailureScenario(Frozen):
    """Failures of a job on n devices in nodes, each node a series of components.

    A component with c pieces in a node of k devices and a mean time to failure T adds c/(k·T) to the rate of
    a device; a job of n devices fails at λ = n·Σ c/(k·T), so its mean time between failures is M = 1/λ. A
    node that is used in part counts in part.

    Parameters
    ----------
    n_devices: devices of the job, at least 1.
    devices_per_node: k, at least 1.
    component_mttf: T of each component by name, a time above 0.
    per_node: c of each component by the same names, at least 0.

    Raises
    ------
    InvalidInput: naming the field, also when the two tables do not name the same components.
    """

    n_devices: Count
    devices_per_node: Count
    component_mttf: Annotated[dict[str, PositiveTime], Unchanging]
    per_node: Annotated[dict[str, CountOrZero], Unchanging]
    _device_rate: float = PrivateAttr(0.0)

    def model_post_init(self, _: Any) -> None:
        """Refuse two tables that name different components, and add up the rate of a device once."""
        if self.component_mttf.keys() != self.per_node.keys():
            names = ", ".join(sorted(self.component_mttf)) or "none"
            raise InvalidInput("per_node", dict(self.per_node), f"a count for each of: {names}")
        rates = (self.per_node[name] / mttf.m_as("s") for name, mttf in self.component_mttf.items())
        self._device_rate = math.fsum(rates) / self.devices_per_node

    @classmethod
    def from_node_days(cls, rate: Any, *, n_devices: int, devices_per_node: int) -> Self:
        """Return a job whose nodes fail at `rate`, such as 6.50 per 1,000 node-days.

        Raises
        ------
        InvalidInput: if `rate` is not failures per node and time, above 0.
        """
        per_node_hour = si(rate, "1/(node*h)", "rate", low_open=True)
        return cls(
            n_devices=n_devices,
            devices_per_node=devices_per_node,
            component_mttf={"node": (1 / per_node_hour, "h")},
            per_node={"node": 1},
        )

    @classmethod
    def from_llama3_causes(cls, *, n_devices: int, devices_per_node: int = 8) -> Self:
        """Return a job that fails by the causes, and at the rate, of Llama 3's 54 days on 16,384 GPUs.

        The rate of a cause is its count in table 5 by the node-days of the snapshot. The printed percentages
        are not used: 148 faulty GPUs of 419 are 35.3 %, not 30.1 %.
        """
        nodes = fact("llama3.gpus").value / fact("hardware.gpus_per_node").value
        hours = fact("llama3.snapshot").quantity.m_as("h") * nodes
        counts = {f.label: f.value for name, f in facts().items() if name.startswith("llama3.cause_")}
        return cls(
            n_devices=n_devices,
            devices_per_node=devices_per_node,
            component_mttf={cause: (hours / count, "h") for cause, count in counts.items()},
            per_node=dict.fromkeys(counts, 1),
        )

    @property
    def device_rate_si(self) -> float:
        """Σ c/(k·T), failures of one device per second."""
        return self._device_rate

    @property
    def mtbf(self) -> pint.Quantity[Any]:
        """M = 1/(n·device rate), infinite where nothing fails."""
        mtbf: pint.Quantity[Any] = self.result.mtbf
        return mtbf

    @property
    def result(self) -> SeriesFailures:
        """The failure rates of the job."""
        rates = {
            name: self.per_node[name] / (self.devices_per_node * mttf.m_as("h"))
            for name, mttf in self.component_mttf.items()
        }
        device = math.fsum(rates.values())
        system = device * self.n_devices
        return SeriesFailures.model_construct(
            component_rates=Table({name: Quantity(rate, _PER_HOUR) for name, rate in rates.items()}),
            device_rate=Quantity(device, _PER_HOUR),
            system_rate=Quantity(system, _PER_HOUR),
            mtbf=Quantity(1 / system if system else math.inf, _HOUR),
            failures_per_day=24 * system,
        )

    def outcome(self) -> SeriesFailures:
        """Return `result`, as every scenario does."""
        return self.result

    def shares(self) -> dict[str, float]:
        """Return the share of each component in all failures; empty where nothing fails."""
        rates = self.result
        total = rates.device_rate.m
        return {name: rate.m / total for name, rate in rates.component_rates.items()} if total else {}

    def expected_failures(self, window: Time) -> float:
        """Return the mean number of failures in a window, window/M."""
        return si(window, "s", "window") * self.device_rate_si * self.n_devices

    def survival(self, window: Time) -> float:
        """Return the chance that the job sees no failure in a window, e^(−window/M)."""
        return math.exp(-self.expected_failures(window))

    def on(self, n_devices: int) -> Self:
        """Return the same machines under a job of another size, at least 1 device."""
        return self.model_copy(update={"n_devices": whole(n_devices, "n_devices", low=1, high=10**12)})
