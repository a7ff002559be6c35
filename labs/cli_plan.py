"""`fleetlab plan`: how to train something, why, and what was rejected."""

from __future__ import annotations

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
        console.print(_table(report.candidates))
    left = len(report.candidates) - _MOST_ROWS
    if left > 0:
        console.print(Text(f"{left} more candidates are in the report (--json).", style="dim"))
    for warning in report.warnings:
        console.print(Text(f"warning: {warning}", style="yellow"))


def _table(verdicts: tuple[Verdict, ...]) -> Table:
    order = ("selected", "feasible", "rejected_policy", "rejected_dominated", "infeasible")
    table = Table(header_style="bold")
    for column in _COLUMNS:
        table.add_column(column, justify="right" if column in _RIGHT else "left")
    for verdict in sorted(verdicts, key=lambda verdict: order.index(verdict.status))[:_MOST_ROWS]:
        table.add_row(*map(Text, row(verdict)), style=_STYLES.get(verdict.status, "dim"))
    return table
