"""The base of every frozen model: unknown fields are refused and errors are one clear sentence."""

from __future__ import annotations

import base64
import json
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, ValidationError

from engine.errors import FileProblem, InvalidInput


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else base64.b64decode(value, validate=True)


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()


Packed = Annotated[bytes, BeforeValidator(_bytes), PlainSerializer(_base64, return_type=str)]
"""Bytes that stand as base64 in JSON."""


class Frozen(BaseModel):
    """An immutable pydantic model whose errors are `InvalidInput` and name the field."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", arbitrary_types_allowed=True, allow_inf_nan=False, validate_default=True
    )

    def __init__(self, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise _plain(error, type(self)) from error

    @classmethod
    def read(cls, data: Any) -> Self:
        """Build the model from a mapping; an error is one `InvalidInput`, also for nested models."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise _plain(error, cls) from error

    @classmethod
    def read_json(cls, content: str | bytes, file: str = "input") -> Self:
        """Build the model from JSON text; broken JSON is a `FileProblem` with the line."""
        try:
            data = json.loads(content)
        except (ValueError, RecursionError) as error:  # ValueError also for a number of 5,000 digits
            line = getattr(error, "lineno", None)
            why = getattr(error, "msg", None) or str(error).partition(";")[0]
            raise FileProblem(f"this is not JSON ({why}).", file=file, line=line) from error
        return cls.read(data)

    def variant(self, **changes: Any) -> Self:
        """Return a copy with `changes`, validated like a new one."""
        unknown = sorted(set(changes) - set(type(self).model_fields))
        if unknown:
            raise InvalidInput(
                unknown[0], changes[unknown[0]], "one of the fields " + ", ".join(type(self).model_fields)
            )
        return type(self)(**({name: getattr(self, name) for name in type(self).model_fields} | changes))


def _plain(error: ValidationError, model: type[BaseModel]) -> InvalidInput:
    first = error.errors()[0]
    path = [str(part) for part in first["loc"]]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, InvalidInput):
        # A type's check names its input "value"; a nested model names its own field.
        inner = cause.fields["parameter"]
        path += [] if inner == "value" or [inner] == path[-1:] else [inner]
        return InvalidInput(".".join(path) or inner, cause.fields["given"], cause.fields["accepted"])
    field = ".".join(path) or model.__name__
    if first["type"] == "extra_forbidden":
        return InvalidInput(field, first["input"], "one of the fields " + ", ".join(model.model_fields))
    if first["type"] == "missing":
        return InvalidInput(field, None, "a value; it is required")
    if first["type"].startswith("union_tag"):
        tag = first["ctx"]["discriminator"].strip("'")
        kinds = first["ctx"].get("expected_tags")
        accepted = f"one of {kinds}" if kinds else "a value; it is required"
        return InvalidInput(f"{field}.{tag}", first["ctx"].get("tag"), accepted)
    accepted = first["msg"].removeprefix("Input should be ")
    return InvalidInput(field, first["input"], accepted[:1].lower() + accepted[1:])
