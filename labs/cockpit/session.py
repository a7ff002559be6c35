"""Who visits which lab: the student and the seed, from the command line or the address."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from engine.errors import FleetlabError, InvalidInput
from engine.missions import MissionPlan, load_mission
from engine.model import Frozen
from engine.units import whole
from labs.cockpit.own_log import OwnLog

GUEST = "guest"
_STUDENT = re.compile(r"[\w.@+ -]{1,64}")


class Visit(Frozen):
    """One student at one lab. `complaint` says in one sentence what of the address was not accepted."""

    lab: str
    plan: str
    seed: int
    plan_seed: int
    student: str = GUEST
    complaint: str = ""
    log: OwnLog | None = None
    log_complaint: str = ""
    """Why the job log that was chosen is not used."""

    @property
    def home(self) -> str:
        """The first part of every key in the browser's storage: lab, plan digest and student.

        Another seed or a job log is another variant of the lab, with its own predictions, so it is told
        apart too.
        """
        home = f"fleetlab:{self.lab}:{self.plan}:{quote(self.student, safe='')}"
        home += "" if self.seed == self.plan_seed else f":seed-{self.seed}"
        return f"{home}:log-{self.log.digest}" if self.log else home


def mission(lab: str) -> tuple[MissionPlan | None, str]:
    """Return a lab's mission plan; or None and the sentence that says why it cannot be used."""
    try:
        return load_mission(lab), ""
    except FleetlabError as error:
        return None, str(error)


def visit(plan: MissionPlan, *sources: Mapping[str, Any]) -> Visit:
    """Return the visit that `student` and `seed` of the sources name; the first source that has one wins.

    A value that is not accepted is left out and told in `complaint`: the lab opens all the same.
    """
    plan_seed = next((int(act.settings["seed"]) for act in plan.acts if "seed" in act.settings), 0)
    accepted: dict[str, Any] = {"seed": plan_seed}
    complaints = []
    for name, read in (("student", _student), ("seed", _seed)):
        given = next((source[name] for source in sources if source.get(name) is not None), None)
        if given is None:
            continue
        try:
            accepted[name] = read(given)
        except FleetlabError as error:
            complaints.append(str(error))
    return Visit(
        lab=plan.lab, plan=plan.digest, plan_seed=plan_seed, complaint=" ".join(complaints), **accepted
    )


def _student(given: object) -> str:
    text = str(given).strip()
    if not _STUDENT.fullmatch(text):
        raise InvalidInput("student", given, "a name of at most 64 letters, digits, spaces and . @ + - _")
    return text


def _seed(given: object) -> int:
    accepted = "a whole number from 0 to 999999999"
    try:
        number = int(str(given))
    except ValueError as error:
        raise InvalidInput("seed", given, accepted) from error
    return whole(number, "seed", high=999_999_999)
