import contextlib
import csv
import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import FileProblem, InvalidInput, UnknownName
from engine.fleet.job_collector import MISSING_TIMES, NO_RUN, NO_SIZE, TOO_LARGE, UNREADABLE
from engine.fleet.traces import FORMATS, UNKNOWN, UNLIMITED, load_job_log, load_node_list

SWF = "{id} {submit} 0 {run} {size} -1 -1 {size} {limit} -1 1 7 1 1 1 1 -1 -1\n"


def swf(*jobs):
    fields = ("id", "submit", "run", "size", "limit")
    return "".join(SWF.format(**dict(zip(fields, job, strict=True))) for job in jobs)


def test_jobs_are_in_queue_order_with_times_from_the_first_submit():
    log = load_job_log(
        io.StringIO(swf((10, 50, 3, 1, 9), (2, 90, 1, 1, 9), (9, 50, 2, 4, -1), (1, 70.5, 5, 2, 9)))
    )
    assert log.ids == ("9", "10", "1", "2")
    assert log.submit_ms.tolist() == [0, 0, 20_500, 40_000]
    assert log.run_ms.tolist() == [2000, 3000, 5000, 1000]
    assert log.gpus.tolist() == [4, 1, 2, 1]
    assert log.estimate_ms.tolist() == [UNKNOWN, 9000, 9000, 9000]
    assert log.first_submit_ms == 50_000


def test_equal_keys_keep_the_order_of_the_file():
    log = load_job_log(swf((1, 0, 3, 1, 9), (1, 0, 2, 1, 9), (1, 0, 4, 1, 9)).encode())
    assert log.run_ms.tolist() == [3000, 2000, 4000]


def test_columns_cannot_be_written_to():
    log = load_job_log(swf((1, 0, 3, 1, 9)).encode())
    with pytest.raises(ValueError, match="read-only"):
        log.run_ms[0] = 0


@pytest.mark.parametrize("kind", ["path", "text path", "bytes", "text stream", "byte stream"])
def test_a_log_comes_from_a_path_a_stream_or_bytes(kind, tmp_path):
    text = swf((1, 0, 3, 1, 9))
    path = tmp_path / "cluster.swf"
    path.write_text(text)
    source = {
        "path": path,
        "text path": str(path),
        "bytes": text.encode(),
        "text stream": io.StringIO(text),
        "byte stream": io.BytesIO(text.encode()),
    }[kind]
    assert load_job_log(source).ids == ("1",)


def test_jobs_larger_than_the_fleet_are_counted_only_for_a_given_fleet():
    text = swf((1, 0, 3, 64, 9), (2, 0, 3, 65, 9)).encode()
    assert len(load_job_log(text)) == 2
    log = load_job_log(text, fleet_gpus=64)
    assert (log.ids, log.dropped) == (("1",), {TOO_LARGE: 1})


def test_broken_lines_are_counted_and_the_first_five_named():
    text = swf((1, 0, 3, 1, 9)) + "\n" + "1 2 three\n" * 7 + swf((2, 5, 3, 1, 9)) + "\x00\xff garbage"
    log = load_job_log(text.encode("latin-1"))
    assert len(log) == 2
    assert log.dropped == {UNREADABLE: 8}
    assert [bad.line for bad in log.bad_lines] == [3, 4, 5, 6, 7]
    assert log.bad_lines[0].why == "3 columns instead of 18"


@pytest.mark.parametrize("number", ["1e400", "nan", "inf", "1_0", "0x10", "9" * 5000, "1e30"])
def test_a_number_that_cannot_be_is_an_unreadable_line(number):
    log = load_job_log(swf((1, 0, 3, 1, 9), (2, number, 3, 1, 9), (3, 0, number, 1, 9)).encode())
    expected = {MISSING_TIMES: 2} if number == "nan" else {UNREADABLE: 2}
    assert (log.ids, log.dropped) == (("1",), expected)


