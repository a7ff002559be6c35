"""Scenes and stages of Act I over a hand-built outcome, for tests of the zones."""

from engine.missions import load_mission
from engine.scenarios.registry import SCENARIOS
from labs.cockpit.saved import SealedPrediction
from labs.cockpit.session import visit
from labs.cockpit.stage import Stage
from tests.labs.outcomes import audit_outcome

SEALED = SealedPrediction(
    act="audit", value="6 h", why="Somebody must finish first.", at="2026-11-29T14:02:00Z"
)


def stage_of(outcome=None, *, sealed=SEALED, as_found=None, complaint="", **session):
    """Return a stage whose engine has answered with `outcome`; unsealed when `sealed` is None."""
    plan, found = load_mission("08"), as_found or audit_outcome()
    act = plan.act("audit").told(SCENARIOS["fragmentation_audit"].said(found))
    return Stage(
        plan=plan,
        visit=visit(plan, session),
        act=act,
        sealed=sealed,
        as_found=found,
        levers=plan.start_values("audit"),
        outcome=(outcome or found) if sealed else None,
        complaint=complaint,
    )
