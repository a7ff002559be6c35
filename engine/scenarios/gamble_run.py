"""Computes Act II: the curve, the simulated points, the books of a day and one sampled run."""

from __future__ import annotations

import math
import random
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from engine.reliability import exponential
from engine.reliability.draws import Draws, settled
from engine.reliability.history import Pace, play
from engine.reliability.lambert import Floats
from engine.reliability.montecarlo import goodput_points
from engine.scenarios.audit_outcome import Money
from engine.scenarios.gamble_outcome import (
    BehindBest,
    CheckpointGambleOutcome,
    DailyBooks,
    GoodputCurve,
    RunStrip,
    SimulatedPoints,
)
from engine.scenarios.gamble_story import gamble_events, gamble_map
from engine.units import si

if TYPE_CHECKING:
    from engine.scenarios.checkpoint_gamble import CheckpointGambleScenario

_SHORTEST, _LONGEST, _STEPS = 30.0, 86400.0, 144
_SIMULATED = (30.0, 60.0, 150.0, 300.0, 600.0, 1200.0, 2400.0, 3600.0, 7200.0, 14400.0, 28800.0, 57600.0)
_ATTEMPTS = 6000
_BAND_95 = 1.959963984540054
_FLAT = 0.99


class Setting(NamedTuple):
    """The job in plain seconds: τ, δ, M, R and D."""

    interval: float
    write: float
    mtbf: float
    restart: float
    downtime: float


def gamble_outcome(scenario: CheckpointGambleScenario) -> CheckpointGambleOutcome:
    """Return the outcome of Act II for one setting of its levers."""
    setting = Setting(
        interval=si(scenario.interval, "s", "interval"),
        write=scenario.write_time_s,
        mtbf=si(scenario.mtbf, "s", "mtbf"),
        restart=si(scenario.restart_time, "s", "restart_time"),
        downtime=si(scenario.downtime, "s", "downtime"),
    )
    tau, write, mtbf, restart, downtime = setting
    goodput = settled(float(exponential.goodput(*setting)))
    best = settled(float(exponential.optimum(write, mtbf)))
    best_goodput = max(goodput, settled(float(exponential.best_goodput(write, mtbf, restart, downtime))))
    strip = _strip(scenario, setting)
    day = 24.0 * scenario.gpus
    price = si(scenario.price, "USD/(gpu*h)", "price")
    behind = day * (best_goodput - goodput)
    books = _books(setting, goodput, day)
    terms: dict[str, Any] = {
        "interval": scenario.interval,
        "checkpoint": scenario.checkpoint,
        "write_time": (write, "s"),
        "mtbf": scenario.mtbf,
        "restart_time": scenario.restart_time,
        "gpus": scenario.gpus,
        "goodput": goodput,
        "best_interval": (best, "s"),
        "best_goodput": best_goodput,
        "share_of_best": goodput / best_goodput,
        "loss_of_best": 1 - goodput / best_goodput,
        "side": "flat" if goodput >= _FLAT * best_goodput else "too often" if tau < best else "too rarely",
        "young_interval": (settled(float(exponential.young(write, mtbf))), "s"),
        "daly_interval": (settled(float(exponential.daly_higher(write, mtbf))), "s"),
        "first_order_goodput": settled(float(exponential.first_order_goodput(tau, write, mtbf, restart))),
        "failures_per_day": 86400 / mtbf,
        "cluster_mfu": goodput * scenario.job_mfu,
        "books": books,
        "behind_best": BehindBest(gpu_hours=(behind, "gpu*h"), dollars=(behind * price, "USD/day")),
        "money": Money(
            price=scenario.price,
            per_useful_gpu_hour=scenario.price / goodput,
            wasted_per_day=(day * (1 - goodput) * price, "USD/day"),
        ),
        "curve": _curve(setting[1:]),
        "simulated": _simulated(setting[1:], scenario.seed),
        "strip": strip,
        "fleet_map": gamble_map(scenario, strip),
    }
    outcome = CheckpointGambleOutcome(**terms, events=())
    return outcome.model_copy(update={"events": gamble_events(outcome)})


@lru_cache(maxsize=64)
def _curve(job: tuple[float, ...]) -> GoodputCurve:
    """Return the curve of a job with these δ, M, R and D, which no interval changes."""
    write, mtbf, restart, downtime = job
    spread = math.log(_LONGEST / _SHORTEST)
    tau = np.array([settled(_SHORTEST * math.exp(spread * i / _STEPS)) for i in range(_STEPS + 1)])
    exact = exponential.goodput(tau, write, mtbf, restart, downtime)
    first = exponential.first_order_goodput(tau, write, mtbf, restart)
    low, high = exponential.flat_region(write, mtbf, _FLAT)
    return GoodputCurve(
        intervals=tau.tolist(),
        goodput=_settled(exact),
        first_order=_settled(first),
        first_order_holds=((first >= 0) & (abs(first - exact) <= 0.01)).tolist(),
        flat_from=(settled(low), "s"),
        flat_to=(settled(high), "s"),
    )


@lru_cache(maxsize=64)
def _simulated(job: tuple[float, ...], seed: int) -> SimulatedPoints:
    write, mtbf, restart, downtime = job
    points = goodput_points(list(_SIMULATED), write, mtbf, restart, downtime, seed=seed, attempts=_ATTEMPTS)
    return SimulatedPoints(
        intervals=_SIMULATED,
        goodput=tuple(mean for mean, _ in points),
        low=tuple(max(0.0, mean - _BAND_95 * error) for mean, error in points),
        high=tuple(min(1.0, mean + _BAND_95 * error) for mean, error in points),
        attempts=_ATTEMPTS,
    )


def _books(setting: Setting, goodput: float, day: float) -> DailyBooks:
    """Split a day by the expected times of one segment; what is left of it was lost work."""
    tau, write, mtbf, restart, downtime = setting
    per_work = day * goodput / tau
    failures = float(exponential.failures_per_segment(tau, write, mtbf))
    recovery = (mtbf + downtime) * math.exp(restart / mtbf) - mtbf
    retained, writes = per_work * tau, per_work * write
    restarts = settled(per_work * failures * recovery)
    lost = max(0.0, day - retained - writes - restarts)
    terms = {"held": day, "retained": retained, "lost": lost, "writes": writes, "restarts": restarts}
    return DailyBooks(**{name: (value, "gpu*h") for name, value in terms.items()})


def _strip(scenario: CheckpointGambleScenario, setting: Setting) -> RunStrip:
    """Play one run; the failures come from the seed and M alone, so every interval meets the same ones."""
    window = _ms(si(scenario.window, "s", "window"))
    failures: list[int] = []
    draws = Draws(scenario.seed)
    while not failures or failures[-1] < window:
        gap = _ms(float(draws.exponentials(1)[0]) * setting.mtbf)
        failures.append((failures[-1] if failures else 0) + max(1, gap))
    times = (setting.interval, setting.write, setting.downtime, setting.restart)
    work, write, downtime, restart = map(_ms, times)
    pace = Pace(max(1, work), max(1, write), downtime, restart)
    history = play(pace, failures, window)
    struck = failures[:-1]
    node = random.Random(scenario.seed)
    nodes = scenario.gpus // scenario.gpus_per_node
    return RunStrip(
        kinds=tuple(history.kinds),
        ends=tuple(history.ends),
        failures=tuple(struck),
        failed_nodes=tuple(node.randrange(nodes) for _ in struck),
    )


def _settled(values: Floats) -> tuple[float, ...]:
    return tuple(settled(value) for value in values.tolist())


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