def test_an_unknown_or_missing_limit_is_no_limit_for_the_schedulers():
    jobs = load_job_log(swf((1, 0, 3, 1, -1), (2, 0, 3, 2, 9)).encode()).jobs()
    assert jobs.estimate_ms.tolist() == [UNLIMITED, 9000]
    assert jobs.size.tolist() == [1, 2]
    assert jobs.ids.tolist() == [0, 1]


def test_the_summary_says_what_was_kept_and_what_was_not():
    log = load_job_log(swf((1, 0, 3, 1, 9), (2, 0, 0, 1, 9), (3, 0, 3, 0, 9)).encode())
    assert log.dropped == {NO_RUN: 1, NO_SIZE: 1}
    assert log.summary() == (
        "swf: 1 job; left out 1 because the run time is not above 0, 1 because the size is not above 0."
    )


def test_progress_rises_to_one_in_about_a_hundred_steps(tmp_path):
    path = tmp_path / "long.swf"
    path.write_text(swf(*((i, i, 3, 1, 9) for i in range(5000))))
    seen = []
    load_job_log(path, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert seen.count(1.0) == 1
    assert 90 <= len(seen) <= 102


def test_progress_can_stop_the_reading():
    def stop(fraction):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load_job_log(swf(*((i, i, 3, 1, 9) for i in range(500))).encode(), progress=stop)


def test_a_log_of_no_jobs_is_empty_not_an_error():
    log = load_job_log(b"; only a header\n")
    assert len(log) == len(log.jobs()) == 0
    assert log.submit_ms.dtype == np.int64


@pytest.mark.parametrize(
    "source, words",
    [
        (b"", "empty"),
        (b"\x1f\x8b\x08\x00", "compressed"),
        (b"hello\nworld\n", "not recognised"),
        (b"\n\n\n", "not recognised"),
        (b"\x80\x04\x95\x10\x00", "not recognised"),
        (b"sn,cpu_milli,memory_mib,gpu,model\n", "list of nodes"),
        ("/no/such/file.swf", "cannot be read"),
        ("/", "cannot be read"),
    ],
)
def test_a_source_that_is_no_log_is_a_file_problem(source, words):
    with pytest.raises(FileProblem, match=words):
        load_job_log(source)


def test_a_text_stream_in_another_encoding_is_a_file_problem():
    stream = io.TextIOWrapper(io.BytesIO(b"1 2 \xff"), encoding="utf-8")
    with pytest.raises(FileProblem, match="cannot be read"):
        load_job_log(stream)


def test_messages_use_the_name_of_an_uploaded_file():
    with pytest.raises(FileProblem, match=r"^upload\.txt: "):
        load_job_log(b"hello", name="upload.txt")


@pytest.mark.parametrize(
    "options, error", [({"fleet_gpus": 0}, InvalidInput), ({"format": "pbs"}, UnknownName)]
)
def test_options_that_make_no_sense_are_errors(options, error):
    with pytest.raises(error):
        load_job_log(swf((1, 0, 3, 1, 9)).encode(), **options)
    with pytest.raises(InvalidInput, match="source"):
        load_job_log(42)


def test_a_given_format_is_not_guessed_and_must_have_its_columns():
    assert load_job_log(b"1 2 three\n", format="swf").dropped == {UNREADABLE: 1}
    assert load_job_log(b"[]", format="philly").dropped == {}
    assert load_job_log(b"hello", format="philly").dropped == {UNREADABLE: 1}
    with pytest.raises(FileProblem, match="no column job_id, user"):
        load_job_log(b"a,b\n1,2\n", format="helios")
    with pytest.raises(FileProblem, match="JobID"):
        load_job_log(b"User|State\nann|COMPLETED\n", format="sacct")


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(-1, 9), st.integers(-1, 20), st.integers(-1, 99))))
def test_every_record_is_kept_or_counted_once(rows):
    jobs = [(i, *row) for i, row in enumerate(rows)]
    log = load_job_log(("; header\n" + swf(*jobs)).encode(), fleet_gpus=16)
    kept = [job for job in jobs if job[2] > 0 and 0 < job[3] <= 16]
    assert len(log) + sum(log.dropped.values()) == len(jobs)
    expected = sorted(kept, key=lambda job: (job[1], job[0]))
    assert log.ids == tuple(str(job[0]) for job in expected)
    first = min((job[1] for job in kept), default=0)
    assert log.submit_ms.tolist() == [(job[1] - first) * 1000 for job in expected]


