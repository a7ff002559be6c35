"""Act I on a job log in place of the synthetic students."""

import random

import numpy as np
import pytest

from engine.errors import NoAnswer
from engine.fleet.logged_load import busiest_hours
from engine.fleet.traces import load_job_log
from engine.scenarios.audit_outcome import FragmentationAuditOutcome
from engine.scenarios.audit_run import finds_no_block
from engine.scenarios.fragmentation_audit import FragmentationAuditScenario


def swf(jobs, hours, seed=1, users=7):
    """Make a log of small jobs with a busy third day, in the Standard Workload Format."""
    rng, lines, at = random.Random(seed), ["; Version: 2.2", "; UnixStartTime: 1700000000"], 0.0
    for number in range(1, jobs + 1):
        at += rng.expovariate(jobs / (hours * 3600))
        run = round(rng.lognormvariate(8.9, 1.0)) + 1
        gpus = rng.choice([1, 1, 2, 4])
        fields = [number, round(at), -1, run, gpus, -1, -1, gpus, run * 2, -1, 1, rng.randint(1, users)]
        lines.append(" ".join(map(str, [*fields, *[-1] * 6])))
    return "\n".join(lines).encode()


@pytest.fixture(scope="module")
def log():
    return load_job_log(swf(6000, 100), name="own.swf")


def test_the_fleet_is_sized_so_that_the_log_fills_four_fifths_of_it(log):
    scenario = FragmentationAuditScenario.of_log(log, "own.swf")
    free_for_all = scenario.log.busy_at_crisis / scenario.shape.gpus
    assert 0.75 < free_for_all <= 0.80
    assert scenario.gang_gpus == -(-scenario.shape.nodes // 10) * 8
    assert scenario.outcome().busy_as_found / scenario.shape.gpus == pytest.approx(0.8, abs=0.06)


def test_the_story_is_the_same_first_come_waits_and_killing_starts_it(log):
    waits = FragmentationAuditScenario.of_log(log, "own.swf").outcome()
    kills = FragmentationAuditScenario.of_log(log, "own.swf", evict=True).outcome()
    assert waits.big_job.wait.to("h").magnitude > 1
    assert kills.big_job.wait.magnitude == 0 and kills.kills > 0
    assert waits.noun == "logged job"


def test_the_crisis_is_the_fullest_hour_at_which_the_big_job_finds_no_block(log):
    scenario = FragmentationAuditScenario.of_log(log, "own.swf")
    assert finds_no_block(scenario)
    crisis = scenario.log.opens_ms - log.first_submit_ms + 14 * 3_600_000
    hours = busiest_hours(log, "own.swf", before_ms=14 * 3_600_000, after_ms=48 * 3_600_000)
    held = {
        hour: sum(log.gpus[(log.submit_ms <= hour) & (log.submit_ms + log.run_ms > hour)]) for hour in hours
    }
    assert list(held.values()) == sorted(held.values(), reverse=True)
    assert scenario.log.busy_at_crisis == held[crisis]
    for hour in hours[: hours.index(crisis)]:
        assert not finds_no_block(scenario._at_hour(log, "own.swf", hour, 14 * 3_600_000, 48 * 3_600_000))


def test_jobs_keep_their_owners_and_what_ran_before_the_window_is_taken_over(log):
    scenario = FragmentationAuditScenario.of_log(log, "own.swf")
    people = scenario.log.people()
    opens = scenario.log.opens_ms - log.first_submit_ms
    running = (log.submit_ms < opens) & (log.submit_ms + log.run_ms > opens)
    assert people.already_running == np.count_nonzero(running)
    left = (log.submit_ms + log.run_ms - opens)[running]
    assert sorted(people.run_ms[: people.already_running]) == sorted(left)
    assert {people.owner(row) for row in range(len(people.size))} <= set(log.users)
    holder = scenario.outcome().occupant(3, 0)
    assert holder is None or holder.user in {*log.users, "research"}


def test_two_logs_of_one_name_do_not_share_an_outcome(log):
    other = load_job_log(swf(6000, 100, seed=2), name="own.swf")
    one, two = (FragmentationAuditScenario.of_log(each, "own.swf").outcome() for each in (log, other))
    assert one.model_dump_json() != two.model_dump_json()
    again = FragmentationAuditOutcome.read_json(one.model_dump_json())
    assert again.model_dump_json() == one.model_dump_json()


def test_a_scenario_with_a_log_reads_back_from_its_json(log):
    scenario = FragmentationAuditScenario.of_log(log, "own.swf", policy="best-fit")
    again = FragmentationAuditScenario.read_json(scenario.model_dump_json())
    assert again.outcome() is scenario.outcome()


def with_job(content, submit, run, size):
    fields = [999_999, submit, -1, run, size, -1, -1, size, run, -1, 1, 1, *[-1] * 6]
    return content + b"\n" + " ".join(map(str, fields)).encode()


def test_one_absurd_job_neither_sizes_the_fleet_nor_holds_up_the_reading():
    plain = swf(6000, 100)
    nodes = FragmentationAuditScenario.of_log(load_job_log(plain, name="own.swf"), "own.swf").shape.nodes
    for job in ((180_000, 4000, 10**7), (180_000, 4000, 10**12), (-(10**12), 50, 1)):
        log = load_job_log(with_job(plain, *job), name="own.swf")
        scenario = FragmentationAuditScenario.of_log(log, "own.swf")
        assert nodes / 2 < scenario.shape.nodes < nodes * 2
        scenario.outcome()


def test_a_log_of_too_many_gpus_is_refused():
    content = b"\n".join(with_job(b";", i * 36_000, 40_000, 10**6) for i in range(10))
    with pytest.raises(NoAnswer, match="more than 100,000 GPUs at every hour"):
        FragmentationAuditScenario.of_log(load_job_log(content, name="own.swf"), "own.swf")


def test_jobs_of_more_than_a_node_hold_whole_nodes_everywhere():
    content = b"\n".join(with_job(b";", i * 600, 30_000, 12) for i in range(600))
    scenario = FragmentationAuditScenario.of_log(load_job_log(content, name="own.swf"), "own.swf")
    result = scenario.outcome()
    assert scenario.log.busy_at_crisis % 16 == 0
    assert result.busy_as_found / scenario.shape.gpus == pytest.approx(0.8, abs=0.05)
    samples = result.through_time
    busy = dict(zip(samples.hours, samples.busy, strict=True))  # hour by hour
    assert result.utilisation.magnitude == pytest.approx(sum(list(busy.values())[16:]) / 48, abs=0.02)


def test_a_job_that_no_such_fleet_can_run_is_rejected_not_waiting():
    content = with_job(swf(6000, 100), 250_000, 4000, 5000)
    result = FragmentationAuditScenario.of_log(load_job_log(content, name="own.swf"), "own.swf").outcome()
    assert sum(group.jobs for group in result.fairness("size").values()) == result.waits.jobs
    assert sum(group.censored for group in result.fairness("size").values()) == result.waits.censored


@pytest.mark.parametrize(
    ("content", "said"),
    [(swf(3000, 20), "the act needs 62 h"), (swf(200, 100), "must fill 10 nodes")],
)
def test_a_log_that_is_too_short_or_too_small_is_refused_in_one_sentence(content, said):
    with pytest.raises(NoAnswer, match=said):
        FragmentationAuditScenario.of_log(load_job_log(content, name="own.swf"), "own.swf")
