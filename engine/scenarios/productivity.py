"""ML productivity goodput: scheduling × runtime × program goodput, and where the rest of the pool went."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator

from engine.errors import InvalidInput
from engine.model import Frozen
from engine.reliability.fields import Table, Unchanging
from engine.units import Price, number

Factor = Annotated[
    float, BeforeValidator(lambda value: number(value, "value", low=0.0, high=1.0, low_open=True))
]
Names = Annotated[dict[str, float], Unchanging]


class ProductivityGoodput(Frozen):
    """The product of the three factors and the share of the pool that each one costs.

    The shares of the pool, 1−S, S(1−R) and SR(1−P), and `mpg` add up to 1.
    """

    mpg: float
    job_product: float
    after_scheduling: float
    after_runtime: float
    scheduling_share: float
    runtime_share: float
    program_share: float
    point_value: Names
    ceiling_ratio: Names
    ceiling_gain: Names
    mpg_at_ceiling: Names
    full_scheduling_gain: float
    cost_multiple: float
    job_cost_multiple: float
    runtime_headroom: float
    useful_rate: Price | None


class ProductivityGoodputScenario(Frozen):
    """ML productivity goodput S·R·P of a job on a pool.

    Parameters
    ----------
    scheduling: S, share of the pool's device time that jobs hold.
    runtime: R, share of held time that becomes retained steps.
    program: P, model FLOPs utilisation of those steps.
    ceilings: what each factor, by its letter S, R or P, could reach at best; may be empty.
    device_hour_rate: the price of a device hour, or None.

    Raises
    ------
    InvalidInput: naming the field, for a factor that is not above 0 and at most 1.

    Source: Google Cloud, "Introducing ML Productivity Goodput", 10 April 2024; arXiv 2502.06982.
    """

    scheduling: Factor
    runtime: Factor
    program: Factor
    ceilings: Annotated[dict[str, Factor], Unchanging] = Table()
    device_hour_rate: Price | None = None

    def model_post_init(self, _: Any) -> None:
        """Refuse a ceiling of a factor that does not exist."""
        unknown = sorted(set(self.ceilings) - {"S", "R", "P"})
        if unknown:
            raise InvalidInput("ceilings", unknown[0], "ceilings of S, R and P only")

    @property
    def result(self) -> ProductivityGoodput:
        """The product, the shares, and what a better factor would be worth."""
        factors = {"S": self.scheduling, "R": self.runtime, "P": self.program}
        s, r, p = factors.values()
        mpg = s * r * p
        point = {"S": r * p, "R": s * p, "P": s * r}
        gain = {name: (top - factors[name]) * point[name] for name, top in self.ceilings.items()}
        return ProductivityGoodput(
            mpg=mpg,
            job_product=r * p,
            after_scheduling=s,
            after_runtime=s * r,
            scheduling_share=1 - s,
            runtime_share=s * (1 - r),
            program_share=s * r * (1 - p),
            point_value=point,
            ceiling_ratio={name: top / factors[name] for name, top in self.ceilings.items()},
            ceiling_gain=gain,
            mpg_at_ceiling={name: top * point[name] for name, top in self.ceilings.items()},
            full_scheduling_gain=(1 - s) * r * p,
            cost_multiple=1 / mpg,
            job_cost_multiple=1 / (r * p),
            runtime_headroom=1 / r - 1,
            useful_rate=None if self.device_hour_rate is None else self.device_hour_rate / mpg,
        )

    def outcome(self) -> ProductivityGoodput:
        """Return `result`, as every scenario does."""
        return self.result
