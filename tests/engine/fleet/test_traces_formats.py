"""Every format, on small logs made by hand in tests/data, with answers worked out by hand."""

from pathlib import Path

import pytest

from engine.errors import FileProblem
from engine.fleet import slurm_fields as slurm
from engine.fleet.job_collector import MISSING_SIZE, MISSING_TIMES, NO_RUN, NO_SIZE, TOO_LARGE, UNREADABLE
from engine.fleet.log_fields import instant_ms, job_state, number, whole_number
from engine.fleet.log_sacct import STEP_WITHOUT_JOB
from engine.fleet.log_swf import PART_OF_A_JOB
from engine.fleet.traces import UNKNOWN, UNLIMITED, load_job_log, load_node_list

DATA = Path(__file__).resolve().parents[2] / "data"
KIB, GIB = 1024, 1024**3


def columns(log, *names):
    return [tuple(getattr(log, name)) for name in names]


def test_swf():
    log = load_job_log(DATA / "own.swf", fleet_gpus=16)
    assert (log.format, log.machine_gpus) == ("swf", 16)
    assert columns(log, "ids", "users", "states") == [
        ("1", "13", "9", "10"),
        ("7", "7", "8", ""),
        ("completed", "completed", "cancelled", "failed"),
    ]
    # Job 13 asks for 4 and gets 6: it counts as 4. A request of 0 seconds is not a limit.
    assert columns(log, "submit_ms", "run_ms", "gpus", "estimate_ms") == [
        (0, 57_000, 60_000, 60_000),
        (60_000, 10_000, 30_500, 30_000),
        (4, 4, 2, 2),
        (120_000, UNKNOWN, 90_000, UNKNOWN),
    ]
    assert log.used_memory_bytes.tolist() == [4 * 512 * KIB, -1, -1, -1]
    assert log.requested_memory_bytes.tolist() == [4 * 1024 * KIB, -1, -1, -1]
    assert log.gpu_milli is None
    assert log.dropped == {
        MISSING_TIMES: 2,
        NO_RUN: 1,
        NO_SIZE: 1,
        MISSING_SIZE: 1,
        TOO_LARGE: 1,
        PART_OF_A_JOB: 1,
        UNREADABLE: 2,
    }
    assert [bad.line for bad in log.bad_lines] == [16, 17]


