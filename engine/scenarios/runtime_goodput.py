"""The goodput of a long training job: startup, input waits, checkpoints, recovery and preemptions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Self

import numpy as np
import pint
from pydantic import BeforeValidator, PrivateAttr

from engine.errors import NoAnswer
from engine.model import Frozen
from engine.reliability.failures import SeriesFailureScenario
from engine.reliability.fields import BytesPerParameter, DailyRate, Parameters, Wait
from engine.reliability.recovery import RecoveryBudget
from engine.reliability.runtime_terms import GoodputInputs, crossing_rate, failure_side, runtime_terms
from engine.scenarios.goodput_result import Columns, RuntimeGoodput
from engine.units import PositiveTime, Quantity, Time, ureg, whole

_BYTE = ureg.Unit("B")


class Workload(Frozen):
    """A model that is trained: its name and its number of parameters, a plain number or a quantity."""

    name: str = ""
    parameters: Parameters


def _workload(value: Any) -> Any:
    if isinstance(value, Workload) or not hasattr(value, "parameters"):
        return value
    return {"name": str(getattr(value, "name", "")), "parameters": value.parameters}


class RuntimeGoodputScenario(Frozen):
    """Runtime goodput of a job on `failures.n_devices` devices over a held window.

    With B bytes, W bandwidth, M mean time between failures, H window, a input wait, L lost work, f preemption
    rate and recovery d, r, w: δ = B/W, τ = √(2δM) or `interval`,
    loss = (r+δ+w)/H + a + δ/τ + τ/2M + (d+r+δ+w)/M + f(L+r+δ+w), goodput = 1 − loss. Each result also carries
    the exact goodput and says where the first-order one does not hold.

    Parameters
    ----------
    failures: the machines and the size of the job.
    workload: anything with `.parameters`.
    bytes_per_param: checkpoint bytes per parameter, a quantity such as '14 B/parameter' or '14 B'.
    recovery: the restart budget and the checkpoint bandwidth.
    input_wait: a, a fraction of held time, 0 or more; above 1 the result is marked invalid.
    window: H, held time per launch, above 0.
    lost_work: L, work lost by one forced preemption.
    preemption_rate: f, forced preemptions per time.
    interval: τ; None for Young's.

    Raises
    ------
    InvalidInput: naming the field; a bare number where a quantity is needed is one.
    """

    failures: SeriesFailureScenario
    workload: Annotated[Workload, BeforeValidator(_workload)]
    bytes_per_param: BytesPerParameter
    recovery: RecoveryBudget
    input_wait: Wait
    window: PositiveTime
    lost_work: Time
    preemption_rate: DailyRate
    interval: PositiveTime | None = None
    _inputs: GoodputInputs = PrivateAttr()

    @property
    def checkpoint_bytes(self) -> pint.Quantity[Any]:
        """B, parameters times bytes per parameter."""
        return Quantity(self.workload.parameters.m * self.bytes_per_param.m_as("B/parameter"), _BYTE)

    @property
    def result(self) -> RuntimeGoodput:
        """The goodput of the job, term by term."""
        return RuntimeGoodput(self._columns(np.array([self.failures.n_devices])), 0)

    def outcome(self) -> RuntimeGoodput:
        """Return `result`, as every scenario does."""
        return self.result

    def at(self, n_devices: int) -> Self:
        """Return the same scenario on another number of devices, at least 1, all else fixed."""
        return self.model_copy(update={"failures": self.failures.on(n_devices)})

    def sweep(self, sizes: Iterable[int]) -> dict[int, RuntimeGoodput]:
        """Return the result at each number of devices, computed in one pass.

        Raises
        ------
        InvalidInput: if a size is not a whole number of at least 1.
        """
        counts = [n if type(n) is int and n > 0 else whole(n, "sizes", low=1) for n in sizes]
        columns = self._columns(np.array(counts, dtype=np.float64))
        return {n: RuntimeGoodput(columns, row) for row, n in enumerate(counts)}

    def crossover(self, step: int) -> int:
        """Return the least n + k·step, k ≥ 0, at which failures waste strictly more than input waits do.

        n is the number of devices of this scenario. The crossing is solved (see `crossing_rate`), then set
        right by a step where rounding put it on the wrong side.

        Raises
        ------
        InvalidInput: if `step` is not a whole number from 1 to 10¹².
        NoAnswer: where nothing fails, so that the failure side never exceeds the input waits.
        """
        stride = whole(step, "step", low=1, high=10**12)
        inputs, start, rate = self._inputs, self.failures.n_devices, self.failures.device_rate_si

        def crossed(k: int) -> bool:
            return failure_side(inputs, rate * (start + k * stride)) > self.input_wait

        if crossed(0):
            return start
        size = crossing_rate(inputs) / rate if rate else np.inf
        if not np.isfinite(size):
            raise NoAnswer(
                "The failure side never exceeds the input waits.",
                hint="Give components that fail, or a smaller input wait.",
            )
        return start + stride * _first(crossed, max(1, (int(size) - start) // stride))

    def model_post_init(self, _: Any) -> None:
        """Read the quantities once, as plain SI numbers; only the failures differ between sizes."""
        recovery = self.recovery
        size = self.workload.parameters.m * self.bytes_per_param.m_as("B/parameter")
        self._inputs = GoodputInputs(
            write=size / recovery.write_bandwidth.m_as("B/s"),
            detection=recovery.detection.m_as("s"),
            restart=recovery.restart.m_as("s"),
            warmup=recovery.warmup.m_as("s"),
            input_wait=self.input_wait,
            window=self.window.m_as("s"),
            lost_work=self.lost_work.m_as("s"),
            preemption_rate=self.preemption_rate.m_as("1/s"),
            interval=None if self.interval is None else self.interval.m_as("s"),
        )

    def _columns(self, sizes: Any) -> Columns:
        return runtime_terms(self._inputs, sizes * self.failures.device_rate_si)


def _first(crossed: Any, guess: int) -> int:
    """Return the least k at which a condition that turns true once is true, searching around `guess`."""
    low, high, reach = guess - 1, guess, 1
    while crossed(low) and low > 0:
        low, reach = max(0, low - reach), reach * 2
    while not crossed(high):
        high, reach = high + reach, reach * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if crossed(middle) else (middle, high)
    return high


__all__ = ["RecoveryBudget", "RuntimeGoodput", "RuntimeGoodputScenario", "SeriesFailureScenario", "Workload"]
