"""What a student made, as one JSON file: levers, sealed predictions, texts, and what the engine returned.

The file is read back with the same models, so that an edited or broken one is one clear sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

import pint
from pydantic import StrictBool, StrictStr, field_validator

from engine.errors import FileProblem, FleetlabError, InvalidInput
from engine.missions import MissionPlan
from engine.model import Frozen
from engine.units import quantity, si
from labs.cockpit.levers import accepted_levers
from labs.cockpit.session import Visit

VERSION: Literal[1] = 1
TEXT_LIMIT = 4000
LeverValue = StrictBool | StrictStr


def sendable(text: str) -> str:
    """Return `text` with a question mark for each lone surrogate, which cannot be sent to a page."""
    return text.encode(errors="replace").decode()


def fitting(texts: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of a page that can be saved: strings within the limit that can be sent back."""
    return {
        act: text
        for act, text in texts.items()
        if isinstance(text, str) and not (_misfit(act) or _misfit(text))
    }


def _misfit(text: str) -> str:
    """Return what would be accepted in place of `text`; empty if `text` is."""
    if len(text) > TEXT_LIMIT:
        return f"a text of at most {TEXT_LIMIT:,} characters"
    return "" if sendable(text) == text else "a text without halves of surrogate pairs"


class SealedPrediction(Frozen):
    """A prediction that can no longer be changed: the act, a quantity such as `6 h`, why, and when."""

    act: str
    value: str
    why: str
    at: datetime

    @property
    def quantity(self) -> pint.Quantity[Any]:
        """The predicted value with its unit."""
        return quantity(self.value, "prediction")

    @field_validator("why")
    @classmethod
    def _fits(cls, why: str) -> str:
        if accepted := _misfit(why):
            raise InvalidInput("why", why, accepted)
        return why


class Returned(Frozen):
    """What the engine returned for one setting of the levers; the map's pixels are left out."""

    act: str
    levers: dict[str, LeverValue]
    outcome: dict[str, Any]


class SavedWork(Frozen):
    """One student's work at one lab."""

    version: Literal[1] = VERSION
    lab: str
    plan: str
    student: str
    seed: int
    log: str = ""
    saved_at: datetime | None = None
    levers: dict[str, LeverValue]
    sealed: dict[str, SealedPrediction]
    rationale: dict[str, str]
    returned: Returned | None = None

    @field_validator("rationale")
    @classmethod
    def _fit(cls, texts: dict[str, str]) -> dict[str, str]:
        for act, text in texts.items():
            if accepted := _misfit(act) or _misfit(text):
                raise InvalidInput(act, text, accepted)
        return texts


def seal(plan: MissionPlan, offer: Any) -> SealedPrediction:
    """Return the prediction that a student offers, checked against the question of its act.

    Raises
    ------
    InvalidInput: naming the field, for another unit, a negative number, a missing reason or a broken record.
    UnknownName: for an act that the plan does not have.
    """
    if not isinstance(offer, Mapping):
        raise InvalidInput("prediction", offer, "a record with act, value, why and at")
    prediction = SealedPrediction.read(dict(offer))
    act = plan.act(prediction.act)
    units = act.prediction.units
    accepted = "a number of at least 0 with one of the units " + ", ".join(units)
    if f"{quantity(prediction.value, 'prediction', accepted).units:~P}" not in units:
        raise InvalidInput("prediction", prediction.value, accepted)
    si(prediction.value, units[0], "prediction", high=1e9)
    return prediction


def opened(plan: MissionPlan, visit: Visit, file: str, content: str) -> tuple[SavedWork, str]:
    """Read a saved file for this visit; return the work and a sentence that says what was opened.

    Raises
    ------
    FileProblem: naming the file, and in one sentence why it cannot be opened here.
    """
    try:
        work = SavedWork.read_json(content, file)
        _belongs(work, visit, file)
        for act, one in work.sealed.items():
            if one.act != act:
                raise InvalidInput(f"sealed.{act}", one.act, f"the prediction of {act}")
            seal(plan, one.model_dump(mode="json"))
        for act in work.rationale:
            plan.act(act)
        accepted_levers(plan, work.levers)
    except FileProblem:
        raise
    except FleetlabError as error:
        raise FileProblem(str(error), file=file) from error
    other = "" if work.plan == visit.plan else " It was saved under another version of the mission plan."
    return work, f"Opened {file}: levers, {len(work.sealed)} sealed and {len(work.rationale)} written.{other}"


def _belongs(work: SavedWork, visit: Visit, file: str) -> None:
    for what in ("lab", "student", "seed"):
        theirs, ours = getattr(work, what), getattr(visit, what)
        if theirs != ours:
            hint = "" if what == "lab" else f"Open the lab with ?{what}={theirs} first."
            raise FileProblem(
                f"this work is of {what} {theirs}, and this page of {what} {ours}.", file=file, hint=hint
            )
    ours = visit.log.digest if visit.log else ""
    if work.log != ours:
        hint = "Choose that job log first." if work.log else "Reload the page to go back to the students."
        raise FileProblem("this work was done on another job log, or on none.", file=file, hint=hint)
