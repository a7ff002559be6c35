"""Plays an act's settings ahead while the student reads, so that the first press is as quick as the second.

Outcomes are kept by the engine for all sessions of a server; one thread a server fills that store, and gives
way between settings.
"""

from __future__ import annotations

import threading
import time
from itertools import product
from typing import Any

from engine.errors import FleetlabError
from engine.missions import Act, MissionPlan
from labs.cockpit.session import Visit
from labs.cockpit.stage import run
from labs.cockpit.views import ready

MOST_SETTINGS = 24
PAUSE_S = 0.1
_begun: set[str] = set()
_one_at_a_time = threading.Lock()


def play_ahead(plan: MissionPlan, visit: Visit) -> threading.Thread | None:
    """Play the settings of the first act once, at the plan's seed; return the thread if one began."""
    act = plan.acts[0]
    if not ready(act) or visit.seed != visit.plan_seed or visit.log or plan.digest in _begun:
        return None
    _begun.add(plan.digest)
    thread = threading.Thread(target=_play, args=(plan, act, visit), name="play ahead", daemon=True)
    thread.start()
    return thread


def settings(plan: MissionPlan, act: Act) -> list[dict[str, Any]]:
    """Return every setting of an act's levers, or none where there are more than `MOST_SETTINGS`."""
    names = list(act.levers)
    values = [plan.levers[name].values for name in names]
    found = [dict(zip(names, choice, strict=True)) for choice in product(*values)]
    return found if len(found) <= MOST_SETTINGS else []


def _play(plan: MissionPlan, act: Act, visit: Visit) -> None:
    with _one_at_a_time:
        for levers in settings(plan, act):
            try:
                run(act, visit, levers)
            except FleetlabError:
                return  # the student will be told when the setting is asked for
            time.sleep(PAUSE_S)
