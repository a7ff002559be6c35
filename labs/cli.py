"""The command `fleetlab`: serve a lab, list the labs, and the tools of the engine.

Nothing heavy is imported before a command needs it, so that `fleetlab --help` is quick.
"""

from __future__ import annotations

import signal
from importlib import import_module
from typing import Annotated, Any
from urllib.parse import urlencode

import typer
from typer.core import TyperGroup

_HELP = {"help_option_names": ["-h", "--help"]}
_TOOL: dict[str, Any] = {
    "add_help_option": False,
    "context_settings": {"ignore_unknown_options": True, "allow_extra_args": True},
    "rich_help_panel": "Tools",
}


class PlainErrors(TyperGroup):
    """A group of commands whose Fleetlab errors are one sentence on the error output and exit code 2."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            from engine.errors import FleetlabError

            if not isinstance(error, FleetlabError):
                raise
            _say(str(error), style="red", stderr=True)
            raise typer.Exit(2) from error


app = typer.Typer(
    cls=PlainErrors,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
    context_settings=_HELP,
    help="Interactive labs about running very large GPU fleets, and the tools they teach with.",
)


def _say(sentence: str, style: str = "", stderr: bool = False) -> None:
    from rich.console import Console
    from rich.text import Text

    Console(stderr=stderr).print(Text(sentence, style=style), soft_wrap=True)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"fleetlab {version('fleetlab')}")
        except PackageNotFoundError:
            typer.echo("fleetlab, not installed: run from its folder")
        raise typer.Exit


@app.callback()
def fleetlab(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Interactive labs about running very large GPU fleets, and the tools they teach with."""


@app.command()
def run(
    lab: Annotated[str, typer.Argument(help="The lab's number, such as 08.")],
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="The port; without it the first free one from 2718 on."),
    ] = None,
    host: Annotated[str, typer.Option(help="Where to listen; 0.0.0.0 lets other machines in.")] = "127.0.0.1",
    student: Annotated[str, typer.Option(help="Whose work it is; kept apart in the browser.")] = "",
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the lab in a browser.")
    ] = False,
) -> None:
    """Serve a lab until Ctrl-C."""
    from engine.missions import load_mission
    from engine.paths import shipped
    from labs.server import FIRST_PORT, free_port, reachable, served

    plan = load_mission(lab.zfill(2))
    notebook = shipped("labs", f"{plan.notebook}.py")
    chosen = free_port(host, port)
    query = f"/?{urlencode({'student': student})}" if student else ""
    address = f"http://{reachable(host)}:{chosen}{query}"
    _interrupt_on_every_ending()
    try:
        with served(notebook, host, chosen, [f"--student={student}"] if student else []) as server:
            if port is None and chosen != FIRST_PORT:  # a browser keeps work by address
                _say(f"Port {FIRST_PORT} is taken; work done there stays under that address.", style="yellow")
            _say(f"Lab {plan.lab}, {plan.title}: {address}", style="bold")
            _say("Ctrl-C stops it.")
            if browser:
                typer.launch(address)
            code = server.wait()
    except KeyboardInterrupt:
        _say("Stopped.")
        return
    raise typer.Exit(code)


def _interrupt_on_every_ending() -> None:
    """Make every polite signal to end an interrupt: the server, in its own session, hears none of them."""
    # Keys and kill always end it, also in a shell's background job, which is born deaf to the keys; a closed
    # terminal does unless it was told not to, as by nohup. Not every system has every name.
    for name in ("SIGINT", "SIGTERM", "SIGQUIT", "SIGBREAK", "SIGHUP"):
        known = getattr(signal, name, None)
        if known is not None and (name != "SIGHUP" or signal.getsignal(known) is not signal.SIG_IGN):
            signal.signal(known, signal.default_int_handler)


@app.command()
def labs() -> None:
    """List the labs."""
    from rich.console import Console
    from rich.table import Table

    from engine.missions import missions

    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for column in ("lab", "title", "acts", "minutes", "about"):
        table.add_column(
            column, justify="right" if column == "minutes" else "left", no_wrap=column == "title"
        )
    for plan in missions():
        minutes = str(sum(act.minutes for act in plan.acts))
        acts = ", ".join(act.title for act in plan.acts)
        table.add_row(plan.lab, plan.title, acts, minutes, ", ".join(plan.topics))
    Console().print(table)


@app.command(help="Choose how to train: the best strategy that fits, and why the others do not.", **_TOOL)
def plan(ctx: typer.Context) -> None:
    """Forward to `labs.cli_plan`."""
    _forward(ctx, "labs.cli_plan", "plan")


@app.command(help="Measure a stand-in of the plan's model here: time, memory, checkpoint.", **_TOOL)
def profile(ctx: typer.Context) -> None:
    """Forward to `labs.cli_profile`."""
    _forward(ctx, "labs.cli_profile", "profile")


@app.command(help="Memory requests learned from what jobs really used.", **_TOOL)
def resources(ctx: typer.Context) -> None:
    """Forward to `labs.cli_resources`."""
    _forward(ctx, "labs.cli_resources", "app")


def _forward(ctx: typer.Context, module: str, name: str) -> None:
    """Import a tool now that it is asked for, and hand it the rest of the line."""
    tool = getattr(import_module(module), name)
    if not isinstance(tool, typer.Typer):
        alone = typer.Typer(add_completion=False, pretty_exceptions_show_locals=False)
        alone.command(context_settings=_HELP)(tool)
        tool = alone
    command = typer.main.get_command(tool)
    command.main(ctx.args, prog_name=ctx.command_path, standalone_mode=True)


if __name__ == "__main__":
    app()
