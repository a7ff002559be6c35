"""What commands share: reading a request, and failing in one line with exit code 2 and no traceback."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from engine.errors import FileProblem, FleetlabError
from engine.planner import PlanRequest


def read_request(path: str) -> PlanRequest:
    """Read a request from a JSON file, or from the standard input when the path is `-`."""
    if path == "-":
        return PlanRequest.read_json(sys.stdin.buffer.read(), file="stdin")
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise FileProblem(f"this file cannot be read ({error.strerror}).", file=path) from error
    return PlanRequest.read_json(content, file=path)


@contextmanager
def told_plainly(command: str) -> Iterator[None]:
    """Turn an error of Fleetlab's into `command: sentence` and exit code 2."""
    try:
        yield
    except FleetlabError as error:
        typer.echo(f"{command}: {error}", err=True)
        raise typer.Exit(2) from error
