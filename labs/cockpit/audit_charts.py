"""Act I's two charts: the fleet through time, and what the setting cost."""

from __future__ import annotations

import math

from engine.scenarios.audit_outcome import FragmentationAuditOutcome as Outcome
from engine.units import si
from labs.cockpit.audit_words import arrival, big_job, start_words, starts_at_once
from labs.cockpit.charts import Axis, Band, Bar, Chart, Mark, Series, Style
from labs.cockpit.format import count, gpu_hours, share
from labs.cockpit.views import hours

_PERCENT = 100.0
_SECOND = 1 / 3600
_ACTED = ("killed work", "migration tax", "pause")


def through_time(outcome: Outcome) -> Chart:
    """Return utilisation, external fragmentation and the largest free block around the big job's arrival.

    All three are in per cent: of GPUs, of free whole nodes, and of the nodes that the big job needs.
    """
    samples, job = outcome.through_time, outcome.big_job
    x = tuple(at - arrival(outcome) for at in samples.hours)
    needed = f"of {count(job.nodes)} nodes"
    says = [f"{share(busy)} of GPUs busy" for busy in samples.busy]
    waits = Band(low=0, high=hours(job.wait), label=f"{big_job(outcome)} waits")
    blocks = [min(1.0, block / job.nodes) for block in samples.largest_block]
    return Chart(
        name="through_time",
        title="Fleet through time",
        unit="per cent",
        remark=_block_words(outcome),
        alt=f"Utilisation is {share(outcome.utilisation)} over the window. {start_words(outcome)}",
        x=_hour_axis(outcome, x),
        y=Axis(label="%", low=0, high=_PERCENT, ticks=tuple((t, f"{t} %") for t in range(0, 101, 25))),
        series=(
            _line("utilisation", "strong", x, samples.busy, says),
            _line(
                "fragmentation",
                "dashed",
                x,
                samples.fragmentation,
                [f"fragmentation {share(f)}" for f in samples.fragmentation],
            ),
            _line(
                f"largest free block, {needed}",
                "big",
                x,
                blocks,
                [f"largest free block {count(block)} {needed}" for block in samples.largest_block],
            ),
        ),
        marks=_marks(outcome),
        bands=() if starts_at_once(outcome) else (waits,),
    )


def price_of_setting(outcome: Outcome) -> Chart:
    """Return the GPU-hours lost, taxed, paused and idle under this setting, on a logarithmic axis."""
    books = outcome.books
    amounts = {
        "killed work": books.lost_to_eviction,
        "failures": books.lost_to_failures,
        "migration tax": books.tax,
        "pause": books.pause,
        "idle or failed": books.available - books.held,
    }
    bars = tuple(
        Bar(label=label, value=si(time, "gpu*h", label), says=str(gpu_hours(time)))
        for label, time in amounts.items()
    )
    acted = sum((amounts[label] for label in _ACTED), start=0 * books.lost)
    decades = max(4, math.ceil(math.log10(max(bar.value for bar in bars) + 1)))
    return Chart(
        name="price",
        title="Price of this setting",
        unit="GPU-hours, log scale",
        remark=f"The act itself: {gpu_hours(acted)}."
        if acted.magnitude
        else "Nothing was killed, taxed or paused.",
        alt=". ".join(f"{bar.label}: {bar.says}" for bar in bars) + ".",
        x=Axis(
            label="GPU-h",
            low=1,
            high=10**decades,
            ticks=tuple((10**power, _decade(power)) for power in range(0, decades + 1, 2)),
            log=True,
        ),
        bars=bars,
    )


def _line(
    name: str,
    style: Style,
    x: tuple[float, ...],
    shares: tuple[float | None, ...] | list[float],
    says: list[str],
) -> Series:
    y = tuple(None if one is None else one * _PERCENT for one in shares)
    return Series(name=name, style=style, x=x, y=y, says=tuple(says))


def _hour_axis(outcome: Outcome, x: tuple[float, ...]) -> Axis:
    first = -12 * int(-x[0] // 12)
    ticks = tuple(
        (float(h), f"{h} h".replace("-", "−") if h else "0") for h in range(first, int(x[-1]) + 1, 12)
    )
    return Axis(label=f"hours after {big_job(outcome)} arrived", low=x[0], high=x[-1], ticks=ticks)


def _decade(power: int) -> str:
    return f"{10 ** (power % 3)}{('', ' k', ' M', ' G')[power // 3]}"


def _marks(outcome: Outcome) -> tuple[Mark, ...]:
    acts = ((outcome.kills, "killed"), (outcome.moves, "moved"))
    marks = [Mark(x=0, label=f"{count(number)} jobs {done}", action=True) for number, done in acts if number]
    if not marks:
        marks = [Mark(x=0, label="arrives")]
    if outcome.big_job.started and not starts_at_once(outcome):
        marks.append(Mark(x=hours(outcome.big_job.wait), label="starts"))
    return tuple(marks)


def _block_words(outcome: Outcome) -> str:
    """Say in words what the largest free block did while the big job waited."""
    job, samples, came = outcome.big_job, outcome.through_time, arrival(outcome)
    if starts_at_once(outcome):
        return start_words(outcome)
    waited = zip(samples.hours, samples.largest_block, strict=True)
    started = came + hours(job.wait) + _SECOND  # whatever digits were lost in adding
    most = max((block for at, block in waited if came <= at <= started), default=0)
    if most == 0:
        return f"While {big_job(outcome)} waits not one whole node is free; it needs {count(job.nodes)}."
    found = f"Largest free block when it arrives: {count(outcome.largest_block)} of {count(job.nodes)} nodes."
    return f"{found} {start_words(outcome)}"
