"""How commands fail: one line on the error output and exit code 2, no traceback for a user's mistake."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from engine.errors import FleetlabError


@contextmanager
def told_plainly(command: str) -> Iterator[None]:
    """Turn an error of Fleetlab's into `command: sentence` and exit code 2."""
    try:
        yield
    except FleetlabError as error:
        typer.echo(f"{command}: {error}", err=True)
        raise typer.Exit(2) from error
