"""Small random workloads for the tests of pools, and the bridge from rows to a schedule."""

from hypothesis import strategies as st

from engine.fleet import queueing
from engine.fleet.jobs import Jobs


@st.composite
def workloads(draw, *, jobs=8, units=8, horizon=8, longest=7, within_limit=False):
    """Draw (rows, units): ids in any order, zero lengths, ties and jobs that are too large included."""
    count = draw(st.integers(0, jobs))
    ids = draw(st.permutations(range(count)))
    rows = []
    for name in ids:
        estimate = draw(st.integers(0, longest))
        run = draw(st.integers(0, estimate if within_limit else longest))
        submit, size = draw(st.integers(0, horizon)), draw(st.integers(1, units + 1))
        rows.append((name, submit, size, estimate, run, draw(st.integers(0, 2))))
    return rows, draw(st.integers(max(1, units // 2), units))


def run(rows, units, policy, **options):
    """Return {id: start} and {id: end} of the engine."""
    return times(getattr(queueing, policy)(Jobs.from_rows(rows), units, **options))


def times(schedule):
    """Return {id: start} and {id: end} of the jobs that ran."""
    ran = ~schedule.rejected
    ids = schedule.jobs.ids[ran].tolist()
    starts, ends = schedule.start_ms[ran].tolist(), schedule.end_ms[ran].tolist()
    return dict(zip(ids, starts, strict=True)), dict(zip(ids, ends, strict=True))
