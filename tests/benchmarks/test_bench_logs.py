"""How long it takes to read 100,000 jobs and to make a million arrivals."""

import pytest

from engine.fleet.arrivals import MAX_ARRIVALS, ArrivalSpec, arrival_offsets
from engine.fleet.traces import load_job_log

JOBS = 100_000
SWF = "".join(
    f"{i} {i * 3} 9 {1 + i % 9999} {1 + i % 64} 5.5 512 -1 3600 -1 1 7 1 1 1 1 -1 -1\n" for i in range(JOBS)
)
SACCT_HEADER = "JobID|User|State|Submit|Start|End|Elapsed|Timelimit|AllocTRES|ReqMem|MaxRSS\n"
SACCT_ROWS = (
    "{i}|ann|COMPLETED|2024-03-01T10:00:00|2024-03-01T10:05:00|2024-03-01T11:05:00|01:00:00|1-00:00:00"
    "|billing=8,cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=64G,node=1|64G|\n"
    "{i}.batch||COMPLETED|2024-03-01T10:05:00|2024-03-01T10:05:00|2024-03-01T11:05:00|01:00:00||cpu=8||145792K\n"
)


def test_swf(benchmark):
    log = benchmark(load_job_log, SWF.encode())
    assert len(log) == JOBS


def test_sacct_with_steps(benchmark):
    text = SACCT_HEADER + "".join(SACCT_ROWS.format(i=i) for i in range(JOBS // 2))
    log = benchmark(load_job_log, text.encode())
    assert len(log) == JOBS // 2


@pytest.mark.parametrize(
    "spec",
    [
        ArrivalSpec("fixed-rate", 1000),
        ArrivalSpec("poisson", 1000),
        ArrivalSpec("burst", burst_size=5, burst_interval_seconds=0.1),
    ],
    ids=ArrivalSpec.case_label,
)
def test_a_million_arrivals(benchmark, spec):
    assert len(benchmark(arrival_offsets, spec, count=MAX_ARRIVALS)) == MAX_ARRIVALS