def test_sacct():
    log = load_job_log(DATA / "own_sacct.psv")
    assert log.format == "sacct"
    assert columns(log, "ids", "users", "states") == [
        ("7_9", "7_10", "20", "33"),
        ("bob", "bob", "ann", "eve"),
        ("timeout", "cancelled", "completed", "failed"),
    ]
    hour = 3_600_000
    assert columns(log, "submit_ms", "run_ms", "gpus", "estimate_ms") == [
        (0, 0, hour, 2 * hour),
        (hour // 2, 60_000, 26 * hour + 184_000, hour),
        (1, 3, 4, 1),
        (hour // 2, UNLIMITED, 48 * hour, UNKNOWN),
    ]
    # 2048 is in M; 4Gc is for each of 2 CPUs; 32Gn is for each of 2 nodes; the peak is of the largest step.
    assert log.requested_memory_bytes.tolist() == [2 * GIB, 8 * GIB, 64 * GIB, 4 * GIB]
    assert log.used_memory_bytes.tolist() == [-1, -1, 3 * GIB // 2, -1]
    assert log.dropped == {MISSING_TIMES: 2, NO_SIZE: 1, UNREADABLE: 2, STEP_WITHOUT_JOB: 1}
    assert [bad.line for bad in log.bad_lines] == [12, 13]


def test_sacct_without_any_gpu_counts_cpus_and_says_so():
    rows = "JobID|Submit|ElapsedRaw|TimelimitRaw|State|AllocCPUS|ReqCPUS\n"
    rows += "1|2024-03-01T10:00:00|90|UNLIMITED|COMPLETED|0|12\n2|1709287201|90|15|COMPLETED|4|4\n"
    log = load_job_log(rows.encode())
    assert log.gpus.tolist() == [12, 4]
    assert log.submit_ms.tolist() == [0, 1000]
    assert log.estimate_ms.tolist() == [UNLIMITED, 15 * 60_000]
    assert log.notes == ("No job of this log has a GPU: sizes are CPUs.",)


def test_philly():
    log = load_job_log(DATA / "own_philly.json")
    assert log.format == "philly"
    assert columns(log, "ids", "users", "states") == [
        ("application_5", "application_2"),
        ("", "u1"),
        ("failed", "completed"),
    ]
    # Two attempts of 600 s and 30 s; the 46 minutes between them are not on GPUs.
    assert columns(log, "submit_ms", "run_ms", "gpus") == [(0, 210_000), (10_000, 630_000), (1, 4)]
    assert log.dropped == {MISSING_TIMES: 2, UNREADABLE: 3}
    assert [bad.line for bad in log.bad_lines] == [17, 19, 20]


def test_helios():
    log = load_job_log(DATA / "own_helios.csv")
    assert log.format == "helios"
    assert columns(log, "ids", "users", "states", "submit_ms", "run_ms", "gpus") == [
        ("11", "12", "18"),
        ("u2", "u1", "u,3"),
        ("cancelled", "completed", "failed"),
        (0, 10_000, 10_000),
        (7000, 60_000, 1000),
        (16, 8, 1),
    ]
    assert log.dropped == {NO_SIZE: 1, MISSING_TIMES: 1, NO_RUN: 1, UNREADABLE: 2}


def test_acme_seren_times_have_zones():
    log = load_job_log(DATA / "own_seren.csv")
    assert log.format == "acme-seren"
    assert columns(log, "ids", "submit_ms", "run_ms", "gpus") == [
        ("5", "6"),
        (0, 30_000),
        (60_000, 90_000),
        (8, 1),
    ]


def test_acme_kalos_ends_when_it_failed_or_was_stopped():
    log = load_job_log(DATA / "own_kalos.csv")
    assert log.format == "acme-kalos"
    assert columns(log, "ids", "submit_ms", "run_ms", "gpus") == [
        ("a1", "a2"),
        (0, 500),
        (3_600_000, 2000),
        (1024, 8),
    ]
    assert log.dropped == {MISSING_TIMES: 1}


def test_openb_pods_have_shares_of_a_gpu():
    log = load_job_log(DATA / "own_openb_pods.csv")
    assert log.format == "openb"
    assert columns(log, "ids", "submit_ms", "run_ms", "gpus", "gpu_milli") == [
        ("pod-1", "pod-2", "pod-0"),
        (0, 1000, 60_000),
        (40_000, 2000, 370_000),
        (1, 8, 1),
        (460, 1000, 1000),
    ]
    assert log.dropped == {NO_SIZE: 1, MISSING_TIMES: 1}


def test_openb_nodes():
    nodes = load_node_list(DATA / "own_openb_nodes.csv")
    assert (nodes.format, len(nodes), nodes.unreadable) == ("openb-nodes", 3, 1)
    assert nodes.gpus.tolist() == [2, 8, 0]
    assert nodes.cpu_milli.tolist() == [64_000, 96_000, 32_000]
    assert nodes.memory_bytes.tolist() == [256 * GIB, 512 * GIB, 128 * GIB]
    assert (nodes.models, nodes.bad_lines[0].line) == (("P100", "V100M32", ""), 4)


def test_spot_nodes_count_whole_cpus():
    nodes = load_node_list(b"gpu_model,gpu_capacity_num,cpu_num,node_name\nA10,1,128,n0\nH800,8,192,n1\n")
    assert (nodes.names, nodes.gpus.tolist(), nodes.cpu_milli.tolist()) == (
        ("n0", "n1"),
        [1, 8],
        [128_000, 192_000],
    )
    assert nodes.memory_bytes.tolist() == [UNKNOWN, UNKNOWN]
    with pytest.raises(FileProblem, match="not a list of nodes"):
        load_node_list(DATA / "own.swf")


@pytest.mark.parametrize(
    "text, seconds",
    [
        ("1-02:03:04", 93_784),
        ("02:03:04", 7384),
        ("03:04", 184),
        ("00:00.250", 0.25),
        ("2-12", 216_000),
        ("1-00:30", 88_200),
        ("INVALID", None),
        ("", None),
    ],
)
def test_slurm_durations(text, seconds):
    assert slurm.duration_ms(text) == (None if seconds is None else round(seconds * 1000))


@pytest.mark.parametrize("text", ["soon", "1:2:3:4", "12", "-5:00", "1-", "1-2-3"])
def test_what_is_not_a_slurm_duration_is_an_error(text):
    with pytest.raises(ValueError, match="not a time"):
        slurm.duration_ms(text)


@pytest.mark.parametrize(
    "text, limit",
    [
        ("UNLIMITED", UNLIMITED),
        ("infinite", UNLIMITED),
        ("00:00:00", UNLIMITED),
        ("0", UNLIMITED),
        ("Partition_Limit", UNKNOWN),
        ("", UNKNOWN),
        ("INVALID", UNKNOWN),
        ("90", 5_400_000),
        ("1-00:00:00", 86_400_000),
    ],
)
def test_slurm_limits_are_never_zero(text, limit):
    assert slurm.limit_ms(text) == limit


@pytest.mark.parametrize(
    "text, size",
    [
        ("145792K", 145_792 * KIB),
        ("1.20G", round(1.2 * GIB)),
        ("4gn", 4 * GIB),
        ("512", 512),
        ("0", 0),
        ("", UNKNOWN),
    ],
)
def test_slurm_memory(text, size):
    assert slurm.memory_bytes(text) == size


def test_slurm_memory_that_is_no_size_is_an_error_and_of_unknown_cpus_is_unknown():
    with pytest.raises(ValueError, match="not a size"):
        slurm.memory_bytes("4 apples")
    assert slurm.requested_memory_bytes("4Gc", None, 2) == UNKNOWN


@pytest.mark.parametrize(
    "row, count",
    [
        ({"alloctres": "cpu=8,gres/gpu=4,gres/gpu:a100=4"}, 4),
        ({"alloctres": "gres/gpu:a100=4,gres/gpu:h100=2"}, 6),
        ({"alloctres": "", "reqtres": "gres/gpu=3"}, 3),
        ({"reqgres": "gpu:a100:2", "nnodes": "3"}, 6),
        ({"allocgres": "gpu:4(S:0-1)", "nnodes": "2"}, 8),
        ({"reqgres": "gres:gpu:2,craynetwork:1"}, 2),
        ({"reqgres": "gpu"}, 1),
        ({"reqgres": "gpu:4090:2"}, 2),
        ({"alloctres": "gres/gpu:4090=2,node=1"}, 2),
        ({"alloctres": "cpu=8,gres/gpumem=40G"}, 0),
        ({}, 0),
    ],
)
def test_slurm_gpus(row, count):
    assert slurm.gpus(row) == count


def test_unknown_is_not_zero():
    for text in (None, "", " ", "-1", "-1.0", "None", "NaN", "Unknown"):
        assert number(text) is whole_number(text) is instant_ms(text) is None
    assert number("0") == whole_number("0.0") == 0


def test_instants_with_and_without_zone():
    assert instant_ms("1970-01-02 00:00:00") == instant_ms("1970-01-02T08:00:00+08:00") == 86_400_000
    assert instant_ms("86400.5") == 86_400_500


@pytest.mark.parametrize(
    "text, state",
    [
        ("CANCELLED by 1001", "cancelled"),
        ("CANCELLED+", "cancelled"),
        ("OUT_OF_MEMORY", "failed"),
        ("Pass", "completed"),
        ("Killed", "cancelled"),
        ("PREEMPTED", "preempted"),
        ("odd", "unknown"),
        (None, "unknown"),
    ],
)
def test_states_have_common_names(text, state):
    assert job_state(text) == state
