"""Act I on screen: the cards, charts and words of a fragmentation audit's outcome."""

from __future__ import annotations

import math

from engine.missions import Act, MissionPlan
from engine.scenarios.audit_outcome import FragmentationAuditOutcome as Outcome
from engine.scenarios.registry import SCENARIOS
from engine.units import si

from labs.cockpit.charts import Axis, Band, Bar, Chart, Mark, Series
from labs.cockpit.format import Shown, count, digits, dollars_a_day, duration, gpu_hours, price, share
from labs.cockpit.telemetry import Card, Goal
from labs.cockpit.views import hours

_ENTRY = SCENARIOS["fragmentation_audit"]
_PERCENT = 100.0


def shown(outcome: Outcome, value: str) -> Shown:
    """Return a value of the outcome, by the name that plans use, as it is written."""
    found, unit = _ENTRY.value(outcome, value), _ENTRY.values[value].unit
    if value == "wait":
        return duration(found, censored=outcome.big_job.censored)
    if value == "tco":
        return price(found)
    if value == "wasted":
        return dollars_a_day(found)
    if unit == "%":
        return share(None if found is None else si(found, "", value))
    if unit == "h":
        return duration(found)
    return gpu_hours(found) if unit == "GPU*h" else Shown(count(int(found)), "")


def moment(outcome: Outcome) -> str:
    """Return when the big job arrives, for instance `20:00, day 1.`"""
    return f"{_clock(_arrival(outcome))}."


def crisis_hours(outcome: Outcome) -> float:
    """Return when the big job arrives, in hours from the opening of the books."""
    return _arrival(outcome)


def big_job(outcome: Outcome) -> str:
    """Return the big job's name, for instance `job 70123`."""
    return f"job {outcome.big_job.job}"


def shown_frame(outcome: Outcome) -> int:
    """Return the frame at which the map opens: the big job's start if it follows at once, else just after the act."""
    job, fleet = outcome.big_job, outcome.fleet_map
    start = _arrival(outcome) + hours(job.wait)
    if not job.started or hours(job.wait) >= 1:
        return fleet.after_act
    return next((i for i, at in enumerate(fleet.hours) if i > fleet.after_act and at >= start), fleet.after_act)


def occupant(outcome: Outcome, frame: int, gpu: int) -> str:
    """Return who holds a GPU at one frame: job, user, size and the time that remains; empty when nobody does."""
    found = outcome.occupant(frame, gpu)
    if found is None:
        return ""
    job, user, gpus, remaining = found
    return f"job {job} of {user}, {count(gpus)} GPU{'s' if gpus > 1 else ''}, {duration(remaining)} left"


def cards(outcome: Outcome, plan: MissionPlan, act: Act) -> tuple[Card, ...]:
    """Return the four ledger cards."""
    lost, wasted = str(gpu_hours(outcome.books.lost)), str(dollars_a_day(outcome.money.wasted_per_day))
    wait = outcome.big_job.wait
    return (
        _card("mfu", share(si(outcome.cluster_mfu, "", "MFU")), "up", f"utilisation {shown(outcome, 'utilisation')}"),
        _card("goodput", shown(outcome, "goodput"), "up", f"{lost} lost"),
        _card("wait", shown(outcome, "wait"), "down", f"small jobs {shown(outcome, 'small_jobs_wait')}, mean",
              value=hours(wait) if shown(outcome, "wait").unit == "h" else hours(wait) * 60,
              whole=not outcome.big_job.censored, goal=_wait_goal(outcome, plan, act)),
        _card("tco", price(outcome.money.per_useful_gpu_hour), "down", f"{wasted} wasted"),
    )  # fmt: skip


def charts(outcome: Outcome) -> dict[str, Chart]:
    """Return the act's two charts: the fleet through time, and what the setting cost."""
    return {"through_time": through_time(outcome), "price": price_of_setting(outcome)}


def through_time(outcome: Outcome) -> Chart:
    """Utilisation, external fragmentation and the largest free block, in per cent, around the big job's arrival."""
    samples, job = outcome.through_time, outcome.big_job
    x = tuple(at - _arrival(outcome) for at in samples.hours)
    blocks = tuple(min(1.0, block / job.nodes) for block in samples.largest_block)
    series = (
        _line("utilisation", "strong", x, samples.busy, [f"{share(busy)} of GPUs busy" for busy in samples.busy]),
        _line("fragmentation", "dashed", x, samples.fragmentation, [f"fragmentation {share(f)}" for f in samples.fragmentation]),
        _line(f"largest free block, of {count(job.nodes)} nodes", "big", x, blocks,
              [f"largest free block {count(block)} of {count(job.nodes)} nodes" for block in samples.largest_block]),
    )  # fmt: skip
    return Chart(
        name="through_time",
        title="Fleet through time",
        unit="per cent",
        remark=_block_words(outcome),
        alt=f"Utilisation is {shown(outcome, 'utilisation')} over the window. {_start_words(outcome)}",
        x=_hour_axis(outcome, x),
        y=Axis(label="%", low=0, high=_PERCENT, ticks=tuple((t, f"{t} %") for t in (0, 25, 50, 75, 100))),
        series=series,
        marks=_marks(outcome),
        bands=(Band(low=0, high=hours(job.wait), label=f"{big_job(outcome)} waits"),) if hours(job.wait) >= 1 else (),
    )


