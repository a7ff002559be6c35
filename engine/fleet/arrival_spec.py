"""How arrivals are spread over time: the mode and the numbers that belong to it."""

from __future__ import annotations

from typing import Any, Literal

from engine.errors import InvalidInput
from engine.fleet.arrival_trace import ArrivalTrace, real
from engine.model import Frozen
from engine.units import whole

Mode = Literal["closed", "fixed-rate", "poisson", "burst", "replay"]

OWN_FIELDS: dict[str, tuple[str, ...]] = {
    "closed": (),
    "fixed-rate": ("rate_per_second",),
    "poisson": ("rate_per_second",),
    "burst": ("burst_size", "burst_interval_seconds"),
    "replay": ("trace",),
}
"""The fields that each mode needs; it takes no others."""


class ArrivalSpec(Frozen):
    """How arrivals are spread over time: a mode and the fields of that mode, no others.

    Parameters
    ----------
    mode: `closed`, `fixed-rate`, `poisson`, `burst` or `replay`.
    rate_per_second: mean arrivals a second, above 0; for `fixed-rate` and `poisson`.
    burst_size: arrivals at one instant, at least 1; for `burst`.
    burst_interval_seconds: time between bursts in seconds, above 0; for `burst`.
    trace: the recorded arrivals; for `replay`.

    Raises
    ------
    InvalidInput: naming the field that is missing, out of range or another mode's.
    """

    mode: Mode = "closed"
    rate_per_second: float | None = None
    burst_size: int | None = None
    burst_interval_seconds: float | None = None
    trace: ArrivalTrace | None = None

    def __init__(
        self,
        mode: str = "closed",
        rate_per_second: float | None = None,
        burst_size: int | None = None,
        burst_interval_seconds: float | None = None,
        trace: ArrivalTrace | None = None,
        **unknown: Any,
    ) -> None:
        given: dict[str, Any] = {
            "rate_per_second": rate_per_second,
            "burst_size": burst_size,
            "burst_interval_seconds": burst_interval_seconds,
            "trace": trace,
        }
        _check_ownership(mode, given)
        super().__init__(mode=mode, **_checked(given), **unknown)

    @property
    def open_loop(self) -> bool:
        """Whether arrivals follow a schedule of their own."""
        return self.mode != "closed"

    def case_label(self) -> str:
        """Return a short name for tables: `fixed10`, `poisson0.25`, `burst5x2.5s`, else the mode."""
        if self.mode == "burst":
            return f"burst{self.burst_size}x{self.burst_interval_seconds:g}s"
        if self.rate_per_second is None:
            return self.mode
        return f"{self.mode.removesuffix('-rate')}{self.rate_per_second:g}"

    def to_record(self) -> dict[str, Any]:
        """Return the mode and its own fields, ready for JSON; a trace is named, counted and digested."""
        record: dict[str, Any] = {name: getattr(self, name) for name in ("mode", *OWN_FIELDS[self.mode])}
        return record | ({"trace": self.trace.to_record()} if self.trace is not None else {})


def _check_ownership(mode: str, given: dict[str, Any]) -> None:
    if not isinstance(mode, str) or mode not in OWN_FIELDS:
        raise InvalidInput("mode", mode, "one of " + ", ".join(OWN_FIELDS))
    for name, value in given.items():
        if value is None and name in OWN_FIELDS[mode]:
            raise InvalidInput(name, None, f"a value; mode {mode} needs it")
        if value is not None and name not in OWN_FIELDS[mode]:
            raise InvalidInput(name, value, f"nothing; mode {mode} does not use it")


def _checked(given: dict[str, Any]) -> dict[str, Any]:
    fields = {name: value for name, value in given.items() if value is not None}
    if "burst_size" in fields:
        fields["burst_size"] = whole(fields["burst_size"], "burst_size", low=1)
    for name, unit in (("rate_per_second", "arrivals a second"), ("burst_interval_seconds", "seconds")):
        if name in fields:
            fields[name] = real(fields[name], name, f"a finite number of {unit} above 0", above_zero=True)
    return fields


__all__ = ["OWN_FIELDS", "ArrivalSpec", "Mode"]
