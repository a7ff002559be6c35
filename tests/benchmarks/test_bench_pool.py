"""Jobs a second on a pool; beside accasim and CQSim if they are there (run with -s to see the ratios).

accasim is used if it is installed. For CQSim, set FLEETLAB_CQSIM to the root of its checkout.
"""

import collections.abc
import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from engine.fleet.jobs import Jobs
from engine.fleet.queueing import schedule

SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
SHARES = [0.40, 0.15, 0.12, 0.15, 0.06, 0.04, 0.03, 0.025, 0.015, 0.01]
PEER_UNITS, PEER_JOBS = 1024, 3000
CQSIM = Path(os.environ.get("FLEETLAB_CQSIM", "no such folder"))


def backlog(count, units, load, *, any_size=False, at_once=False):
    """Return jobs with lognormal run times, estimates 1 to 4 times too long, and Poisson arrivals."""
    draw = np.random.default_rng(7)
    size = draw.integers(1, units // 10, count) if any_size else draw.choice(SIZES, count, p=SHARES)
    run = np.minimum(draw.lognormal(np.log(3600), 1.5, count), 86_400)
    estimate = np.minimum(run * draw.uniform(1, 4, count), 4 * 86_400)
    gap = (size * run).mean() / (load * units)
    submit = np.zeros(count) if at_once else np.cumsum(draw.exponential(gap, count))
    seconds = [np.maximum(0, np.rint(x)).astype(np.int64) for x in (submit, estimate, np.maximum(run, 1))]
    columns = (1000 * seconds[0], size, 1000 * np.maximum(seconds[1], seconds[2]), 1000 * seconds[2])
    return Jobs(np.arange(1, count + 1), *columns, np.zeros(count, np.int64))


CASES = {
    "load 0.95": {"load": 0.95},
    "load 1.05": {"load": 1.05},
    "load 1.3": {"load": 1.3},
    "any size": {"load": 1.05, "any_size": True},
    "all at once": {"load": 1.0, "at_once": True},
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("policy", ["fcfs", "easy"])
def test_200_000_jobs_on_10_000_units(benchmark, policy, case):
    jobs = backlog(200_000, 10_000, **CASES[case])
    result = benchmark.pedantic(schedule, (jobs, 10_000, policy), rounds=3)
    benchmark.extra_info["mean wait, s"] = float(result.waits.mean().magnitude)
    print(f"\n{policy}, {case}: {len(jobs) / benchmark.stats.stats.min:,.0f} jobs/s")


@pytest.mark.parametrize("policy", ["fcfs", "easy"])
@pytest.mark.skipif(not importlib.util.find_spec("accasim"), reason="accasim is not installed")
def test_beside_accasim(benchmark, policy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    compare(benchmark, policy, "accasim", lambda log: run_accasim(log, policy))


@pytest.mark.parametrize("policy", ["fcfs", "easy"])
@pytest.mark.skipif(not CQSIM.is_dir(), reason="FLEETLAB_CQSIM is no folder")
def test_beside_cqsim(benchmark, policy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    compare(benchmark, policy, "CQSim", lambda log: run_cqsim(log, policy))


def compare(benchmark, policy, name, run_peer):
    jobs = backlog(PEER_JOBS, PEER_UNITS, 1.2)
    log = write_swf(jobs, Path("log.swf").resolve())
    began = time.perf_counter()
    run_peer(log)
    theirs = time.perf_counter() - began
    benchmark.pedantic(schedule, (jobs, PEER_UNITS, policy), rounds=5)
    ours = benchmark.stats.stats.min
    rates = f"{PEER_JOBS / theirs:,.0f} and {PEER_JOBS / ours:,.0f} jobs/s, {theirs / ours:,.0f} times"
    print(f"\n{policy}, {name} and this: {rates}")


def write_swf(jobs, path):
    lines = ["; MaxNodes: 1024", "; MaxProcs: 1024"]
    columns = (jobs.ids, jobs.submit_ms // 1000, jobs.run_ms // 1000, jobs.size, jobs.estimate_ms // 1000)
    for name, submit, run, size, estimate in zip(*(column.tolist() for column in columns), strict=True):
        lines.append(f"{name} {submit} -1 {run} {size} -1 -1 {size} {estimate} -1 1 1 1 1 1 1 -1 -1")
    path.write_text("\n".join(lines) + "\n")
    return path


def run_accasim(log, policy):
    collections.Mapping = collections.abc.Mapping  # accasim 1.1.3 was written for Python below 3.10
    from accasim.base.allocator_class import FirstFit
    from accasim.base.scheduler_class import EASYBackfilling, FirstInFirstOut
    from accasim.base.simulator_class import Simulator

    machine = log.with_name("machine.json")
    machine.write_text(json.dumps({"groups": {"node": {"core": 8}}, "resources": {"node": PEER_UNITS // 8}}))
    scheduler = {"fcfs": FirstInFirstOut, "easy": EASYBackfilling}[policy](FirstFit())
    quiet = {"scheduling_output": False, "statistics_output": False, "show_statistics": False}
    Simulator(str(log), str(machine), scheduler, **quiet).start_simulation()


def run_cqsim(log, policy):
    folder = f"{os.path.relpath(log.parent, CQSIM / 'data')}/"
    command = [
        sys.executable,
        "cqsim.py",
        "-j",
        log.name,
        "-n",
        log.name,
        "-R",
        str(PEER_JOBS + 1),
        "-v",
        "0",
    ]
    for option in ("--path_in", "--path_out", "--path_fmt", "--path_debug"):
        command += [option, folder]
    command += ["-b", {"fcfs": "0", "easy": "1"}[policy]]
    subprocess.run(command, cwd=CQSIM / "src", check=True, capture_output=True, timeout=600)
    (results,) = log.parent.glob("*.rst")
    assert len(results.read_text().splitlines()) == PEER_JOBS
