"""`fleetlab resources show`: what a store of reports has learned."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from engine.errors import FileProblem, NoAnswer
from engine.resources import ResolvedResources, ResourceKey, ResourceStore
from labs.cli_errors import told_plainly

app = typer.Typer(
    help="Memory requests learned from what jobs really used.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_CAPTION = (
    "Base, worker and scratch are in GB. Kills still hold the worker's memory up, until another run succeeds."
)
Learned = tuple[ResourceKey, ResolvedResources, int]


@app.callback()
def resources() -> None:
    """Memory requests learned from what jobs really used."""


@app.command()
def show(
    db: Annotated[Path, typer.Argument(help="The store, a SQLite file.")],
    task_type: Annotated[str | None, typer.Option(help="Only this task type.")] = None,
    model: Annotated[str | None, typer.Option(help="Only this model.")] = None,
    variant: Annotated[str | None, typer.Option(help="Only this variant.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Show what each kind of task would ask for next, and where that comes from."""
    wanted = {"task_type": task_type, "model": model, "variant": variant}
    with told_plainly("fleetlab resources"):
        learned = _learned(db, {part: value for part, value in wanted.items() if value is not None})
    if as_json:
        typer.echo(json.dumps([_plain(*row) for row in learned], indent=2))
    else:
        Console(highlight=False).print(_table(learned))


def _learned(db: Path, wanted: dict[str, str]) -> list[Learned]:
    if not db.exists():
        raise FileProblem("there is no such file.", file=str(db))
    store = ResourceStore(db)
    known = store.keys()
    keys = [key for key in known if wanted.items() <= asdict(key).items()]
    if not keys:
        told = ", ".join(f"{part} {value!r}" for part, value in wanted.items())
        raise NoAnswer(f"{db}: this store has no report" + (f" with {told}." if told else " yet."))
    return [(key, store.resolve(key), store.open_kills(key)) for key in keys]


def _plain(key: ResourceKey, resolved: ResolvedResources, open_kills: int) -> dict[str, object]:
    return {"key": asdict(key), "resources": resolved.model_dump(mode="json"), "open_kills": open_kills}


def _table(learned: list[Learned]) -> Table:
    table = Table(box=None, caption=_CAPTION, caption_justify="left")
    for heading in ("Task", "Model", "Variant"):
        table.add_column(heading, overflow="fold")
    for heading in ("Base", "Worker", "Scratch", "s/unit", "Kills"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("Worker from")
    for key, resolved, open_kills in learned:
        numbers = (resolved.memory_base_gb, resolved.memory_per_worker_gb, resolved.scratch_gb)
        seconds = resolved.seconds_per_unit
        table.add_row(
            *map(escape, (key.task_type, key.model, key.variant)),
            *(f"{number:.2f}" for number in numbers),
            "–" if seconds is None else f"{seconds:.3g}",
            str(open_kills),
            resolved.source,
        )
    return table