def price_of_setting(outcome: Outcome) -> Chart:
    """GPU-hours lost, taxed, paused and idle under this setting, on a logarithmic axis."""
    books = outcome.books
    idle = si(books.available, "gpu*h", "available") - si(books.held, "gpu*h", "held")
    amounts = [
        ("killed work", books.lost_to_eviction),
        ("failures", books.lost_to_failures),
        ("migration tax", books.tax),
        ("pause", books.pause),
    ]
    bars = [Bar(label=label, value=si(time, "gpu*h", label), says=str(gpu_hours(time))) for label, time in amounts]
    bars.append(Bar(label="idle or failed", value=max(0.0, idle), says=f"{idle:,.0f} GPU-h"))
    decades = max(4, math.ceil(math.log10(max(bar.value for bar in bars) + 1)))
    acted = sum(bar.value for bar in bars if bar.label in ("killed work", "migration tax", "pause"))
    return Chart(
        name="price",
        title="Price of this setting",
        unit="GPU-hours, log scale",
        remark=f"The act itself: {acted:,.0f} GPU-h." if acted else "Nobody acted: nothing was killed, taxed or paused.",
        alt=". ".join(f"{bar.label}: {bar.says}" for bar in bars) + ".",
        x=Axis(label="GPU-h", low=1, high=10**decades, ticks=tuple((10**d, _decade(d)) for d in range(0, decades + 1, 2)), log=True),
        bars=tuple(bars),
    )


def _card(name: str, value_shown: Shown, better: str, aside: str, *, value: float | None = None, whole: bool = True,
          goal: Goal | None = None) -> Card:  # fmt: skip
    number = value_shown.number
    places = len(number.partition(".")[2]) if whole else None
    return Card(name, value_shown, float(number.replace(",", "")) if value is None else value, places, better, aside, goal)  # type: ignore[arg-type]


def _wait_goal(outcome: Outcome, plan: MissionPlan, act: Act) -> Goal | None:
    badge = next((plan.badges[name] for name in act.badges if plan.badges[name].value == "wait"), None)
    if badge is None:
        return None
    whole_bar = max(samples for samples in outcome.through_time.hours) - _arrival(outcome)
    return Goal(hours(outcome.big_job.wait) / whole_bar, hours(badge.limit) / whole_bar, f"goal {duration(badge.limit)}")


def _line(name: str, style: str, x: tuple[float, ...], shares: tuple[float | None, ...], says: list[str]) -> Series:
    y = tuple(None if one is None else one * _PERCENT for one in shares)
    return Series(name=name, style=style, x=x, y=y, says=tuple(says))  # type: ignore[arg-type]


def _hour_axis(outcome: Outcome, x: tuple[float, ...]) -> Axis:
    ticks = tuple((float(h), f"{h} h".replace("-", "−") if h else "0") for h in range(-12, int(x[-1]) + 1, 12))
    return Axis(label=f"hours after {big_job(outcome)} arrived", low=x[0], high=x[-1], ticks=ticks)


def _decade(power: int) -> str:
    return f"{10 ** (power % 3)}{('', ' k', ' M')[power // 3]}"


def _marks(outcome: Outcome) -> tuple[Mark, ...]:
    job, marks = outcome.big_job, []
    if outcome.kills:
        marks.append(Mark(x=0, label=f"{count(outcome.kills)} jobs killed", action=True))
    if outcome.moves:
        marks.append(Mark(x=0, label=f"{count(outcome.moves)} jobs moved", action=True))
    if not marks:
        marks.append(Mark(x=0, label="arrives"))
    if job.started and hours(job.wait) >= 1:
        marks.append(Mark(x=hours(job.wait), label="starts"))
    return tuple(marks)


def _block_words(outcome: Outcome) -> str:
    """Say what the largest free block did between the arrival and the start, or the end."""
    samples, job = outcome.through_time, outcome.big_job
    arrival, end = _arrival(outcome), _arrival(outcome) + hours(job.wait)
    during = [block for at, block in zip(samples.hours, samples.largest_block, strict=True) if arrival <= at <= end]
    most = max(during, default=outcome.largest_block)
    if job.started and hours(job.wait) < 1:
        return _start_words(outcome)
    if most == 0:
        return f"While {big_job(outcome)} waits not one whole node is free; it needs {count(job.nodes)}."
    return f"Largest free block when it arrives: {count(outcome.largest_block)} of {count(job.nodes)} nodes. {_start_words(outcome)}"


def _start_words(outcome: Outcome) -> str:
    wait = duration(outcome.big_job.wait, censored=outcome.big_job.censored)
    name = big_job(outcome).capitalize()
    return f"{name} starts after {wait}." if outcome.big_job.started else f"{name} does not start: {wait}."


def _arrival(outcome: Outcome) -> float:
    return hours(outcome.big_job.arrives)


def _clock(from_opening: float) -> str:
    opening = 6.0
    day, hour = divmod(opening + from_opening, 24)
    minutes = round(hour * 60)
    return f"{minutes // 60:02d}:{minutes % 60:02d}, day {int(day) + 1}"


__all__ = ["big_job", "cards", "charts", "crisis_hours", "digits", "moment", "occupant", "price_of_setting", "shown", "shown_frame", "through_time"]
