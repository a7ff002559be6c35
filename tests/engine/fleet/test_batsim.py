"""EASY on node identity against the recorded schedule of Batsim: 801 jobs on 32 machines."""

import csv

import pytest

from engine.fleet.jobs import Jobs
from engine.fleet.node_scheduler import NodeScheduler, run_to_end
from engine.fleet.occupancy import Occupancy


def machines(text):
    """Read Batsim's ranges, such as `0-3 7`."""
    found = set()
    for part in text.split():
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


@pytest.fixture(scope="module")
def recorded(shared_dir):
    with (shared_dir / "data" / "batsim_medium_late_easy_jobs.csv").open() as file:
        return list(csv.DictReader(file))


def test_every_start_and_placement_equals_batsims(recorded):
    ms = lambda row, name: round(float(row[name]) * 1000)  # noqa: E731
    jobs = Jobs.from_rows(
        [
            (
                i,
                ms(r, "submission_time"),
                int(r["requested_number_of_resources"]),
                ms(r, "requested_time"),
                ms(r, "execution_time"),
            )
            for i, r in enumerate(recorded)
        ]
    )
    done = run_to_end(NodeScheduler(Occupancy(32, 1), jobs, policy="easy", placement="first"))
    starts, wrong = done.starts(), []
    for place, row in enumerate(done.order):
        r = recorded[row]
        nodes = done.span.get(place) or 1 << (done.place[place] >> 8)
        where = {n for n in range(32) if nodes >> n & 1}
        if abs(starts[place] - ms(r, "starting_time")) > 1 or where != machines(r["allocated_resources"]):
            wrong.append((r["job_id"], starts[place], r["starting_time"], where, r["allocated_resources"]))
    assert len(recorded) == 801
    assert wrong == []
