"""The base of everything in a mission plan: frozen, every key known, every error with its place."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from engine.errors import InvalidInput


def _name(text: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", text):
        raise InvalidInput("name", text, "a word of small letters, digits and _")
    return text


Said = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True, strict=True)]
"""A text that is not empty."""
Name = Annotated[str, AfterValidator(_name)]
"""A word that programs use."""


class PlanPart(BaseModel):
    """A frozen part of a plan. It is built by `engine.missions` only, which adds file and line to errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, populate_by_name=False)

    @model_validator(mode="before")
    @classmethod
    def _every_key_is_known(cls, data: Any) -> Any:
        if isinstance(data, dict):
            fields = {name: field for name, field in cls.model_fields.items() if not field.exclude}
            keys = {field.alias or name: field.is_required() for name, field in fields.items()}
            for key in data:
                if key not in keys:
                    raise rejected(key, f"unknown key {key!r}; known: {', '.join(keys)}.")
            for key, required in keys.items():
                if required and key not in data:
                    raise rejected(None, f"the key {key!r} is missing.")
        return data


def rejected(key: str | None, message: str, item: int | None = None) -> PydanticCustomError:
    """Return the error for the part's own `key`, an `item` of it, or all: one sentence, as it is shown."""
    place = tuple(step for step in (key, item) if step is not None)
    return PydanticCustomError("plan", "{message}", {"place": place, "message": message})
