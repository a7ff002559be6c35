"""The base of everything in a mission plan: frozen, every key known, every error with its place."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

Said = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True, strict=True)]
"""A text that is not empty."""


class PlanPart(BaseModel):
    """A frozen part of a plan. It is built by `engine.missions` only, which adds file and line to errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, populate_by_name=False)

    @model_validator(mode="before")
    @classmethod
    def _every_key_is_known(cls, data: Any) -> Any:
        if isinstance(data, dict):
            keys = {field.alias or name: field.is_required() for name, field in cls.model_fields.items()}
            for key in data:
                if key not in keys:
                    raise rejected(key, f"unknown key {key!r}; known: {', '.join(keys)}.")
            for key, required in keys.items():
                if required and key not in data:
                    raise rejected("", f"the key {key!r} is missing.")
        return data


def rejected(key: str, message: str) -> PydanticCustomError:
    """Return the error for the part's own `key`: one sentence that is shown as it is."""
    return PydanticCustomError("plan", "{message}", {"key": key, "message": message})
