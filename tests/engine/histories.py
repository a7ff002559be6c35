"""Histories of the engine as digests: to compare one Python, one numpy and one processor with another.

`python -m tests.engine.histories > tests/data/histories.json` records them anew after a change that is meant
to change a history.
"""

import hashlib
import json
import random
from collections.abc import Iterator

import numpy as np

from engine.fleet import queueing
from engine.fleet.arrivals import ArrivalSpec, arrival_offsets
from engine.fleet.jobs import Jobs
from engine.fleet.topology import MapShape
from engine.fleet.workload import HOUR_MS, StudentLoad, Students
from engine.scenarios.checkpoint_gamble import CheckpointGambleScenario
from engine.scenarios.elastic_rescale import ElasticRescaleScenario
from engine.scenarios.fragmentation_audit import FragmentationAuditScenario

POLICIES = ("fcfs", "best-fit", "preemption")
ACTS = {"nothing": {}, "evict": {"evict": True}, "migrate": {"migrate": True}}
SMALL = {"shape": MapShape(nodes=60), "gang_gpus": 80, "node_failure_rate": "50/(kilonode*day)"}


def digests() -> dict[str, str]:
    """Return the digest of every history, by name."""
    return {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in histories()}


def histories() -> Iterator[tuple[str, str]]:
    """Yield each history as a text with every digit, but without the sentences of the log."""
    for scenario in scenarios():
        yield scenario_name(scenario), scenario.outcome().model_dump_json(exclude={"events"})
    for seed in range(5):
        yield f"students, seed {seed}", students(seed)
    for policy in queueing.POLICIES:
        for kill in (True, False):
            yield f"pool, {policy}, kill_at_limit={kill}", pool(policy, kill)
    for rate in (0.3, 100.0):
        yield f"poisson, {rate}/s", poisson(rate)


def scenarios():
    """Yield Act I with every lever on a small fleet that often fails, thrice in full, and Acts II and III."""
    for number, (policy, act) in enumerate((p, a) for p in POLICIES for a in ACTS):
        for seed in (2 * number, 2 * number + 1):
            yield FragmentationAuditScenario(policy=policy, seed=seed, **ACTS[act], **SMALL)
    for policy, act in zip(POLICIES, ACTS, strict=True):
        yield FragmentationAuditScenario(policy=policy, seed=81, **ACTS[act])
    for interval, bandwidth in (("40 s", "40 GB/s"), ("1 h", "24.8 GB/s"), ("20 h", "5 GB/s")):
        yield CheckpointGambleScenario(interval=interval, write_bandwidth=bandwidth)
    for response, layout in (("wait", "8x20x5"), ("spares", "8x10x10"), ("elastic", "8x1x100")):
        yield ElasticRescaleScenario(response=response, layout=layout)


def scenario_name(scenario) -> str:
    """Return the levers as a name."""
    levers = ("policy", "evict", "migrate", "interval", "write_bandwidth", "response", "layout", "seed")
    said = {lever: getattr(scenario, lever) for lever in levers if hasattr(scenario, lever)}
    size = f", {scenario.shape.nodes} nodes" if hasattr(scenario, "shape") else ""
    return f"{type(scenario).__name__}, " + ", ".join(f"{k}={v}" for k, v in said.items()) + size


def students(seed: int) -> str:
    """Return every job of the students of one seed, to the millisecond."""
    jobs = Students(StudentLoad(), 10_000, opens_ms=6 * HOUR_MS, span_ms=62 * HOUR_MS, seed=seed)
    columns = (jobs.submit_ms, jobs.run_ms, jobs.estimate_ms, jobs.size)
    return json.dumps([np.asarray(column).tolist() for column in columns])


def pool(policy: str, kill_at_limit: bool) -> str:
    """Return starts and ends of 300 random jobs; some outrun their estimate, some have no length."""
    draw = random.Random(5)
    rows = []
    for job in range(300):
        run = draw.choice((0, draw.randrange(5000), draw.randrange(5000)))
        estimate = max(0, run + draw.randrange(-500, 3000))
        rows.append((job, draw.randrange(30_000), draw.randint(1, 70), estimate, run, draw.randrange(3)))
    done = queueing.schedule(Jobs.from_rows(rows), 64, policy, kill_at_limit=kill_at_limit)
    return json.dumps([done.start_ms.tolist(), done.end_ms.tolist(), done.rejected.tolist()])


def poisson(rate: float) -> str:
    """Return arrivals to the nanosecond: `random.expovariate` takes its logarithm from the C library."""
    spec = ArrivalSpec(mode="poisson", rate_per_second=rate)
    return json.dumps([round(offset, 9) for offset in arrival_offsets(spec, count=5000, seed=3)])


if __name__ == "__main__":
    print(json.dumps(digests(), indent=1))