@given(st.binary(max_size=300), st.sampled_from(sorted(FORMATS)))
def test_no_bytes_crash_a_reader(content, format):
    with contextlib.suppress(FileProblem):
        load_job_log(content, format=format)


fields = st.text("0123456789-:.|,{}[]\"'T KMGx=/\\", max_size=12)


@given(st.sampled_from(sorted(FORMATS)), st.data())
def test_no_damage_to_a_line_of_a_sound_log_crashes_its_reader(format, data):
    sound = SOUND[format].splitlines()
    line = data.draw(st.integers(1, len(sound)))
    text = sound[line - 1]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    sound[line - 1] = text[:start] + data.draw(fields) + text[end:]
    try:
        log = load_job_log("\n".join(sound).encode(), format=format)
    except FileProblem as problem:
        assert line == 1 == problem.fields["line"]
    else:
        assert (log.run_ms > 0).all()
        assert (log.gpus > 0).all()


SOUND = {
    "swf": swf((1, 0, 3, 1, 9), (2, 0, 3, 1, 9)),
    "sacct": "JobID|State|Submit|Elapsed|Timelimit|AllocTRES|ReqMem|MaxRSS\n"
    "7|COMPLETED|2024-03-01T10:00:00|1-02:03:04|UNLIMITED|cpu=8,gres/gpu:a100=4|4Gc|\n"
    "7.batch|COMPLETED|2024-03-01T10:00:00|1-02:03:04||cpu=8|4Gc|12K",
    "philly": json.dumps(
        [
            {
                "status": "Pass",
                "jobid": f"j{i}",
                "attempts": [
                    {
                        "start_time": "2017-10-07 01:00:00",
                        "end_time": "2017-10-07 02:00:00",
                        "detail": [{"ip": "m", "gpus": ["gpu0"]}],
                    }
                ],
                "submitted_time": "2017-10-07 00:00:00",
                "user": "u",
            }
            for i in range(3)
        ],
        indent=1,
    ),
    "helios": "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
    "7,u1,vc1,8,64,1,COMPLETED,2020-04-01 00:00:10,2020-04-01 00:00:20,2020-04-01 00:01:20,60,10",
    "acme-seren": "job_id,user,gpu_num,state,submit_time,start_time,end_time,duration,gpu_time\n"
    "7,u1,8,COMPLETED,2020-04-01 00:00:10+00:00,2020-04-01 00:00:20Z,2020-04-01 00:01:20+08:00,60,10",
    "acme-kalos": "job_id,user,gpu_num,mem_per_pod_GB,state,submit_time,start_time,"
    "end_time,fail_time,stop_time,duration\n"
    "7,u1,8,1.5,COMPLETED,2020-04-01 00:00:10+00:00,2020-04-01 00:00:20Z,,,2020-04-01 00:01:20+08:00,60",
    "openb": "name,num_gpu,gpu_milli,pod_phase,creation_time,deletion_time,scheduled_time\n"
    "pod,1,460,Failed,1,9,2",
}


def test_the_sound_logs_are_recognised_as_what_they_are():
    assert set(SOUND) == set(FORMATS)
    for format, text in SOUND.items():
        log = load_job_log(text.encode())
        assert (log.format, bool(log.detected)) == (format, True)
        assert len(log) >= 1
        assert log.dropped == {}


