"""`fleetlab profile`: measure what the planner assumed."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from engine.errors import NoAnswer
from engine.planner import PlanRequest, StrategyPlan, plan
from engine.profiling import Measurement, ProfileCache, Profiler, ProfileResult, measure
from engine.profiling import profiler as profiling
from labs.cli_errors import read_request, told_plainly


class Backend(StrEnum):
    """The library that trains; auto is torch when it is installed, else numpy."""

    AUTO = "auto"
    NUMPY = "numpy"
    TORCH = "torch"


def profile(
    request: Annotated[str, typer.Argument(metavar="REQUEST", help="JSON file, or - for stdin.")],
    budget: Annotated[
        float, typer.Option(help="Seconds after which the run is killed.")
    ] = profiling.BUDGET_SECONDS,
    cache: Annotated[Path | None, typer.Option(help="A file that remembers profiles.")] = None,
    folder: Annotated[Path | None, typer.Option(help="The folder whose disk is measured.")] = None,
    backend: Annotated[Backend, typer.Option(help="The library that trains.")] = Backend.AUTO,
    force: Annotated[bool, typer.Option("--force", help="Measure even when it is not worth it.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Measure a stand-in of the plan's model here: time, memory, checkpoint.

    The run trains a small network for 23 steps in a process of its own, saves
    a checkpoint until it is on the disk, restores it and compares every bit.
    It is skipped when it was measured before, when static memory is at most
    60 % of the GPU's, and when it may cost more than 5 % of the job.
    """
    with told_plainly("fleetlab profile"), _ended_as_interrupted():
        question = read_request(request)
        chosen = _selected(question)
        with _progress(shown=not as_json) as progress:
            worker = Profiler(backend=backend.value, folder=folder, progress=progress)
            store = ProfileCache(cache) if cache else None
            outcome = measure(question, chosen, worker, store, budget, force)
    if as_json:
        plan_of = {"plan_id": chosen.plan_id, "strategy_family": chosen.strategy_family}
        typer.echo(json.dumps(plan_of | outcome.model_dump(mode="json"), indent=2))
    else:
        _print(chosen, outcome)
    if outcome.origin == "failed":
        raise typer.Exit(1)


def _selected(request: PlanRequest) -> StrategyPlan:
    report = plan(request)
    if report.selected is None:
        why = report.hint.text if report.hint else ""
        raise NoAnswer("No plan survives for this request, so there is nothing to measure.", hint=why)
    return report.selected


@contextmanager
def _ended_as_interrupted() -> Iterator[None]:
    """Let a request to end interrupt the program, so that the run is ended too."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _progress(shown: bool) -> Iterator[profiling.Progress]:
    """Give a function that moves a bar on the error output, one bar a stage."""
    words = {"step": "Training steps", "checkpoint": "Checkpoint"}
    columns = (TextColumn("{task.description:<14}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    hidden = not (shown and console.is_terminal)
    with Progress(*columns, console=console, transient=True, disable=hidden) as bars:
        stages = {"step": bars.add_task(words["step"], total=None)}

        def move(stage: str, done: int, total: int) -> None:
            if stage not in stages:
                stages[stage] = bars.add_task(words.get(stage, stage))
            bars.update(stages[stage], completed=done, total=total)

        yield move


def _print(chosen: StrategyPlan, outcome: Measurement) -> None:
    console = Console(highlight=False)
    if outcome.result is None:
        more = " Give --force to measure all the same." if outcome.origin == "skipped" else ""
        failed = outcome.origin == "failed"
        text = f"{outcome.reason}{more} Plan {chosen.plan_id} stays on its static estimates."
        Console(stderr=failed, highlight=False).print(text, markup=False)
        return
    console.print(f"Plan {chosen.plan_id} ({chosen.strategy_family}). {outcome.reason}", markup=False)
    table = Table(box=None, show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for label, value in _rows(outcome.result):
        table.add_row(label, value)
    console.print(table)
    for note in outcome.result.notes:
        console.print(f"- {note}", markup=False)


def _rows(result: ProfileResult) -> list[tuple[str, str]]:
    return [
        ("Step time", _number(result.step_time_s, 1e3, "ms")),
        ("Tokens per second", _number(result.tokens_per_s, 1, "")),
        ("Host memory, peak", _number(result.host_ram_gb, 1e3, "MB")),
        ("GPU memory, peak", _number(result.peak_vram_gb, 1, "GB")),
        ("Wait for data", _number(result.dataloader_wait_fraction, 100, "%")),
        ("Checkpoint size", _number(result.checkpoint_size_gb, 1e3, "MB")),
        ("Checkpoint save", _number(result.checkpoint_save_s, 1e3, "ms")),
        ("Checkpoint restore", _number(result.checkpoint_restore_s, 1e3, "ms")),
        ("Steps measured", f"{result.measured_steps} after {result.warmup_steps} to warm up"),
    ]


def _number(value: float | None, factor: float, unit: str) -> str:
    if value is None:
        return "not measured"
    shown = value * factor
    return f"{shown:,.0f} {unit}".strip() if shown >= 1000 else f"{shown:.4g} {unit}".strip()
