"""The measuring process: trains, times, saves, restores, and says so in lines of JSON on its output.

Started as `python -m engine.profiling.worker TASK FOLDER SECONDS`. It ends itself after SECONDS, so that it
does not outlive a profiler that was killed. Checkpoints hold plain arrays, and none is ever unpickled.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from engine.profiling.job import Task
from engine.profiling.tiny import Arrays
from engine.profiling.training import Trainer, trainer

Say = Callable[..., None]


def main(arguments: list[str]) -> None:
    """Measure the task in `arguments` and say the numbers."""
    task, folder, seconds = Task(**json.loads(arguments[0])), Path(arguments[1]), float(arguments[2])
    _end_after(seconds)
    say = _sayer()
    before = _peak_bytes()
    run = trainer(task, seed=0)
    numbers = measure_steps(run, task, say)
    numbers |= measure_checkpoint(run, trainer(task, seed=1), folder / "checkpoint.npz", say)
    state = run.state()
    numbers["parameters"] = sum(v.size for name, v in state.items() if name.startswith("parameter/"))
    numbers["host_bytes"], numbers["host_bytes_before"] = _peak_bytes(), before
    say("result", numbers=numbers, version=sys.modules[task.backend].__version__)


def measure_steps(run: Trainer, task: Task, say: Say) -> dict[str, Any]:
    """Train the warm-up and the measured steps; the time of a step is the median.

    Raises
    ------
    ArithmeticError: if the loss is no longer a finite number.
    """
    times = []
    for step in range(task.warmup + task.steps):
        started = time.perf_counter()
        loss = run.step()
        times.append(time.perf_counter() - started)
        if not np.isfinite(loss):
            raise ArithmeticError(f"the loss of step {step + 1} is {loss}")
        say("step", done=step + 1, total=task.warmup + task.steps)
    measured = times[task.warmup :]
    return {"step_s": statistics.median(measured), "steps": len(measured), "warmup": task.warmup}


def measure_checkpoint(run: Trainer, fresh: Trainer, path: Path, say: Say) -> dict[str, Any]:
    """Save a checkpoint until it is on the disk, restore it into another run, and compare bit by bit.

    Raises
    ------
    ArithmeticError: if a single bit came back differently.
    """
    say("checkpoint", done=0, total=1)
    state = run.state()
    started = time.perf_counter()
    save(state, path)
    saved = time.perf_counter()
    cold = _forget(path)
    restarted = time.perf_counter()
    fresh.load(restore(path))
    restored = time.perf_counter()
    if difference := first_difference(state, fresh.state()):
        raise ArithmeticError(f"the checkpoint came back with another {difference}")
    say("checkpoint", done=1, total=1)
    return {
        "save_s": saved - started,
        "restore_s": restored - restarted,
        "bytes": path.stat().st_size,
        "restored_from_disk": cold,
    }


def save(state: Arrays, path: Path) -> None:
    """Write plain arrays and return once the file and its name in the folder are on the disk."""
    with path.open("wb") as file:
        np.savez(file, **state)  # type: ignore[arg-type]
        file.flush()
        os.fsync(file.fileno())
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def restore(path: Path) -> Arrays:
    """Read what `save` wrote; pickled content is an error and is not run."""
    with np.load(path, allow_pickle=False) as content:
        return {name: content[name] for name in content.files}


def first_difference(one: Arrays, other: Arrays) -> str | None:
    """Return the name of an array whose shape, type or bits differ, none if all are the same."""
    for name in sorted(one.keys() | other.keys()):
        a, b = one.get(name), other.get(name)
        if a is None or b is None or (a.shape, a.dtype, a.tobytes()) != (b.shape, b.dtype, b.tobytes()):
            return name
    return None


def _sayer() -> Say:
    """Return a function that writes a line to the profiler; what a library prints goes to the error file."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(event: str, **fields: Any) -> None:
        channel.write(json.dumps({"event": event} | fields) + "\n")
        channel.flush()

    return say


def _end_after(seconds: float) -> None:
    import signal

    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))


def _forget(path: Path) -> bool:
    """Drop a file that is on the disk from the page cache, where the system can, so that reading it reads."""
    if not hasattr(os, "posix_fadvise"):
        return False
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return True


def _peak_bytes() -> int:
    """Return the most memory this process held.

    The counter of `getrusage` starts at the parent's peak on Linux, so the kernel's own is read there.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


if __name__ == "__main__":
    main(sys.argv[1:])
