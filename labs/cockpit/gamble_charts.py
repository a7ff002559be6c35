"""Act II's two charts: goodput by interval, and one sampled run as a strip."""

from __future__ import annotations

from engine.reliability.history import StretchKind
from engine.scenarios.gamble_outcome import CheckpointGambleOutcome as Outcome
from engine.units import Quantity, si
from labs.cockpit.charts import Axis, Band, Chart, Lane, Mark, Points, Series
from labs.cockpit.format import count, dollars_a_day, duration, gpu_hours, share

_PERCENT = 100.0
_MS_PER_HOUR = 3_600_000
_TIME_TICKS = (
    (30.0, "30 s"),
    (120.0, "2 min"),
    (600.0, "10 min"),
    (3600.0, "1 h"),
    (14400.0, "4 h"),
    (86400.0, "24 h"),
)
_ROWS: tuple[tuple[str, tuple[StretchKind, ...]], ...] = (
    ("work", ("work",)),
    ("write", ("write",)),
    ("lost", ("lost",)),
    ("restart", ("wait", "restart")),
)


def goodput_curve(outcome: Outcome) -> Chart:
    """Return goodput in per cent by interval in seconds, on a logarithmic axis.

    The exact curve; the first-order one, which fades where it is off by more than a point; simulated points
    with their 95 % bands; the present interval, the best one, and the intervals within 1 % of the best.
    """
    curve, simulated, best, here = outcome.curve, _simulated(outcome), _best_point(outcome), _here(outcome)
    first, last = curve.intervals[0], curve.intervals[-1]
    flat = (si(curve.flat_from, "s", "flat from"), si(curve.flat_to, "s", "flat to"))
    return Chart(
        name="goodput_curve",
        title="Goodput by interval",
        unit="per cent, log time",
        remark=_against_the_best(outcome),
        alt=_curve_words(outcome),
        x=Axis(label="checkpoint interval", low=first, high=last, ticks=_TIME_TICKS, log=True),
        y=Axis(label="%", low=0, high=_PERCENT, ticks=tuple((t, f"{t} %") for t in range(0, 101, 25))),
        series=(*_first_order_lines(outcome), _exact_line(outcome)),
        points=(simulated, best, here),
        marks=(
            Mark(x=best.x[0], label=f"best {duration(outcome.best_interval)}"),
            Mark(x=here.x[0], label=f"you {duration(outcome.interval)}", action=True),
        ),
        bands=(Band(low=flat[0], high=flat[1], label="within 1 %"),),
    )


def run_strip(outcome: Outcome) -> Chart:
    """Return one sampled run as four lanes: kept work, writes, lost work and restarts, with each failure."""
    strip = outcome.strip
    window = strip.ends[-1] / _MS_PER_HOUR
    lanes, ticks, said = [], [], []
    for row, (label, kinds) in enumerate(_ROWS):
        spans = [
            (one.start / _MS_PER_HOUR, one.end / _MS_PER_HOUR) for one in strip.stretches if one.kind in kinds
        ]
        total = sum(end - start for start, end in spans)
        y = float(len(_ROWS) - 1 - row)
        kind = "good" if label == "work" else "plain" if label == "write" else "bad"
        lanes.append(Lane(y=y, kind=kind, spans=tuple(spans), says=str(share(total / window))))
        ticks.append((y, label))
        said.append(f"{label} {duration(Quantity(total, 'h'))}, {share(total / window)}")
    above_lost = next(y for y, label in ticks if label == "lost") + 0.5
    failures = tuple(moment / _MS_PER_HOUR for moment in strip.failures)
    return Chart(
        name="run_strip",
        title="One run",
        unit=f"share of {window:g} hours",
        remark=f"The same {count(len(failures))} failures strike every interval; what they take differs.",
        alt=f"Of one run of {window:g} hours: {'; '.join(said)}.",
        x=Axis(
            label="hours into the run",
            low=0,
            high=window,
            ticks=tuple((float(h), f"{h} h" if h else "0") for h in range(0, int(window) + 1, 3)),
        ),
        y=Axis(label="rows", low=-0.5, high=len(_ROWS) - 0.5, ticks=tuple(ticks)),
        lanes=tuple(lanes),
        points=(
            Points(
                name="failure",
                symbol="cross",
                x=failures,
                y=tuple(above_lost for _ in failures),
                says=tuple(
                    f"node {count(node)} fails after {duration(Quantity(hour, 'h'))}"
                    for hour, node in zip(failures, strip.failed_nodes, strict=True)
                ),
                size=9,
            ),
        ),
    )


