"""Field types that the reliability models share: counts, rates, sizes, and tables that stay as they are."""

from __future__ import annotations

from typing import Annotated, Any, NoReturn, TypeVar

from pydantic import AfterValidator, BeforeValidator

from engine.units import Quantity, number, quantity, quantity_field, whole

Value = TypeVar("Value")


class Table(dict[str, Value]):
    """A dictionary by name that cannot be changed once it is built."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("This table cannot be changed; make a variant of the model that holds it.")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type, tuple[dict[str, Value]]]:
        return Table, (dict(self),)


Unchanging = AfterValidator(Table)
"""Marks a dictionary field as one that cannot be changed."""

Count = Annotated[int, BeforeValidator(lambda value: whole(value, "value", low=1, high=10**12))]
"""A whole number from 1 to 10¹²."""
CountOrZero = Annotated[int, BeforeValidator(lambda value: whole(value, "value"))]
"""A whole number of at least 0."""
Wait = Annotated[float, BeforeValidator(lambda value: number(value, "value", low=0.0))]
"""A finite fraction of at least 0; one above 1 is accepted and makes the result invalid."""
Rate = quantity_field("1/h")
"""Events per time, at least 0."""
DailyRate = quantity_field("1/day")
"""Events per day, at least 0."""
MeanTime = quantity_field("h", low_open=True, infinite=True)
"""A mean time above 0; infinite where nothing fails."""


def _after(first: Any, field: Any) -> Any:
    return Annotated[field, BeforeValidator(first)]


def _parameters(value: Any) -> Any:
    return (value, "parameter") if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def _per_parameter(value: Any) -> Any:
    given = quantity(value, "value", "bytes per parameter, such as '14 B/parameter'")
    return given / Quantity(1, "parameter") if given.check("[information]") else given


Parameters = _after(_parameters, quantity_field("parameter", low_open=True))
"""A number of model parameters above 0, given plain or as a quantity."""
BytesPerParameter = _after(_per_parameter, quantity_field("B/parameter", low_open=True))
"""Bytes per parameter above 0, given as such or as bytes."""
