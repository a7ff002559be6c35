"""What must hold on a pool for every workload, whatever the policy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.fleet.queueing import POLICIES
from tests.engine.fleet.pool_instances import run, workloads


def by_queue_order(rows, units):
    return sorted((row for row in rows if row[2] <= units), key=lambda row: (row[1], row[0]))


def at_least_one(rows):
    """Return the rows with estimates and run times of 1 and more, and no overrun."""
    return [(i, s, n, max(1, e), max(1, min(e, r)), p) for i, s, n, e, r, p in rows]


@pytest.mark.parametrize("policy", POLICIES)
@given(instance=workloads(), kill_at_limit=st.booleans())
def test_units_are_conserved_at_every_event(policy, instance, kill_at_limit):
    rows, units = instance
    starts, ends = run(rows, units, policy, kill_at_limit=kill_at_limit)
    size = {row[0]: row[2] for row in rows}
    for event in {*starts.values(), *ends.values()}:
        held = sum(size[job] for job in starts if starts[job] <= event < ends[job])
        assert 0 <= held <= units


@pytest.mark.parametrize("policy", POLICIES)
@given(instance=workloads(), kill_at_limit=st.booleans())
def test_every_job_that_fits_runs_whole_and_not_before_it_was_submitted(policy, instance, kill_at_limit):
    rows, units = instance
    starts, ends = run(rows, units, policy, kill_at_limit=kill_at_limit)
    assert set(starts) == {row[0] for row in rows if row[2] <= units}
    for job, submit, _, estimate, length, _ in by_queue_order(rows, units):
        assert starts[job] >= submit
        assert ends[job] - starts[job] == (min(estimate, length) if kill_at_limit else length)


@given(instance=workloads(), kill_at_limit=st.booleans())
def test_fcfs_never_overtakes(instance, kill_at_limit):
    rows, units = instance
    starts, _ = run(rows, units, "fcfs", kill_at_limit=kill_at_limit)
    in_order = [starts[row[0]] for row in by_queue_order(rows, units)]
    assert in_order == sorted(in_order)


@given(instance=workloads(jobs=14, within_limit=True))
def test_easy_never_delays_the_head_beyond_its_first_reservation(instance):
    rows, units = at_least_one(instance[0]), instance[1]
    starts, ends = run(rows, units, "easy")
    queue = by_queue_order(rows, units)
    for position, (job, submit, size, *_) in enumerate(queue):
        ahead = {row[0] for row in queue[:position]}
        became_head = max([submit, *(starts[other] for other in ahead)])
        running = [
            (starts[row[0]] + row[3], row[2])
            for row in queue
            if ends[row[0]] > became_head
            and (starts[row[0]] < became_head or (row[0] in ahead and starts[row[0]] == became_head))
        ]
        promised = became_head
        while units - sum(n for end, n in running if end > promised) < size:
            promised += 1
        assert starts[job] <= promised


@given(instance=workloads(jobs=14))
def test_conservative_never_lets_a_later_job_delay_an_earlier_one(instance):
    rows, units = [(i, s, n, e, e, p) for i, s, n, e, _, p in at_least_one(instance[0])], instance[1]
    queue = by_queue_order(rows, units)
    starts, _ = run(queue, units, "conservative")
    for count in range(len(queue)):
        alone, _ = run(queue[:count], units, "conservative")
        assert alone == {job: starts[job] for job in alone}


@pytest.mark.parametrize("policy", POLICIES)
@given(instance=workloads(), data=st.data())
def test_the_order_of_the_rows_does_not_matter(policy, instance, data):
    rows, units = instance
    assert run(rows, units, policy) == run(data.draw(st.permutations(rows)), units, policy)


@given(instance=workloads(within_limit=True))
def test_with_room_for_everybody_nobody_waits(instance):
    rows, _ = instance
    units = max(1, sum(row[2] for row in rows))
    for policy in POLICIES:
        starts, _ = run(rows, units, policy)
        assert starts == {row[0]: row[1] for row in rows}
