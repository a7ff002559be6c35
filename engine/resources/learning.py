"""The rules that turn a history of reports into a request.

A worker's memory is asked for at `MARGIN` times the 95th percentile of the recent successes, and never below
`RETRY_FACTOR` times the limit at which a worker was killed, until another run has shown that it fits.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from engine.resources.records import ResolvedResources, ResourceReport, ResourceRequest

WINDOW = 20
"""How many of the last successes are learned from."""
MARGIN = 1.2
"""The learned percentile is multiplied by this."""
RETRY_FACTOR = 1.5
"""The limit at which a worker was killed is multiplied by this."""
PERCENTILE = 95
"""The percentile of the window that is learned."""
DEFAULTS = ResourceRequest(memory_base_gb=0.5, memory_per_worker_gb=1.0, scratch_gb=1.0, gpus=0)
"""What is asked for when nothing is known."""


@dataclass(frozen=True)
class Use:
    """One recorded report with the memory of its pod without workers."""

    report: ResourceReport
    base_gb: float

    @property
    def per_worker_gb(self) -> float:
        """Memory that each worker added: max(0, (peak − base) / workers)."""
        return max(0.0, (self.report.peak_gb - self.base_gb) / self.report.workers)


def nearest_rank(values: Sequence[float], percent: int) -> float:
    """Return the percentile by nearest rank: the value at rank ⌈percent · n / 100⌉ of the sorted values."""
    rank = max(1, -(-percent * len(values) // 100))  # whole numbers: 0.95 · n may round up past a rank
    return sorted(values)[rank - 1]


def resolve(
    successes: Sequence[Use],
    open_kills: Sequence[Use],
    hint: ResourceRequest | None = None,
    override: ResourceRequest | None = None,
) -> ResolvedResources:
    """Return what to ask for: an override field by field, else what was learned, else hint, else default.

    memory per worker = max(MARGIN · P95(window), RETRY_FACTOR · max(killed limits)); without a success the
    hint or the default stands for the first term. Base and seconds per unit are medians, scratch is learned
    as memory is, GPUs are never learned.

    Parameters
    ----------
    successes: the last successes, newest last; only the last `WINDOW` count.
    open_kills: the kills that no later success of another run has released.
    hint, override: requests of which the set fields count.
    """
    window = list(successes)[-WINDOW:]
    hint, override = hint or ResourceRequest(), override or ResourceRequest()
    per_worker = _learned([use.per_worker_gb for use in window])
    scratch = _learned([use.report.scratch_gb for use in window if use.report.scratch_gb is not None])
    floor = RETRY_FACTOR * max((use.per_worker_gb for use in open_kills), default=0.0)
    wanted = _first(per_worker, hint.memory_per_worker_gb, DEFAULTS.memory_per_worker_gb)
    return ResolvedResources(
        memory_base_gb=_first(
            override.memory_base_gb,
            _median([u.base_gb for u in window]),
            hint.memory_base_gb,
            DEFAULTS.memory_base_gb,
        ),
        memory_per_worker_gb=_first(override.memory_per_worker_gb, max(wanted, floor)),
        scratch_gb=_first(override.scratch_gb, scratch, hint.scratch_gb, DEFAULTS.scratch_gb),
        gpus=int(_first(override.gpus, hint.gpus, DEFAULTS.gpus)),
        seconds_per_unit=_known(override.seconds_per_unit, _seconds_per_unit(window), hint.seconds_per_unit),
        samples=len(window),
        source=_source(len(window), hint, override),
    )


def _source(samples: int, hint: ResourceRequest, override: ResourceRequest) -> str:
    if override.memory_per_worker_gb is not None:
        return "override"
    if samples:
        return f"learned from {samples} runs"
    return "default" if hint.memory_per_worker_gb is None else "plugin hint"


def _learned(values: list[float]) -> float | None:
    return MARGIN * nearest_rank(values, PERCENTILE) if values else None


def _median(values: list[float]) -> float | None:
    return statistics.median(values) if values else None


def _seconds_per_unit(window: list[Use]) -> float | None:
    reports = [use.report for use in window]
    return _median([r.seconds / r.units for r in reports if r.seconds is not None and r.units])


def _known(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)


def _first(*values: float | None) -> float:
    return next(value for value in values if value is not None)
