"""The levers of a mission plan: a choice, a range of steps, a switch."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from engine.errors import InvalidInput
from engine.mission_part import PlanPart, Said, rejected
from engine.units import Quantity, quantity, si

_SI_UNITS = ("s", "byte/s", "byte", "")


class Option(PlanPart):
    """One of the values of a choice, with its name and what it does."""

    value: Said
    label: Said
    hint: str = ""


class ChoiceLever(PlanPart):
    """A lever with a few named values; `start` is the value it opens at."""

    kind: Literal["choice"]
    label: Said
    hint: str = ""
    options: tuple[Option, ...] = Field(min_length=2)
    start: Said

    @property
    def values(self) -> tuple[str, ...]:
        """The values that a scenario takes, in the order shown."""
        return tuple(option.value for option in self.options)

    @model_validator(mode="after")
    def _check(self) -> ChoiceLever:
        if len(set(self.values)) < len(self.values):
            raise rejected("options", f"two options have the same value: {', '.join(self.values)}.")
        if self.start not in self.values:
            raise rejected(
                "start", f"the start {self.start!r} is not among the options {', '.join(self.values)}."
            )
        return self


class SwitchLever(PlanPart):
    """A lever that is on or off."""

    kind: Literal["switch"]
    label: Said
    hint: str = ""
    start: Annotated[bool, Field(strict=True)]

    @property
    def values(self) -> tuple[bool, ...]:
        """Off and on."""
        return (False, True)


def _step(text: str) -> str:
    si(text, _si_unit(text), "step", low_open=True)
    return text


def _si_unit(text: str) -> str:
    found = quantity(text, "step")
    return next((unit for unit in _SI_UNITS if found.check(Quantity(1, unit).dimensionality)), "")


Step = Annotated[Said, AfterValidator(_step)]


class Band(PlanPart):
    """A marked part of a range, both ends included, and what it stands for."""

    low: Step = Field(alias="from")
    high: Step = Field(alias="to")
    label: Said


class RangeLever(PlanPart):
    """A lever with steps that grow, such as round times from 30 s to 24 h; it opens at `start`.

    The steps are evenly spaced on the slider, whatever their ratio.
    """

    kind: Literal["range"]
    label: Said
    hint: str = ""
    steps: tuple[Step, ...] = Field(min_length=2)
    start: Step
    band: Band | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The steps as the plan writes them."""
        return self.steps

    @property
    def values(self) -> tuple[str, ...]:
        """The values that a scenario takes: the steps themselves, which are quantities."""
        return self.steps

    @property
    def unit(self) -> str:
        """The SI unit of `magnitudes`: s for times, byte/s for rates."""
        return _si_unit(self.steps[0])

    @property
    def magnitudes(self) -> tuple[float, ...]:
        """The steps in the SI unit."""
        return tuple(si(step, self.unit, "step") for step in self.steps)

    @property
    def seconds(self) -> tuple[float, ...]:
        """The steps in seconds.

        Raises
        ------
        InvalidInput: if they are not times.
        """
        return tuple(si(step, "s", "step") for step in self.steps)

    @property
    def band_span(self) -> tuple[int, int] | None:
        """The first and the last step inside the band, by number; None without a band."""
        if self.band is None:
            return None
        low, high = (si(end, self.unit, "band") for end in (self.band.low, self.band.high))
        inside = [number for number, step in enumerate(self.magnitudes) if low <= step <= high]
        return inside[0], inside[-1]

    def snap(self, value: object) -> str:
        """Return the step nearest to `value` by ratio; of two that are as near, the smaller.

        Raises
        ------
        InvalidInput: if `value` is not a quantity of the steps' dimension above 0.
        """
        wanted = math.log(si(value, self.unit, self.label, low_open=True))
        return min(self.steps, key=lambda step: abs(math.log(si(step, self.unit, "step")) - wanted))

    @model_validator(mode="after")
    def _check(self) -> RangeLever:
        sizes = self._sizes("steps", self.steps)
        for number, (before, after) in enumerate(pairwise(sizes), 1):
            if after <= before:
                raise rejected("steps", f"the steps do not grow at {self.steps[number]}.", number)
        if self.start not in self.steps:
            raise rejected("start", f"the start {self.start!r} is not among the steps.")
        if self.band is not None:
            low, high = self._sizes("band", (self.band.low, self.band.high))
            if not any(low <= size <= high for size in sizes):
                raise rejected("band", f"no step lies between {self.band.low} and {self.band.high}.")
        return self

    def _sizes(self, key: str, steps: tuple[str, ...]) -> list[float]:
        sizes = []
        for number, step in enumerate(steps):
            try:
                sizes.append(si(step, self.unit, "step"))
            except InvalidInput as error:
                said = f"{step} does not have the unit of {self.steps[0]}."
                raise rejected(key, said, number) from error
        return sizes


Lever = Annotated[ChoiceLever | RangeLever | SwitchLever, Field(discriminator="kind")]
