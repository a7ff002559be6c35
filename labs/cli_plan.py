"""`fleetlab plan`: how to train something, why, and what was rejected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from engine.planner import Measured, PlanReport, Verdict
from engine.planner import plan as make_plan
from engine.planner.explain import headline, plan_lines, row
from labs.cli_errors import read_request, told_plainly

_COLUMNS = ("candidate", "workers", "status", "memory", "time", "cost", "efficiency", "reason")
_RIGHT = ("workers", "memory", "time", "cost", "efficiency")
_STYLES = {"selected": "bold green", "feasible": "", "rejected_policy": "yellow"}
_REASON_WIDTH = 24
_MOST_ROWS = 40


def plan(
    request_path: Annotated[str, typer.Argument(metavar="REQUEST", help="JSON file, or - for stdin.")],
    json_: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    checkpoint_write: Annotated[
        str | None, typer.Option(help="Measured time of one checkpoint, such as '40 s'.")
    ] = None,
    gpu_mttf: Annotated[
        str | None, typer.Option(help="Mean time to failure of one GPU, such as '50000 h'.")
    ] = None,
    restart: Annotated[str, typer.Option(help="Time to restart after a failure.")] = "0 s",
) -> None:
    """Choose how to train: the best strategy that fits, and why the others do not."""
    with told_plainly("fleetlab plan"):
        request = read_request(request_path)
        measured = _measured(checkpoint_write, gpu_mttf, restart)
        report = make_plan(request, measured, strict=True)
    if json_:
        typer.echo(report.model_dump_json(indent=2))
    else:
        _show(report)


def _measured(checkpoint_write: str | None, gpu_mttf: str | None, restart: str) -> Measured | None:
    if checkpoint_write is None and gpu_mttf is None:
        return None
    return Measured(checkpoint_write=checkpoint_write, gpu_mttf=gpu_mttf, restart=restart)


def _show(report: PlanReport) -> None:
    console = Console()
    console.print(Text(headline(report), style="bold"))
    for line in plan_lines(report):
        name, _, value = line.partition(": ")
        console.print(Text.assemble(f"  {name}: ", (value, "cyan")))
    if report.candidates:
        _show_candidates(console, report.candidates)
    left = len(report.candidates) - _MOST_ROWS
    if left > 0:
        console.print(Text(f"{left} more candidates are in the report (--json).", style="dim"))
    for warning in report.warnings:
        console.print(Text(f"warning: {warning}", style="yellow"))


def _show_candidates(console: Console, verdicts: tuple[Verdict, ...]) -> None:
    order = ("selected", "feasible", "rejected_policy", "rejected_dominated", "infeasible")
    first = sorted(verdicts, key=lambda verdict: order.index(verdict.status))[:_MOST_ROWS]
    table = _table(first)
    needed = console.measure(table, options=console.options.update(width=1000)).minimum
    if needed <= console.width:
        console.print(table)
        return
    for line in _lines(first):  # a terminal of 80 columns would cut a table's names
        console.print(line, soft_wrap=True)


def _table(verdicts: list[Verdict]) -> Table:
    table = Table(header_style="bold")
    for column in _COLUMNS[:-1]:
        table.add_column(column, justify="right" if column in _RIGHT else "left", no_wrap=True)
    table.add_column(_COLUMNS[-1], min_width=_REASON_WIDTH)
    for verdict in verdicts:
        table.add_row(*map(Text, row(verdict)), style=_style(verdict))
    return table


def _lines(verdicts: list[Verdict]) -> Iterator[Text]:
    """Yield a line for each candidate, its columns aligned, and its reason on a line of its own."""
    rows = []
    for verdict in verdicts:
        name, workers, status, memory, time, cost, _, reason = row(verdict)
        rows.append((f"{name} on {workers}", status, memory, time, cost, reason))
    name_width, status_width, *widths = (max(map(len, column)) for column in zip(*rows, strict=True))
    for verdict, (name, status, *numbers, reason) in zip(verdicts, rows, strict=True):
        parts = [f"{name:<{name_width}}", f"{status:<{status_width}}"]
        parts += [f"{number:>{width}}" for number, width in zip(numbers, widths, strict=False) if width]
        yield Text("  ".join(parts).rstrip(), style=_style(verdict))
        if reason:
            yield Text(f"    {reason}", style=_style(verdict))


def _style(verdict: Verdict) -> str:
    return _STYLES.get(verdict.status, "dim")
