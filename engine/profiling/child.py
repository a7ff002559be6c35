"""A process of our own that is read within a deadline and ended with all its children."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from engine.profiling.result import ProfileError

RUN_VARIABLE = "FLEETLAB_PROFILE_RUN"
_LONGEST_LINE = 1_000_000
_ERROR_TAIL_BYTES = 4_000
_MOST_SWEEPS = 40


class Child:
    """A process in a session of its own; leaving the `with` block ends it and everything it started.

    Parameters
    ----------
    command: the program and its arguments.
    run: an id that is handed down in the environment, by which processes that left the session are found.
    folder: its working folder, where its errors are written.
    budget_s: seconds from now after which `lines` gives up.
    environment: variables to set besides those of this process.
    """

    def __init__(
        self,
        command: Sequence[str],
        run: str,
        folder: Path,
        budget_s: float,
        environment: Mapping[str, str],
    ) -> None:
        if not hasattr(os, "killpg"):
            raise ProfileError("A profile runs a process of its own, which this system does not offer.")
        self._command, self._folder = command, folder
        self._environment = {**os.environ, **environment, RUN_VARIABLE: run}
        self._deadline = time.monotonic() + budget_s
        self._budget_s = budget_s
        self._run = run
        self._errors = folder / "errors.txt"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def lines(self) -> Iterator[bytes]:
        """Start the process and yield each line it says, until it closes its output.

        It starts here and not before, so that an interrupt at any moment after finds the block to leave.

        Raises
        ------
        ProfileError: if it does not start, when the budget is spent, or a line has no end.
        """
        descriptor, rest = self._start(), b""
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while True:
                if not selector.select(max(0.0, self._deadline - time.monotonic())):
                    raise self._late()
                content = os.read(descriptor, 65536)
                if not content:
                    return
                *complete, rest = (rest + content).split(b"\n")
                yield from complete
                if len(rest) > _LONGEST_LINE:
                    raise ProfileError("No measurement: the run said a line that has no end.")
                if time.monotonic() > self._deadline:
                    raise self._late()

    def failed(self) -> ProfileError:
        """Return the error of a process that ended without a result, with the last line of its errors."""
        tail = self._errors.read_bytes()[-_ERROR_TAIL_BYTES:].decode("utf-8", "replace").split("\n")
        last = next((line.strip() for line in reversed(tail) if line.strip()), "it said nothing")
        return ProfileError(f"No measurement: the run ended without a result ({last[:200]}).")

    def end(self) -> None:
        """Kill the process, its session, and every process that carries the id of the run."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        for _ in range(_MOST_SWEEPS):
            strays = _carrying(self._run)
            for pid in strays:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if not strays:
                break
            time.sleep(0.01)
        if self._process is not None:
            self._process.wait()
            assert self._process.stdout is not None
            self._process.stdout.close()

    def _start(self) -> int:
        """Start the process and return the descriptor of what it says."""
        try:
            with self._errors.open("wb") as errors:
                self._process = subprocess.Popen(
                    self._command,
                    cwd=self._folder,
                    env=self._environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    start_new_session=True,
                )
        except OSError as error:
            raise ProfileError(f"The measuring process did not start ({error.strerror}).") from error
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def _late(self) -> ProfileError:
        return ProfileError(
            f"No measurement: the run passed its budget of {self._budget_s:g} s and was killed with its "
            "children.",
            budget_seconds=self._budget_s,
        )


def _carrying(run: str) -> list[int]:
    """Return the processes whose environment carries the run's id; none where there is no /proc."""
    needle, found = f"{RUN_VARIABLE}={run}".encode(), []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if needle in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
    return found
