"""What one restart costs: detection, restart or reschedule, loading the checkpoint, warm-up."""

from __future__ import annotations

from typing import Any

import pint

from engine.facts import fact
from engine.model import Frozen
from engine.reliability.fields import Count
from engine.units import Bandwidth, GpuTime, Quantity, Time, si, whole

Duration = pint.Quantity[Any]


class RecoveryCost(Frozen):
    """One restart, term by term, and what restarts at a failure interval cost in a day."""

    detection: Time
    restart: Time
    load: Time
    warmup: Time
    total: Time
    failures_per_day: float
    lost_per_day: Time
    day_share: float
    gpu_hours_per_day: GpuTime
    n_devices: Count


class RecoveryBudget(Frozen):
    """The four-term budget of a restart, d + r + B/W + w, and the bandwidth of checkpoints.

    Parameters
    ----------
    detection: d, until somebody knows.
    restart: r, restart or reschedule.
    write_bandwidth: W, at which a checkpoint of B bytes is written and loaded, above 0.
    warmup: w, until full speed.
    """

    detection: Time
    restart: Time
    write_bandwidth: Bandwidth
    warmup: Time

    @classmethod
    def default(cls) -> RecoveryBudget:
        """Return the assumed budget of the labs: 60 s, 180 s, 100 GB/s, 120 s."""
        names = ("detection", "reschedule", "checkpoint_bandwidth", "warm_up")
        values = [fact(f"reliability.{name}").quantity for name in names]
        return cls(detection=values[0], restart=values[1], write_bandwidth=values[2], warmup=values[3])

    def write_time(self, checkpoint: Any) -> Duration:
        """Return δ = B/W, the time to write or load a checkpoint of B bytes."""
        size = si(checkpoint, "B", "checkpoint", low_open=True)
        return Quantity(size / self.write_bandwidth.m_as("B/s"), "s")

    def cost(self, checkpoint: Any, failure_interval: Any, n_devices: int) -> RecoveryCost:
        """Return one restart and its daily cost when a job of n devices fails every `failure_interval`.

        Parameters
        ----------
        checkpoint: B, bytes above 0.
        failure_interval: M, a time above 0.
        n_devices: devices that wait during a restart, at least 1.

        Raises
        ------
        InvalidInput: naming the parameter.
        """
        load = self.write_time(checkpoint)
        total = (self.detection + self.restart + load + self.warmup).m_as("s")
        per_day = 86400 / si(failure_interval, "s", "failure_interval", low_open=True)
        devices = whole(n_devices, "n_devices", low=1)
        return RecoveryCost(
            detection=self.detection,
            restart=self.restart,
            load=load,
            warmup=self.warmup,
            total=(total, "s"),
            failures_per_day=per_day,
            lost_per_day=(total * per_day, "s"),
            day_share=total * per_day / 86400,
            gpu_hours_per_day=(total * per_day / 3600 * devices, "gpu*h"),
            n_devices=devices,
        )
