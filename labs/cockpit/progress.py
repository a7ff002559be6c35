"""Which acts are open: they open in order, each once the one before it is done."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import pairwise

from engine.missions import Act, MissionPlan
from labs.cockpit.saved import fitting

LEAST_WORDS = 5
"""Words of rationale that make an act done, beside its sealed prediction: enough for a reason."""


def open_acts(plan: MissionPlan, sealed: Collection[str], texts: Mapping[str, str]) -> list[str]:
    """Return the acts that may be played: the first, each after a done one, and any that is sealed."""
    opened, written = [plan.acts[0].id], fitting(texts)
    for before, act in pairwise(plan.acts):
        if act.id in sealed or (before.id in opened and _done(before, sealed, written)):
            opened.append(act.id)
    return opened


def act_before(plan: MissionPlan, act_id: str) -> Act | None:
    """Return the act that must be done before this one; None for the first."""
    return next((before for before, act in pairwise(plan.acts) if act.id == act_id), None)


def act_after(plan: MissionPlan, act_id: str) -> Act | None:
    """Return the act that opens when this one is done; None for the last."""
    return next((act for before, act in pairwise(plan.acts) if before.id == act_id), None)


def what_opens(before: Act) -> str:
    """Say in one sentence what opens the act after `before`."""
    return (
        f"Opens when Act {before.number} is done: its prediction sealed, "
        f"and a rationale of at least {LEAST_WORDS} words."
    )


def _done(act: Act, sealed: Collection[str], texts: Mapping[str, str]) -> bool:
    return act.id in sealed and len(texts.get(act.id, "").split()) >= LEAST_WORDS
