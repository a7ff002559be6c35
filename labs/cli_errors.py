"""How commands fail: one line on the error output and exit code 1, never a traceback for a user's mistake."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from engine.errors import FleetlabError


@contextmanager
def told_plainly() -> Iterator[None]:
    """Turn an error of Fleetlab's into its sentence and exit code 1."""
    try:
        yield
    except FleetlabError as error:
        typer.echo(f"fleetlab: {error}", err=True)
        raise typer.Exit(1) from error
