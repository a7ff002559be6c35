"""Act II of Lab 08: how often a job of 16,384 GPUs that fails every 3 h should write a checkpoint."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from engine.errors import InvalidInput
from engine.facts import fact
from engine.model import Frozen
from engine.reliability.fields import Count
from engine.scenarios.gamble_outcome import CheckpointGambleOutcome
from engine.units import Bandwidth, Bytes, Fraction, PositiveTime, Price, Time, si


def _of(name: str) -> Any:
    return Field(default_factory=lambda: fact(name).quantity)


def _checkpoint() -> Any:
    return fact("reliability.lab_parameters").quantity * fact("reliability.lab_bytes_per_parameter").quantity


def _bandwidth() -> Any:
    return _checkpoint() / fact("reliability.bloom_write_time").quantity


class CheckpointGambleScenario(Frozen):
    """The question of Act II: how much of the held time this interval and this storage keep.

    The job writes B bytes at bandwidth W, so a write takes δ = B/W; by default 40 s, which is what BLOOM's
    took. Its failures are exponential with mean M; a restart takes R, a constant of the act.

    Parameters
    ----------
    interval: τ, useful work between two writes, above 0.
    write_bandwidth: W, above 0.
    seed: of the sampled run and of the simulated points.
    checkpoint, mtbf, restart_time, downtime, gpus, job_mfu, price: the job, with defaults from the facts.
    window: length of the sampled run.

    Raises
    ------
    InvalidInput: naming the field; also for an interval, a write, a restart or a downtime that is so long
        against M that nothing would ever be kept.
    """

    interval: PositiveTime = Field(default="1 h")
    write_bandwidth: Bandwidth = Field(default_factory=_bandwidth)
    seed: int = Field(default=8, ge=0, lt=2**63)
    checkpoint: Bytes = Field(default_factory=_checkpoint)
    mtbf: PositiveTime = _of("reliability.lab_mtbf")
    restart_time: Time = _of("reliability.lab_restart")
    downtime: Time = Field(default="0 s")
    gpus: Count = Field(default_factory=lambda: int(fact("llama3.gpus").value))
    gpus_per_node: int = Field(default=8, ge=1, le=8)
    job_mfu: Fraction = _of("fleet.job_mfu")
    price: Price = _of("money.h100_price")
    window: PositiveTime = Field(default="12 h")

    def model_post_init(self, _: Any) -> None:
        """Refuse jobs that keep nothing, and nodes that do not make up the GPUs."""
        mtbf = si(self.mtbf, "s", "mtbf")
        limits = (
            ("checkpoint", si(self.checkpoint, "B", "checkpoint"), 0.0, "a size above 0 bytes"),
            ("interval", si(self.interval, "s", "interval"), 200 * mtbf, "at most 200 times `mtbf`"),
            ("write_bandwidth", self.write_time_s, 200 * mtbf, "one that writes within 200 times `mtbf`"),
            ("restart_time", si(self.restart_time, "s", "restart_time"), 5 * mtbf, "at most 5 times `mtbf`"),
            ("downtime", si(self.downtime, "s", "downtime"), 5 * mtbf, "at most 5 times `mtbf`"),
        )
        for name, value, most, accepted in limits:
            if (value > most) if most else (value == 0):
                raise InvalidInput(name, getattr(self, name), accepted)
        if self.gpus % self.gpus_per_node:
            raise InvalidInput("gpus", self.gpus, f"a multiple of the {self.gpus_per_node} GPUs of a node")

    @property
    def write_time_s(self) -> float:
        """δ = B/W in seconds."""
        return si(self.checkpoint, "B", "checkpoint") / si(self.write_bandwidth, "B/s", "write_bandwidth")

    def outcome(self) -> CheckpointGambleOutcome:
        """Return the goodput of the interval, all others beside it, and one run that shows why."""
        from engine.scenarios.gamble_run import gamble_outcome

        return gamble_outcome(self)
