"""What the measuring process checks before it says a number."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from engine.profiling.job import Task
from engine.profiling.training import trainer
from engine.profiling.worker import first_difference, measure_checkpoint, measure_steps, restore, save

TASK = Task(backend="numpy", network="perceptron", layers=1, hidden=16, batch=2, warmup=2, steps=5)


def silent(event, **fields):
    pass


def test_a_checkpoint_comes_back_with_the_same_bits(tmp_path):
    state = {"a/b": np.array([0.0, -0.0, np.nan, 1e-45], np.float32), "n": np.array(7), "e": np.zeros((0, 3))}
    save(state, tmp_path / "checkpoint.npz")
    assert first_difference(state, restore(tmp_path / "checkpoint.npz")) is None


@pytest.mark.parametrize(
    "other",
    [
        {"w": np.array([-0.0, 1.0])},
        {"w": np.array([0.0, np.nextafter(1.0, 2.0)])},
        {"w": np.array([0.0, 1.0], np.float32)},
        {"w": np.array([[0.0, 1.0]])},
        {},
    ],
    ids=["sign of zero", "last bit", "type", "shape", "missing"],
)
def test_any_difference_of_a_checkpoint_is_found(other):
    assert first_difference({"w": np.array([0.0, 1.0])}, other) == "w"


def test_a_checkpoint_with_pickled_content_is_refused_and_not_run(tmp_path):
    class Trap:
        def __reduce__(self):
            return (print, ("the trap was sprung",))

    np.savez(tmp_path / "trap.npz", w=np.array([Trap()], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle"):
        restore(tmp_path / "trap.npz")


def test_a_restore_that_changes_a_bit_is_no_measurement(tmp_path):
    class Forgetful(type(trainer(TASK, 0))):
        def load(self, state):
            super().load({name: values + (name == "first/0") * 1e-9 for name, values in state.items()})

    run, fresh = trainer(TASK, seed=0), trainer(TASK, seed=1)
    run.step()
    fresh.__class__ = Forgetful
    with pytest.raises(ArithmeticError, match="first/0"):
        measure_checkpoint(run, fresh, tmp_path / "checkpoint.npz", silent)


def test_the_checkpoint_numbers_are_those_of_the_file(tmp_path):
    numbers = measure_checkpoint(trainer(TASK, 0), trainer(TASK, 1), tmp_path / "c.npz", silent)
    assert numbers["bytes"] == (tmp_path / "c.npz").stat().st_size > 3 * 16 * 16 * 4
    assert numbers["save_s"] > 0 and numbers["restore_s"] > 0


def test_a_checkpoint_is_on_the_disk_with_its_name_before_it_counts_as_saved(tmp_path, monkeypatch):
    synced, really = [], os.fsync

    def fsync(descriptor):
        name = Path(f"/proc/self/fd/{descriptor}").readlink()
        synced.append((name, name.stat().st_size if name.is_file() else None))
        really(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    path = tmp_path.resolve() / "checkpoint.npz"
    save({"w": np.ones(1000)}, path)
    assert synced == [(path, path.stat().st_size), (path.parent, None)]


def test_warm_up_steps_do_not_count():
    class Slow:
        taken = 0

        def step(self):
            Slow.taken += 1
            time.sleep(0.2 if Slow.taken <= TASK.warmup else 0.001)
            return 1.0

    said = []
    numbers = measure_steps(Slow(), TASK, lambda event, **fields: said.append(fields["done"]))
    assert numbers["step_s"] < 0.1
    assert (numbers["steps"], numbers["warmup"], said) == (5, 2, [1, 2, 3, 4, 5, 6, 7])


def test_a_loss_that_is_no_number_ends_the_measurement():
    class Diverged:
        def step(self):
            return float("nan")

    with pytest.raises(ArithmeticError, match="loss of step 1"):
        measure_steps(Diverged(), TASK, silent)


def test_a_worker_ends_itself_when_nobody_is_left_to_end_it(tmp_path):
    endless = Task(backend="numpy", network="perceptron", layers=1, hidden=16, batch=2, steps=10**9)
    command = [sys.executable, "-m", "engine.profiling.worker", endless.text(), str(tmp_path), "0.5"]
    started = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False, timeout=30)
    assert done.returncode == -signal.SIGALRM
    assert time.monotonic() - started < 10
