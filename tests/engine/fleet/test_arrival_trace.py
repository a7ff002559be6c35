import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import FileProblem, InvalidInput
from engine.fleet.arrivals import ArrivalSpec, ArrivalTrace, arrival_offsets, load_arrival_trace


@pytest.fixture
def written(tmp_path):
    def write(*lines):
        path = tmp_path / "trace.jsonl"
        path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
        return path

    return write


def request(**changes):
    event = {"event_type": "infer.request", "phase": "measured", "status": "ok", "case_id": "a"}
    return event | {"started_at_ns": 1_700_000_000_000_000_000} | changes


def test_offsets_in_milliseconds_are_sorted_and_start_at_zero(written):
    trace = load_arrival_trace(written({"offset_ms": 30}, {"offset_ms": 10}, "\n", {"offset_ms": 12.5}))
    assert trace.offsets_seconds == (0.0, 0.0025, 0.02)
    assert trace.case_id is None


def test_events_count_when_measured_and_not_dropped_from_the_intended_start(written):
    start = 1_700_000_000_000_000_001
    trace = load_arrival_trace(
        written(
            request(intended_at_ns=start + 5),
            request(intended_at_ns=None, started_at_ns=start),
            request(intended_at_ns=start + 1, started_at_ns=start + 900),
            request(phase="warmup", intended_at_ns=1),
            request(status="dropped", intended_at_ns=2),
            {"event_type": "infer.token", "phase": "measured"},
        )
    )
    # One nanosecond is below the resolution of a float of this size: the difference must be an integer's.
    assert trace.offsets_seconds == (0.0, 1e-9, 5e-9)
    assert trace.case_id == "a"


def test_several_cases_need_a_choice_and_the_error_lists_them(written):
    path = written(request(), request(case_id="b", started_at_ns=7), request(case_id="b", started_at_ns=9))
    assert load_arrival_trace(path, case_id="b").offsets_seconds == (0.0, 2e-9)
    for case_id in (None, "c"):
        with pytest.raises(InvalidInput, match="one of the cases a, b") as caught:
            load_arrival_trace(path, case_id)
        assert caught.value.fields["parameter"] == "case_id"


def test_a_case_of_a_file_of_plain_offsets_does_not_exist(written):
    with pytest.raises(InvalidInput, match="case_id"):
        load_arrival_trace(written({"offset_ms": 1}), case_id="a")


@pytest.mark.parametrize(
    "lines, number, words",
    [
        ([{"offset_ms": 1}, "{broken\n"], 2, "not JSON"),
        ([{"offset_ms": 1}, "\n", "[1]\n"], 3, "not an object"),
        ([{"offset_ms": 1}, "3\n"], 2, "not an object"),
        ([{"offset_ms": 1}, {"other": 1}], 2, "missing"),
        ([{"other": 1}, {"offset_ms": 1}], 2, "every line"),
        ([{"offset_ms": True}], 1, "True"),
        ([{"offset_ms": "1"}], 1, "'1'"),
        ([{"offset_ms": -1}], 1, "-1"),
        (['{"offset_ms": NaN}\n'], 1, "nan"),
        (['{"offset_ms": Infinity}\n'], 1, "inf"),
        (['{"offset_ms": 1e999}\n'], 1, "inf"),
        ([f'{{"offset_ms": {"9" * 400}}}\n'], 1, "finite"),
        ([f'{{"offset_ms": {"9" * 5000}}}\n'], 1, "not JSON"),
        (["[" * 100_000 + "\n"], 1, "not JSON"),
        ([request(started_at_ns=1.5)], 1, "1.5"),
        ([request(), request(started_at_ns=None)], 2, "None"),
        ([request(), request(started_at_ns=False)], 2, "False"),
        ([request(case_id=3)], 1, "case_id"),
    ],
)
def test_a_line_that_is_not_as_described_is_named_by_its_number(written, lines, number, words):
    with pytest.raises(FileProblem, match=words) as caught:
        load_arrival_trace(written(*lines))
    assert caught.value.fields["line"] == number


@pytest.mark.parametrize("lines", [[], ["\n", "  \n"], [request(phase="warmup")], [{}]])
def test_a_file_without_arrivals_says_what_it_needs(written, lines):
    with pytest.raises(FileProblem, match=r"no arrival.*offset_ms"):
        load_arrival_trace(written(*lines))


def test_a_file_that_is_not_there_or_is_not_text_is_a_file_problem(tmp_path):
    with pytest.raises(FileProblem, match="cannot be read"):
        load_arrival_trace(tmp_path / "absent.jsonl")
    with pytest.raises(FileProblem, match="cannot be read"):
        load_arrival_trace(tmp_path)
    (tmp_path / "binary").write_bytes(b'{"offset_ms": 1}\n\xff\xfe\x00{"offset_ms": 2}\n')
    with pytest.raises(FileProblem, match="binary:2"):
        load_arrival_trace(tmp_path / "binary")


def test_the_mark_some_editors_put_at_the_start_is_passed_over(tmp_path):
    path = tmp_path / "marked.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"offset_ms": 5}\r\n{"offset_ms": 6}\r\n')
    assert load_arrival_trace(path).offsets_seconds == (0.0, 0.001)


def test_the_digest_is_of_the_offsets_rounded_to_nine_digits():
    trace = ArrivalTrace((0.0, 0.1234567891), "x", "case")
    digest = hashlib.sha256(b"[0.0, 0.123456789]").hexdigest()
    assert trace.digest() == ArrivalTrace([0, 0.12345678909], "y").digest() == digest
    assert trace.to_record() == {"source": "x", "case_id": "case", "arrivals": 2, "digest": digest}
    record = ArrivalSpec("replay", trace=trace).to_record()
    assert record == {"mode": "replay", "trace": trace.to_record()}
    json.dumps(record)


@pytest.mark.parametrize("offsets", [(), (1.0,), (0.0, -1.0), (0.0, 2.0, 1.0), (0.0, float("nan")), (False,)])
def test_a_trace_ascends_from_zero(offsets):
    with pytest.raises(InvalidInput, match="offsets_seconds"):
        ArrivalTrace(offsets, "x")


def test_a_million_lines_are_read(tmp_path):
    path = tmp_path / "long.jsonl"
    path.write_text("".join(f'{{"offset_ms": {i}}}\n' for i in range(1_000_000)))
    trace = load_arrival_trace(path)
    assert len(trace.offsets_seconds) == 1_000_000
    assert arrival_offsets(ArrivalSpec("replay", trace=trace))[-1] == 999.999


@given(st.lists(st.integers(0, 2**62), min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_the_order_of_the_lines_does_not_matter(tmp_path_factory, starts, shuffler):
    path = tmp_path_factory.mktemp("trace") / "events.jsonl"
    expected = tuple((start - min(starts)) / 10**9 for start in sorted(starts))
    shuffler.shuffle(starts)
    path.write_text("\n".join(json.dumps(request(intended_at_ns=start)) for start in starts))
    assert load_arrival_trace(path).offsets_seconds == expected
