"""A hand-built outcome of Act I for tests of the zones: its numbers are invented, its shape is real."""

import random

from engine.fleet.topology import MapShape
from engine.scenarios.audit_outcome import (
    BigJob,
    Books,
    Event,
    FleetMap,
    FragmentationAuditOutcome,
    Money,
    ThroughTime,
    Waits,
)

ARRIVAL = 14.0
HOURS = tuple(float(h) for h in range(0, 63, 2))
SMALL = MapShape(nodes=20, gpus_per_node=8, nodes_per_rack=5, racks_per_row=2, node_columns=4)


def pack(frames):
    """Pack states, a list of lists, two bits a GPU, as the engine does."""
    packed = bytearray()
    for states in frames:
        for at in range(0, len(states), 4):
            packed.append(sum(state << 2 * i for i, state in enumerate(states[at : at + 4])))
    return bytes(packed)


def fleet_map(shape, wait_h, seed=1):
    draw = random.Random(seed)
    gpus = shape.nodes * shape.gpus_per_node
    frames = []
    for hour in HOURS:
        big = range(gpus // 4, gpus // 4 + gpus // 8) if hour >= ARRIVAL + wait_h else ()
        states = [3 if g in big else 1 if draw.random() < 0.8 else 0 for g in range(gpus)]
        states[0:8] = [2] * 8
        frames.append(states)
    at = HOURS.index(ARRIVAL)
    labels = tuple(f"{int(h + 6) % 24:02d}:00, day {int(h + 6) // 24 + 1}" for h in HOURS)
    return FleetMap(shape=shape, hours=HOURS, labels=labels, crisis=at, after_act=at + 1, cells=pack(frames))


def audit_outcome(
    *, wait_h=21.6, censored=False, shape=SMALL, fragmentation=1.0, sentence="8,000 GPUs are busy.", **changes
):
    """Return an outcome; `changes` replaces fields of it."""
    started = not censored
    fields = {
        "clock": "20:00, day 1",
        "noun": "small student job",
        "big_job": BigJob(
            job=70123,
            gpus=1000,
            nodes=125,
            arrives=f"{ARRIVAL} h",
            started=started,
            wait=f"{wait_h} h",
            censored=censored,
            first_node=170 if started else None,
            last_node=294 if started else None,
            failures=0,
        ),
        "busy_as_found": 8012,
        "idle_as_found": 1932,
        "small_jobs_as_found": 4711,
        "fragmentation_as_found": 1.0,
        "fragmentation": fragmentation,
        "largest_block": 0,
        "free_nodes": 0,
        "kills": 0,
        "moves": 0,
        "migration_refused": False,
        "books": Books(
            available=(620000, "gpu*h"),
            held=(480000, "gpu*h"),
            retained=(479600, "gpu*h"),
            lost=(400, "gpu*h"),
            lost_to_eviction=(0, "gpu*h"),
            lost_to_failures=(400, "gpu*h"),
            tax=(0, "gpu*h"),
            pause=(0, "gpu*h"),
            writes=(0, "gpu*h"),
        ),
        "goodput": 0.9992,
        "cluster_mfu": 0.309,
        "utilisation": 0.774,
        "money": Money(
            price=(3, "USD/(gpu*h)"),
            per_useful_gpu_hour=(3.88, "USD/(gpu*h)"),
            wasted_per_day=(163000, "USD/day"),
        ),
        "waits": Waits(jobs=70000, censored=0, mean="12.6 h", p50="10 h", p95="22 h", longest="24 h"),
        "through_time": ThroughTime(
            hours=HOURS,
            busy=(0.8,) * len(HOURS),
            fragmentation=(1.0,) * len(HOURS),
            largest_block=(0,) * len(HOURS),
            free_nodes=(0,) * len(HOURS),
            waiting=(0,) * len(HOURS),
        ),
        "fleet_map": fleet_map(shape, wait_h),
        "events": (
            Event(hours=0.0, clock="06:00", kind="note", name="Note", sentence=sentence),
            Event(
                hours=3.6,
                clock="09:36",
                kind="fail",
                name="Failure",
                sentence="Node 17 in rack 3 fails: 3.1 GPU-h of work lost.",
            ),
            Event(
                hours=ARRIVAL,
                clock="20:00",
                kind="note",
                name="Note",
                sentence="Job 70123 asks for 125 whole nodes in one block.",
            ),
            Event(
                hours=ARRIVAL + wait_h,
                clock="17:36",
                kind="done",
                name="Done",
                sentence="Job 70123 starts on nodes 170 to 294.",
            ),
        ),
    }
    return FragmentationAuditOutcome(**(fields | changes))