def test_ten_thousand_broken_records_of_json_do_not_take_quadratic_time():
    text = '[{"jobid": "a", "attempts": [}\n' * 10_000
    log = load_job_log(text.encode())
    assert log.dropped == {UNREADABLE: 10_000}
    assert log.bad_lines[-1].line == 5


def test_real_logs_keep_the_counts_that_are_known(shared_dir):
    log = load_job_log(shared_dir / "data" / "hpc2n_3171.swf", fleet_gpus=240)
    assert len(log) == 3145
    assert sum(log.dropped.values()) == 25
    assert log.machine_gpus == 240
    assert (log.estimate_ms != UNKNOWN).all()
    assert int((log.run_ms > log.estimate_ms).sum()) == 320


def test_strict_first_come_first_served_on_a_real_log_gives_the_known_mean_wait(shared_dir):
    log = load_job_log(shared_dir / "data" / "hpc2n_3171.swf", fleet_gpus=240)
    now, free, running, waits = 0, 240, [], []
    for submit, run, size in zip(log.submit_ms.tolist(), log.run_ms.tolist(), log.gpus.tolist(), strict=True):
        now = max(now, submit)
        running.sort()
        while running and (running[0][0] <= now or free < size):
            end, released = running.pop(0)
            now, free = max(now, end), free + released
        waits.append(now - submit)
        running.append((now + run, size))
        free -= size
    assert sum(waits) / len(waits) / 1000 == pytest.approx(5601.351, abs=5e-4)


def test_the_openb_pods_and_nodes_have_the_known_counts(shared_dir):
    log = load_job_log(shared_dir / "data" / "alibaba2023_openb_pods_8152.csv")
    assert len(log) + sum(log.dropped.values()) == 8152
    # 6,989 pods want one GPU and 75 want more; 897 of all were never scheduled.
    assert log.dropped[NO_SIZE] == 8152 - 6989 - 75
    assert log.dropped[MISSING_TIMES] <= 897
    assert set(log.gpus.tolist()) == {1, 2, 4, 8}
    assert int(((log.gpus == 1) & (log.gpu_milli < 1000)).sum()) <= 3078
    nodes = load_node_list(shared_dir / "data" / "alibaba2023_openb_gpu_nodes.csv")
    assert (len(nodes), int(nodes.gpus.sum()), int((nodes.gpus == 8).sum())) == (1213, 6212, 617)
    spot = load_node_list(shared_dir / "data" / "alibaba2026_spot_nodes.csv")
    assert (len(spot), int(spot.gpus.sum())) == (4278, 10_412)


def test_the_pods_agree_with_a_count_made_by_the_standard_reader(shared_dir):
    path = shared_dir / "data" / "alibaba2023_openb_pods_8152.csv"
    with path.open() as stream:
        rows = [row for row in csv.DictReader(stream) if row["num_gpu"] != "0" and row["scheduled_time"]]
    shares = [row for row in rows if row["gpu_milli"] != "1000"]
    log = load_job_log(path)
    assert len(log) == len(rows)
    assert int((log.gpu_milli < 1000).sum()) == len(shares)
    held = sum((int(row["deletion_time"]) - int(row["scheduled_time"])) * int(row["num_gpu"]) for row in rows)
    assert int((log.run_ms * log.gpus).sum()) == held * 1000


def test_the_samples_of_other_tools_are_read_without_a_broken_line(shared_dir):
    for name, jobs in (("kth_test9.swf", 9), ("accasim_tests.swf", 25)):
        log = load_job_log(shared_dir / "data" / name)
        assert (len(log), log.dropped) == (jobs, {})
    sacct = load_job_log(shared_dir / "data" / "sacct_long_sample.psv")
    assert (sacct.format, len(sacct), sacct.dropped) == ("sacct", 0, {MISSING_TIMES: 1})
    assert any("submit" in note for note in sacct.notes)