def _curve_words(outcome: Outcome) -> str:
    curve = outcome.curve
    flat = f"from {duration(curve.flat_from)} to {duration(curve.flat_to)}"
    return (
        f"Goodput is {share(outcome.goodput.m)} at {duration(outcome.interval)} and at its best, "
        f"{share(outcome.best_goodput.m)}, at {duration(outcome.best_interval)}. "
        f"It is within 1 % of that {flat}. "
        f"By the first-order formula it is {_first_order(outcome)} at this interval. "
        f"Simulated points: {count(outcome.simulated.attempts)} attempts each, with 95 % bands."
    )


def _against_the_best(outcome: Outcome) -> str:
    behind = outcome.behind_best
    place = {
        "flat": "is within 1 % of the best",
        "too often": "writes too often",
        "too rarely": "writes too rarely",
    }[outcome.side]
    cost = f"{gpu_hours(behind.gpu_hours)}/day and {dollars_a_day(behind.dollars)} behind the best"
    return f"{duration(outcome.interval)} {place}: {cost}. Shaded: within 1 %."


def _first_order(outcome: Outcome) -> str:
    value = outcome.first_order_goodput
    return f"{share(value)}" if value >= 0 else f"{share(value)}, which cannot be"


def _exact_line(outcome: Outcome) -> Series:
    curve = outcome.curve
    return Series(
        name="exact",
        style="strong",
        x=curve.intervals,
        y=tuple(one * _PERCENT for one in curve.goodput),
        says=tuple(
            f"{duration(Quantity(tau, 's'))}: exact {share(one)}"
            for tau, one in zip(curve.intervals, curve.goodput, strict=True)
        ),
    )


def _first_order_lines(outcome: Outcome) -> tuple[Series, Series]:
    """Return the first-order curve twice: where it is wrong, above zero, and where it holds."""
    curve = outcome.curve
    rows = list(zip(curve.intervals, curve.first_order, curve.first_order_holds, strict=True))
    # The last point that holds belongs to both lines, so that they meet.
    wrong = [not all(near for _, _, near in rows[max(0, at - 1) : at + 2]) for at in range(len(rows))]
    says = tuple(
        f"{duration(Quantity(tau, 's'))}: first order {share(one)}{'' if holds else ', wrong here'}"
        for tau, one, holds in rows
    )
    holding = tuple(one * _PERCENT if holds else None for _, one, holds in rows)
    fading = tuple(
        one * _PERCENT if off and one >= 0 else None for (_, one, _), off in zip(rows, wrong, strict=True)
    )
    return (
        Series(name="first order, wrong", style="faded", x=curve.intervals, y=fading, says=says),
        Series(name="first order", style="dashed", x=curve.intervals, y=holding, says=says),
    )


def _simulated(outcome: Outcome) -> Points:
    found = outcome.simulated
    return Points(
        name="simulated, 95 %",
        symbol="dot",
        size=4,
        x=found.intervals,
        y=tuple(one * _PERCENT for one in found.goodput),
        low=tuple(one * _PERCENT for one in found.low),
        high=tuple(one * _PERCENT for one in found.high),
        says=tuple(
            f"{duration(Quantity(tau, 's'))}: simulated {share(one)}, {share(low)} to {share(high)}"
            for tau, one, low, high in zip(found.intervals, found.goodput, found.low, found.high, strict=True)
        ),
    )


def _best_point(outcome: Outcome) -> Points:
    best = f"best: {share(outcome.best_goodput.m)} at {duration(outcome.best_interval)}"
    return Points(
        name="best", symbol="ring", size=10, says=(best,),
        x=(si(outcome.best_interval, "s", "best interval"),), y=(outcome.best_goodput.m * _PERCENT,),
    )  # fmt: skip


def _here(outcome: Outcome) -> Points:
    here = f"you are here: {share(outcome.goodput.m)} at {duration(outcome.interval)}"
    return Points(
        name="you are here", symbol="here", size=11, says=(here,),
        x=(si(outcome.interval, "s", "interval"),), y=(outcome.goodput.m * _PERCENT,),
    )  # fmt: skip
