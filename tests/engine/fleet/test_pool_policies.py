import json

import pytest

from engine.errors import InvalidInput, UnknownName
from engine.fleet.jobs import UNLIMITED, Jobs
from engine.fleet.queueing import POLICIES, conservative, schedule
from tests.engine.fleet.pool_instances import run, times

HOUR = 3_600_000


def pool_cases(shared_dir):
    cases = json.loads((shared_dir / "oracles" / "scheduling.json").read_text())["cases"]
    return [case for case in cases if case["kind"] == "pool"]


def test_every_pool_case_of_the_oracle_is_met_exactly(shared_dir):
    cases = pool_cases(shared_dir)
    assert len(cases) >= 13
    for case in cases:
        rows = [(j["id"], j["submit"], j["size"], j["est"], j["run"]) for j in case["jobs"]]
        result = schedule(Jobs.from_rows(rows), case["pool"], case["policy"])
        starts, ends = times(result)
        expected = case["expect"]
        assert {str(name): time for name, time in starts.items()} == expected["start"], case["id"]
        assert result.jobs.ids[result.rejected].tolist() == expected["rejected"], case["id"]
        for name, time in expected.get("end", {}).items():
            assert ends[int(name)] == time, case["id"]


def test_easy_takes_the_estimate_of_a_candidate_and_not_its_run_time():
    jobs = [(1, 0, 6, 10, 10), (2, 1, 8, 5, 5), (3, 2, 4, 20, 1)]
    assert run(jobs, 10, "easy")[0] == {1: 0, 2: 10, 3: 15}


def test_easy_reserves_again_when_a_job_ends_early():
    jobs = [(1, 0, 3, 100, 10), (2, 1, 4, 5, 5), (3, 2, 1, 50, 50)]
    assert run(jobs, 4, "easy")[0] == {1: 0, 3: 2, 2: 52}


def test_without_a_kill_the_estimated_end_of_an_overrun_job_is_now():
    # At 6 job 1 is overdue: its 6 units count as free now, so the head leaves 1 of 9 and job 3 may use it.
    jobs = [(1, 0, 6, 5, 12), (2, 1, 8, 5, 5), (3, 6, 1, 9, 9), (4, 6, 1, 9, 9)]
    assert run(jobs, 9, "easy", kill_at_limit=False)[0] == {1: 0, 3: 6, 2: 12, 4: 15}


def test_a_kill_at_the_limit_is_a_choice():
    jobs = [(1, 0, 1, 5, 12), (2, 0, 1, 5, 5)]
    assert run(jobs, 1, "fcfs")[0] == {1: 0, 2: 5}
    assert run(jobs, 1, "fcfs", kill_at_limit=False)[0] == {1: 0, 2: 12}


def test_priority_goes_first_and_skips_the_blocked():
    jobs = [(1, 0, 3, 10, 10, 0), (2, 1, 4, 5, 5, 9), (3, 2, 1, 5, 5, 0)]
    assert run(jobs, 4, "priority")[0] == {1: 0, 2: 10, 3: 2}
    assert run(jobs, 4, "priority", blocked_waits=True)[0] == {1: 0, 2: 10, 3: 15}


def test_fcfs_ignores_priority():
    jobs = [(1, 0, 4, 10, 10, 0), (2, 1, 4, 5, 5, 0), (3, 1, 4, 5, 5, 9)]
    assert run(jobs, 4, "fcfs")[0] == {1: 0, 2: 10, 3: 15}


@pytest.mark.parametrize("policy", POLICIES)
def test_a_job_without_a_limit_starts_and_is_not_killed(policy):
    starts, ends = run([(1, 0, 2, None, 50), (2, 1, 2, None, 5)], 2, policy)
    assert starts == {1: 0, 2: 50}
    assert ends == {1: 50, 2: 55}


def test_a_job_without_a_limit_is_not_taken_for_a_short_one():
    # The head is promised 10 and leaves 2; job 3 might run for ever and needs 3.
    jobs = [(1, 0, 6, 10, 10), (2, 1, 8, 5, 5), (3, 2, 3, None, 1)]
    assert run(jobs, 10, "easy")[0] == {1: 0, 2: 10, 3: 15}
    assert run(jobs, 10, "conservative")[0] == {1: 0, 2: 10, 3: 15}


def test_a_job_without_a_limit_waits_for_planned_maintenance_and_one_with_a_limit_does_not():
    jobs = Jobs.from_rows([(1, 0, 1, None, HOUR), (2, 0, 1, 2 * HOUR, HOUR), (3, 0, 1, 5 * HOUR, HOUR)])
    result = conservative(jobs, 4, maintenance=[(4 * HOUR, 6 * HOUR, 4)])
    assert times(result)[0] == {1: 6 * HOUR, 2: 0, 3: 6 * HOUR}


def test_maintenance_takes_only_its_own_units():
    jobs = Jobs.from_rows([(1, 0, 1, None, HOUR), (2, 0, 2, None, HOUR)])
    result = conservative(jobs, 4, maintenance=[(4 * HOUR, 6 * HOUR, 2)])
    assert times(result)[0] == {1: 0, 2: HOUR}


def test_maintenance_units_are_not_lent_out_when_a_job_overruns():
    jobs = Jobs.from_rows([(1, 0, 4, 5, 30), (2, 10, 4, 5, 5)])
    result = conservative(jobs, 10, kill_at_limit=False, maintenance=[(8, 20, 6)])
    assert times(result)[0] == {1: 0, 2: 20}


def test_an_unlimited_estimate_leaves_room_for_arithmetic():
    assert UNLIMITED + UNLIMITED < 2**63


def test_an_unknown_policy_lists_the_known_ones():
    with pytest.raises(UnknownName, match="conservative, easy, fcfs, priority, skip"):
        schedule(Jobs.from_rows([]), 4, "backfill")


@pytest.mark.parametrize("units", [0, -1, True, 2.5, "4"])
def test_a_machine_needs_a_whole_number_of_units(units):
    with pytest.raises(InvalidInput, match="units"):
        schedule(Jobs.from_rows([(1, 0, 1, 1, 1)]), units, "fcfs")


def hpc2n(shared_dir):
    """Return the valid jobs of the log, with the processors that were requested."""
    rows = []
    for line in (shared_dir / "data" / "hpc2n_3171.swf").read_text().splitlines():
        field = [] if line.startswith(";") else [int(float(x)) for x in line.split()]
        if field:
            size = field[7] if field[7] != -1 else field[4]
            if field[3] > 0 and size > 0:
                rows.append((field[0], field[1] * 1000, size, field[8] * 1000, field[3] * 1000))
    return Jobs.from_rows(rows)


@pytest.mark.parametrize(
    ("policy", "kill_at_limit", "mean_wait_s"),
    [
        ("fcfs", False, 5601.351),
        ("fcfs", True, 5588.634),
        ("easy", False, 3488.321),
        ("easy", True, 3470.190),
    ],
)
def test_the_mean_wait_on_the_hpc2n_log_is_the_published_one(shared_dir, policy, kill_at_limit, mean_wait_s):
    jobs = hpc2n(shared_dir)
    assert len(jobs) == 3145
    result = schedule(jobs, 240, policy, kill_at_limit=kill_at_limit)
    assert result.waits.mean().to("s").magnitude == pytest.approx(mean_wait_s, abs=5e-4)
