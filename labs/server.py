"""One lab served by marimo in a process of its own: find a port, start, wait until it answers, stop."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import InvalidInput, NoAnswer

FIRST_PORT = 2718
_PORTS_TRIED = 100
_START_SECONDS = 60.0
_STOP_SECONDS = 10.0


def free_port(host: str, asked: int | None) -> int:
    """Return the port that was asked for, or the first free one from 2718 on.

    Raises
    ------
    InvalidInput: if the host is not an address of this machine, or the port is not open to this user.
    NoAnswer: if the port that was asked for is taken, or no port of a hundred is free.
    """
    if asked is not None:
        if not _is_free(host, asked):
            raise NoAnswer(f"Port {asked} is taken; choose another with --port, or leave it out.")
        return asked
    for port in range(FIRST_PORT, FIRST_PORT + _PORTS_TRIED):
        if _is_free(host, port):
            return port
    raise NoAnswer(f"No port from {FIRST_PORT} to {FIRST_PORT + _PORTS_TRIED - 1} is free on {host}.")


def _is_free(host: str, port: int) -> bool:
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise InvalidInput("host", host, "a name or an address of this machine") from error
    with socket.socket(family, kind) as probe:
        if os.name == "posix":  # as servers do: the last run's closing connections do not count
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                raise InvalidInput("host", host, "a name or an address of this machine") from error
            if error.errno == errno.EACCES:
                raise InvalidInput(
                    "port", port, "a port that you may open, such as one from 1024 on"
                ) from error
            return False
    return True


def reachable(host: str) -> str:
    """Return the name under which this machine reaches a server that listens on `host`."""
    return "localhost" if host in ("0.0.0.0", "::", "") else host


def _answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((reachable(host), port), timeout=0.5).close()
    except OSError:
        return False
    return True


@contextmanager
def served(notebook: Path, host: str, port: int, arguments: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Serve a notebook while the block runs; the process is stopped and waited for on the way out.

    The server reads no terminal, so that it never asks, and has a session of its own (on Windows a process
    group), so that a terminal's Ctrl-C reaches only this process, which then ends it; skew protection is off,
    so that a page that is open while the server restarts goes on.

    Raises
    ------
    NoAnswer: if the server ends or does not answer within a minute.
    """
    options = ["--headless", "--no-token", "--no-skew-protection", "--host", host, "--port", str(port)]
    marimo = [sys.executable, "-m", "marimo", "--quiet", "run", str(notebook), *options]
    process = subprocess.Popen(
        [*marimo, *(["--", *arguments] if arguments else [])],
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )
    try:
        _wait_until_it_answers(process, host, port)
        yield process
    finally:
        _stop(process)


def _wait_until_it_answers(process: subprocess.Popen[bytes], host: str, port: int) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not _answers(host, port):
        if process.poll() is not None:
            raise NoAnswer(f"The server ended with code {process.returncode} before it answered.")
        if time.monotonic() > deadline:
            raise NoAnswer(f"The server did not answer within {_START_SECONDS:.0f} s.")
        time.sleep(0.1)


def _stop(process: subprocess.Popen[bytes]) -> None:
    try:
        process.terminate()
        process.wait(_STOP_SECONDS)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):  # too slow, for us or for a second Ctrl-C
        process.kill()
        process.wait()
