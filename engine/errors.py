"""The errors of Fleetlab: each has a code, the fields that explain it, and a hint.

Every class has a standard exception as its second base, so that callers who know only the standard
library catch what they expect (`ValueError`, `LookupError`, `RuntimeError`).
"""

from __future__ import annotations

from typing import Any


class FleetlabError(Exception):
    """Base of all errors that Fleetlab raises on purpose.

    Parameters
    ----------
    message: one sentence that names the thing.
    hint: what to do next; empty when the message already says it.
    fields: the values behind the sentence, for programs.
    """

    code = "fleetlab"

    def __init__(self, message: str, *, hint: str = "", **fields: Any) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.fields = fields

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class InvalidInput(FleetlabError, ValueError):
    """A value that is not accepted: names the parameter, what was given and what is accepted."""

    code = "invalid-input"

    def __init__(self, parameter: str, given: object, accepted: str, *, hint: str = "") -> None:
        super().__init__(
            f"{parameter}: {shown(given)} is not accepted; give {accepted}.",
            hint=hint,
            parameter=parameter,
            given=given,
            accepted=accepted,
        )


class PlanError(FleetlabError, ValueError):
    """A mission plan that cannot be used: names the file and the line."""

    code = "mission-plan"

    def __init__(self, message: str, *, file: str, line: int | None = None, hint: str = "") -> None:
        where = file if line is None else f"{file}:{line}"
        super().__init__(f"{where}: {message}", hint=hint, file=file, line=line)


class FileProblem(FleetlabError, ValueError):
    """A file of the user's that cannot be read as what it should be: names the file and the line."""

    code = "file"

    def __init__(self, message: str, *, file: str, line: int | None = None, hint: str = "") -> None:
        where = file if line is None else f"{file}:{line}"
        super().__init__(f"{where}: {message}", hint=hint, file=file, line=line)


class UnknownName(FleetlabError, LookupError):
    """A name that is not in a catalogue: says which names are."""

    code = "unknown-name"

    def __init__(self, kind: str, given: object, known: list[str]) -> None:
        names = ", ".join(sorted(known)) or "none"
        super().__init__(
            f"There is no {kind} {shown(given)}.", hint=f"Known: {names}.", kind=kind, given=given
        )


class NoAnswer(FleetlabError, RuntimeError):
    """A well-posed question without an answer, such as a crossing that does not exist."""

    code = "no-answer"


def shown(value: object, limit: int = 60) -> str:
    """Return `value` as it may stand in a message: its repr, or a quantity's text, cut at `limit`."""
    text = str(value) if hasattr(value, "magnitude") else repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
