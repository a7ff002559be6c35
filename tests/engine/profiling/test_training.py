"""A saved state is the whole state: another run that loads it goes on with the same numbers."""

from importlib.util import find_spec

import numpy as np
import pytest

from engine.profiling.job import Task
from engine.profiling.training import build, trainer

SMALL = {"layers": 1, "hidden": 32, "batch": 2, "seq_len": 8}


needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
BACKENDS = ["numpy", pytest.param("torch", marks=needs_torch)]


@pytest.mark.parametrize("network", ["transformer", "perceptron"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_run_that_loads_a_state_goes_on_as_the_one_that_saved_it(backend, network):
    task = Task(backend=backend, network=network, **SMALL)
    # Every step of `resumed` before the load draws a batch too, so both are at the same batch afterwards.
    saved, resumed = trainer(task, seed=0), trainer(task, seed=0)
    first = [(saved.step(), resumed.step()) for _ in range(3)]
    assert all(one == other for one, other in first)
    state = saved.state()
    for name, values in state.items():
        if name.startswith("parameter/"):
            values += 1
    saved.load(state)
    assert saved.step() != resumed.step(), "the loaded parameters are used"

    resumed.load(saved.state())
    one, other = saved.state(), resumed.state()
    assert one.keys() == other.keys()
    assert all(one[name].tobytes() == other[name].tobytes() for name in one)
    assert saved.step() == resumed.step()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_state_is_a_copy_with_two_moments_a_parameter(backend):
    run = trainer(Task(backend=backend, network="perceptron", **SMALL), seed=0)
    before = run.state()
    kept = {name: values.copy() for name, values in before.items()}
    run.step()
    assert all(np.array_equal(before[name], kept[name]) for name in kept)
    after = run.state()
    assert set(after) == {"steps", "parameter/0", "first/0", "second/0"}
    assert int(after["steps"]) == 1
    assert np.any(after["first/0"] != 0)


@needs_torch
@pytest.mark.parametrize("network", ["transformer", "perceptron"])
def test_torch_and_numpy_agree_on_loss_and_gradients(network):
    from engine.profiling.tiny_torch import TorchTrainer

    task = Task(backend="torch", network=network, **SMALL)
    plain = build(task, seed=3)
    batch = plain.draw(np.random.default_rng(4))
    loss, gradients = plain.loss_and_gradients(*batch)
    run = TorchTrainer(build(task, seed=3), seed=3)
    theirs = run.loss(*batch)
    theirs.backward()
    assert float(theirs.detach()) == pytest.approx(loss, rel=1e-5)
    for name, values in run.parameters.items():
        assert values.grad.numpy() == pytest.approx(gradients[name], rel=1e-3, abs=1e-6)


@pytest.mark.parametrize(("hidden", "heads"), [(256, 8), (64, 2), (67, 1), (96, 3)])
def test_heads_divide_the_width(hidden, heads):
    task = Task(backend="numpy", network="transformer", layers=1, hidden=hidden, batch=1, seq_len=4)
    assert build(task, seed=0).heads == heads
