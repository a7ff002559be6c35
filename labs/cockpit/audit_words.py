"""Words about a fragmentation audit's outcome that the cards, the charts and the map share."""

from __future__ import annotations

from engine.scenarios.audit_outcome import FragmentationAuditOutcome as Outcome
from labs.cockpit.format import duration
from labs.cockpit.views import hours


def big_job(outcome: Outcome) -> str:
    """Return the big job's name, for instance `job 21099`."""
    return f"job {outcome.big_job.job}"


def arrival(outcome: Outcome) -> float:
    """Return when the big job arrives, in hours from the opening of the books."""
    return hours(outcome.big_job.arrives)


def starts_at_once(outcome: Outcome) -> bool:
    """Return whether the big job starts within an hour: on arrival, or after a pause."""
    return outcome.big_job.started and hours(outcome.big_job.wait) < 1


def start_words(outcome: Outcome) -> str:
    """Say when the big job starts, or that it does not within the horizon."""
    name, job = big_job(outcome).capitalize(), outcome.big_job
    wait = duration(job.wait, censored=job.censored)
    if not job.started:
        return f"{name} does not start: {wait}."
    return f"{name} starts at once." if hours(job.wait) == 0 else f"{name} starts after {wait}."
