"""What `RuntimeGoodputScenario` returns: one row of a table that a sweep computes all at once."""

from __future__ import annotations

import json
from typing import Any, overload

import pint

from engine.reliability.lambert import Floats
from engine.units import Quantity, text, ureg

_SECOND = ureg.Unit("s")
Columns = dict[str, Floats | float]


class _Share:
    """A number of the row, read from its column."""

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, row: None, owner: type) -> _Share: ...
    @overload
    def __get__(self, row: RuntimeGoodput, owner: type) -> float: ...
    def __get__(self, row: RuntimeGoodput | None, owner: type) -> Any:
        return self if row is None else row.value(self.name)


class _Duration:
    """A time of the row, read from its column of seconds."""

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, row: None, owner: type) -> _Duration: ...
    @overload
    def __get__(self, row: RuntimeGoodput, owner: type) -> pint.Quantity[Any]: ...
    def __get__(self, row: RuntimeGoodput | None, owner: type) -> Any:
        return self if row is None else Quantity(row.value(self.name), _SECOND)


class RuntimeGoodput:
    """Where the held time of a job goes, term by term: first order, exact, and whether the former holds.

    A result is a read-only view of one row, so that a sweep over thousands of sizes costs one pass of numpy;
    its quantities are made when they are read.
    """

    __slots__ = ("_columns", "_row")

    mtbf = _Duration("M, mean time between failures; infinite where nothing fails.")
    write_time = _Duration("δ = B/W, one checkpoint write.")
    interval = _Duration("τ = √(2δM), or the chosen interval.")
    write_share = _Share("δ/τ.")
    rework_share = _Share("τ/2M.")
    checkpoint_share = _Share("write_share + rework_share.")
    recovery_time = _Duration("d + r + δ + w.")
    recovery_share = _Share("recovery_time/M.")
    startup_time = _Duration("r + δ + w.")
    startup_share = _Share("startup_time/H, once per window.")
    input_wait_share = _Share("a.")
    preemption_cost = _Duration("L + r + δ + w.")
    preemption_share = _Share("f·preemption_cost.")
    failure_side = _Share("checkpoint_share + recovery_share.")
    runtime_loss = _Share("The sum of the five shares.")
    runtime_goodput = _Share("1 − runtime_loss, first order; means nothing where `valid` is false.")
    interruption_interval = _Duration("1/(1/M + f).")
    interruption_checkpoint_interval = _Duration("Young's interval for the interruption interval.")
    exact_goodput = _Share("(1−a)·(1−startup)·g/(1+f·preemption_cost), between 0 and 1.")

    def __init__(self, columns: Columns, row: int) -> None:
        self._columns = columns
        self._row = row

    def value(self, name: str) -> float:
        """Return one term as a plain number, a time in seconds."""
        column = self._columns[name]
        return column if isinstance(column, float) else column.item(self._row)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the first-order value does not hold; empty where it does."""
        value = self.value
        checks = (
            (value("input_wait_share") > 1, "input wait > 1: the job waits longer than it holds its devices"),
            (value("startup_share") > 1, "startup > window: the window ends before the first step"),
            (value("write_time") >= 2 * value("mtbf"), "δ ≥ 2M: a write takes two failure intervals or more"),
            (value("runtime_loss") > 1, "loss > 1: the first-order losses add up to more than all held time"),
        )
        return tuple(reason for fails, reason in checks if fails)

    @property
    def valid(self) -> bool:
        """Whether the first-order value may be shown as a goodput."""
        return not self.reasons

    def model_dump(self) -> dict[str, Any]:
        """Return all terms by name, times as texts such as `'60.0 s'`, with `valid` and `reasons`."""
        terms = {
            name: text(getattr(self, name)) if isinstance(term, _Duration) else self.value(name)
            for name, term in vars(RuntimeGoodput).items()
            if isinstance(term, (_Duration, _Share))
        }
        return terms | {"valid": self.valid, "reasons": list(self.reasons)}

    def model_dump_json(self) -> str:
        """Return `model_dump` as JSON."""
        return json.dumps(self.model_dump(), ensure_ascii=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RuntimeGoodput) and self.model_dump() == other.model_dump()

    def __hash__(self) -> int:
        return hash(self.model_dump_json())

    def __repr__(self) -> str:
        return f"RuntimeGoodput({self.value('runtime_goodput'):.6g}, exact {self.value('exact_goodput'):.6g})"
