"""What a profile measured, and the error when it measured nothing."""

from __future__ import annotations

from typing import Any, Literal

import pint
from pydantic import Field

from engine.errors import FleetlabError, NoAnswer
from engine.model import Frozen
from engine.units import Quantity, si


class ProfileError(FleetlabError, RuntimeError):
    """Nothing trustworthy was measured; the plan stays on its static estimates."""

    code = "profile"


class ProfileResult(Frozen):
    """What was measured. A number that was not measured is absent, never estimated.

    Parameters
    ----------
    basis: always `"profiled"`.
    parameters: of the model that was trained; a stand-in when the plan asks for another number.
    peak_vram_gb: the most GPU memory held, in GB of 10⁹ bytes; absent without a GPU.
    host_ram_gb: the most memory the process held.
    step_time_s: the median of the measured steps.
    tokens_per_s: tokens of a step over its time; absent for models without tokens.
    dataloader_wait_fraction: share of a step spent waiting for data; absent without an input pipeline.
    checkpoint_save_s: time to write one checkpoint and have it on the disk.
    checkpoint_restore_s: time to read it back.
    checkpoint_size_gb: its size.
    measured_steps, warmup_steps: the steps that counted, and those before them that did not.
    notes: what was run, and why a number is absent.
    """

    basis: Literal["profiled"] = "profiled"
    parameters: int | None = Field(default=None, ge=1)
    peak_vram_gb: float | None = Field(default=None, ge=0)
    host_ram_gb: float | None = Field(default=None, ge=0)
    step_time_s: float | None = Field(default=None, gt=0)
    tokens_per_s: float | None = Field(default=None, gt=0)
    dataloader_wait_fraction: float | None = Field(default=None, ge=0, le=1)
    checkpoint_save_s: float | None = Field(default=None, ge=0)
    checkpoint_restore_s: float | None = Field(default=None, ge=0)
    checkpoint_size_gb: float | None = Field(default=None, gt=0)
    measured_steps: int = Field(ge=1)
    warmup_steps: int = Field(ge=0)
    notes: tuple[str, ...] = ()

    def checkpoint_write(self, size: Any) -> pint.Quantity[Any]:
        """Return the time to write a checkpoint of `size` at the measured rate, size · save / measured size.

        A stand-in's checkpoint is small, so this holds as far as the disk's rate does not depend on size.

        Parameters
        ----------
        size: the checkpoint that is asked about, in bytes or a multiple.

        Raises
        ------
        InvalidInput: for a size that is not one.
        NoAnswer: if no checkpoint was measured.
        """
        gigabytes = si(size, "GB", "size")
        if self.checkpoint_save_s is None or self.checkpoint_size_gb is None:
            raise NoAnswer("This profile measured no checkpoint, so its write time is not known.")
        return Quantity(gigabytes * self.checkpoint_save_s / self.checkpoint_size_gb, "s")
