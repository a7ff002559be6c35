"""Mission plans: the words, thresholds, lever ranges, acts and rubric of a lab, read from Markdown.

    >>> from engine.missions import load_mission
    >>> load_mission("08").title
    'The Fragmentation War'

A plan is checked as a whole when it is read: a key, a lever, a card, a fact or a value that leads nowhere is
an error with file and line.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from pydantic import ValidationError

from engine.errors import InvalidInput, PlanError, UnknownName, shown
from engine.mission_checks import check
from engine.mission_models import (
    Act,
    Badge,
    CardWords,
    ChoiceLever,
    Lever,
    MissionPlan,
    Moves,
    Option,
    Persona,
    Prediction,
    RangeLever,
    RubricItem,
    SwitchLever,
)
from engine.mission_yaml import FrontMatter, read_front_matter
from engine.paths import shipped


def missions() -> tuple[MissionPlan, ...]:
    """Return all mission plans, in the order of their labs.

    Raises
    ------
    PlanError: for the first plan that cannot be used.
    """
    return tuple(load_mission(lab) for lab in _plan_files())


def load_mission(lab: str) -> MissionPlan:
    """Return the mission plan of a lab, such as `"08"`, as the file says it now.

    Raises
    ------
    UnknownName: if there is no such lab; lists those that there are.
    PlanError: naming file and line, if the plan cannot be used.
    """
    files = _plan_files()
    if lab not in files:
        raise UnknownName("lab", lab, list(files))
    path = files[lab]
    plan = parse_mission(path.read_bytes(), path.name)
    if plan.lab != lab:
        raise PlanError(f"the plan says lab {plan.lab!r}, its file name {lab!r}.", file=path.name, line=1)
    return plan


@lru_cache(maxsize=64)
def parse_mission(content: bytes, file: str) -> MissionPlan:
    """Read and check a mission plan from the bytes of its file; `file` is the name that errors show.

    Raises
    ------
    PlanError: naming file and line, and the first thing that is wrong.
    """
    try:
        text = read_front_matter(content.decode("utf-8-sig"), file)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PlanError("this is not UTF-8 text.", file=file, line=line) from error
    try:
        plan = MissionPlan.model_validate(text.data)
    except ValidationError as error:
        raise _plain(error, text) from error
    check(plan, text)
    digest = hashlib.sha256(content).hexdigest()[:16]
    return plan.model_copy(update={"file": file, "digest": digest, "body": text.body})


def _plan_files() -> dict[str, Path]:
    paths = sorted(shipped("mission_plans").glob("[0-9][0-9]_*.md"))
    return {path.name[:2]: path for path in paths}


def _plain(error: ValidationError, text: FrontMatter) -> PlanError:
    """Say the first error in one sentence, with the place in the file."""
    first = error.errors()[0]
    context = first.get("ctx", {})
    path = (*first["loc"], *context.get("place", ()))
    if first["type"] == "plan":
        return text.problem(path, first["msg"])
    cause, given = context.get("error"), first["input"]
    accepted = f"{first['msg'].removeprefix('Input should be ')}."
    if isinstance(cause, InvalidInput):
        given, accepted = cause.fields["given"], f"{cause.fields['accepted']}."
    elif first["type"] == "union_tag_invalid":
        path, given, accepted = (*path, "kind"), context["tag"], f"one of {context['expected_tags']}."
    name = text.name(path) or "the plan"
    return text.problem(
        path, f"{name}: {shown(given)} is not accepted; give {accepted[0].lower()}{accepted[1:]}"
    )


__all__ = [
    "Act",
    "Badge",
    "CardWords",
    "ChoiceLever",
    "Lever",
    "MissionPlan",
    "Moves",
    "Option",
    "Persona",
    "Prediction",
    "RangeLever",
    "RubricItem",
    "SwitchLever",
    "load_mission",
    "missions",
    "parse_mission",
]
