"""The profiler: one bounded, isolated measurement of a plan's stand-in on this machine.

What holds for every run: it has its own temporary folder and run id; it writes to no store, ledger or
record; it runs in a process of its own, so the random states of this one are unchanged; and it ends within
its budget, with all its children, or says that there is no measurement.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import math
import os
import platform
import sys
import tempfile
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import engine
from engine.errors import FleetlabError, InvalidInput
from engine.planner.protocol import PlanRequest
from engine.planner.report import StrategyPlan
from engine.profiling.child import Child
from engine.profiling.job import Task, asked_parameters, stand_in
from engine.profiling.result import ProfileError, ProfileResult
from engine.units import number

Backend = Literal["numpy", "torch"]
Progress = Callable[[str, int, int], None]
"""Called with what is going on (`"step"` or `"checkpoint"`), how much of it is done, and of how much."""

BUDGET_SECONDS = 300.0
LARGEST_BUDGET_SECONDS = 604_800.0
_WORKER = (sys.executable, "-P", "-m", "engine.profiling.worker")
# One thread a library: a number that moves with what else the machine does is no measurement.
_ENVIRONMENT = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Profiler:
    """Measures by training a small stand-in of the plan's model on the CPU, in a process of its own.

    Parameters
    ----------
    backend: `"numpy"`, `"torch"`, or `"auto"` for torch when it is installed and numpy otherwise.
    folder: the folder on the disk whose checkpoint times are wanted; the system's temporary one if none.
    progress: is told how far the run is.
    worker: the command that measures, for trying out another one.
    """

    def __init__(
        self,
        backend: Literal["auto", "numpy", "torch"] = "auto",
        folder: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
        worker: Sequence[str] = _WORKER,
    ) -> None:
        self.backend = chosen_backend(backend)
        self._folder = folder
        self._progress = progress or (lambda stage, done, total: None)
        self._worker = tuple(worker)

    def profile(
        self, request: PlanRequest, plan: StrategyPlan, budget_seconds: float = BUDGET_SECONDS
    ) -> ProfileResult:
        """Train 3 warm-up and 20 measured steps, then save, restore and compare one checkpoint.

        Parameters
        ----------
        request: what was asked of the planner.
        plan: the plan whose numbers are wanted.
        budget_seconds: seconds after which the run is killed with its children.

        Raises
        ------
        ProfileError: if nothing trustworthy was measured.
        InvalidInput: for a budget that is not a positive number.
        """
        budget = checked_budget(budget_seconds)
        task = stand_in(request, plan, self.backend)
        said = self._run(task, budget)
        try:
            return _result(task, said, asked_parameters(request))
        except (FleetlabError, KeyError, TypeError, ValueError, ArithmeticError) as error:
            raise ProfileError("No measurement: the run said numbers that cannot be.") from error

    def _run(self, task: Task, budget_s: float) -> dict[str, Any]:
        run = uuid.uuid4().hex
        try:
            folder = tempfile.TemporaryDirectory(
                prefix=f"fleetlab-{run}-", dir=self._folder, ignore_cleanup_errors=True
            )
        except OSError as error:
            raise ProfileError(f"No folder could be made for the run ({error.strerror}).") from error
        with folder as name:
            command = [*self._worker, task.text(), name, repr(budget_s)]
            with Child(command, run, Path(name), budget_s, _environment()) as child:
                for line in child.lines():
                    said = _event(line)
                    if said["event"] == "result":
                        return said
                    self._progress(said["event"], said["done"], said["total"])
                raise child.failed()


def chosen_backend(wanted: Literal["auto", "numpy", "torch"] = "auto") -> Backend:
    """Return the backend that `wanted` means on this machine.

    Raises
    ------
    InvalidInput: for a name that is none of the three, or torch where it is not installed.
    """
    if wanted not in ("auto", "numpy", "torch"):
        raise InvalidInput("backend", wanted, "auto, numpy or torch")
    has_torch = importlib.util.find_spec("torch") is not None
    if wanted == "torch" and not has_torch:
        raise InvalidInput("backend", wanted, "numpy, since torch is not installed")
    return "torch" if has_torch and wanted != "numpy" else "numpy"


def checked_budget(budget_seconds: float) -> float:
    """Return a budget in seconds, above 0 and at most a week."""
    return number(budget_seconds, "budget_seconds", low=0.0, high=LARGEST_BUDGET_SECONDS, low_open=True)


def frameworks(backend: Backend) -> dict[str, str]:
    """Return the versions that a measurement with this backend depends on."""
    versions = {"python": platform.python_version(), "machine": platform.machine()}
    for name in ("numpy", "torch"):
        if name in ("numpy", backend):
            versions[name] = importlib.metadata.version(name)
    return versions


def _event(line: bytes) -> dict[str, Any]:
    """Read a line, which may come from anyone: a result, or a stage with two whole numbers."""
    try:
        said = json.loads(line)
        if said["event"] == "result":
            return dict(said)
        return {"event": str(said["event"]), "done": int(said["done"]), "total": int(said["total"])}
    except (ValueError, TypeError, KeyError, RecursionError, ArithmeticError) as error:
        raise ProfileError("No measurement: the run said something that is not an event.") from error


def _environment() -> dict[str, str]:
    root = str(Path(engine.__file__).resolve().parent.parent)
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {"PYTHONPATH": os.pathsep.join(paths), **_ENVIRONMENT}


def _result(task: Task, said: dict[str, Any], asked: float | None) -> ProfileResult:
    numbers = said["numbers"]
    step_s = float(numbers["step_s"])
    if not math.isfinite(step_s) or int(numbers["steps"]) != task.steps:
        raise ValueError("steps were not measured")
    tokens = task.batch * task.seq_len if task.network == "transformer" else None
    return ProfileResult(
        parameters=numbers["parameters"],
        host_ram_gb=numbers["host_bytes"] / 1e9,
        step_time_s=step_s,
        tokens_per_s=tokens / step_s if tokens else None,
        checkpoint_save_s=numbers["save_s"],
        checkpoint_restore_s=numbers["restore_s"],
        checkpoint_size_gb=numbers["bytes"] / 1e9,
        measured_steps=numbers["steps"],
        warmup_steps=numbers["warmup"],
        notes=_notes(task, said, asked),
    )


def _notes(task: Task, said: dict[str, Any], asked: float | None) -> tuple[str, ...]:
    numbers = said["numbers"]
    shape = f"{task.layers} layers, width {task.hidden}, batch {task.batch}"
    shape += f", {task.seq_len} tokens" if task.network == "transformer" else ""
    wanted = f"; the plan's has {asked:,.0f}" if asked is not None and asked != numbers["parameters"] else ""
    return (
        f"Trained a {task.network} of {numbers['parameters']:,} parameters ({shape}) in 32-bit floats with "
        f"{task.backend} {said['version']} on one CPU thread{wanted}.",
        f"Of the memory, {numbers['host_bytes_before'] / 1e9:.3f} GB was there before the model.",
        "No GPU took part, so there is no peak_vram_gb.",
        "Batches were drawn in memory, so there is no dataloader_wait_fraction.",
        "The checkpoint was read from the disk and came back with the same bits."
        if numbers["restored_from_disk"]
        else "The checkpoint came back with the same bits, perhaps from the page cache.",
    )
