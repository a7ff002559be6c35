"""Training one small network step by step, in numpy or in torch, with a state that saves and restores."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from engine.profiling.job import VOCABULARY, Task
from engine.profiling.tiny import Adam, Arrays, Network, Perceptron, Transformer

HEAD_WIDTH = 32


class Trainer(Protocol):
    """A training run: `step` takes one step, `state` and `load` are what a checkpoint needs."""

    def step(self) -> float:
        """Draw a batch, change every parameter once, and return the loss before the change."""

    def state(self) -> Arrays:
        """Return copies of the parameters and both moments of the optimizer."""

    def load(self, state: Arrays) -> None:
        """Go on from a state."""


def trainer(task: Task, seed: int) -> Trainer:
    """Return the training run that `task` describes; the seed decides its start and its batches."""
    network = build(task, seed)
    if task.backend == "numpy":
        return NumpyTrainer(network, seed)
    from engine.profiling.tiny_torch import TorchTrainer

    return TorchTrainer(network, seed)


def build(task: Task, seed: int) -> Network:
    """Return the network of a task, freshly drawn."""
    generator = np.random.default_rng(seed)
    shape: dict[str, Any] = {"layers": task.layers, "hidden": task.hidden, "batch": task.batch}
    if task.network == "perceptron":
        return Perceptron(**shape, generator=generator)
    heads = next(n for n in range(max(1, task.hidden // HEAD_WIDTH), 0, -1) if task.hidden % n == 0)
    return Transformer(**shape, heads=heads, vocabulary=VOCABULARY, seq_len=task.seq_len, generator=generator)


class NumpyTrainer:
    """Adam on the written-out gradients."""

    def __init__(self, network: Network, seed: int) -> None:
        self._network = network
        self._optimizer = Adam(network.parameters)
        self._generator = np.random.default_rng(seed)

    def step(self) -> float:
        """Draw a batch, change every parameter once, and return the loss before the change."""
        loss, gradients = self._network.loss_and_gradients(*self._network.draw(self._generator))
        self._optimizer.step(gradients)
        return loss

    def state(self) -> Arrays:
        """Return copies of the parameters and both moments of the optimizer."""
        state = {"steps": np.array(self._optimizer.steps)}
        for group, arrays in self._groups().items():
            state |= {f"{group}/{name}": value.copy() for name, value in arrays.items()}
        return state

    def load(self, state: Arrays) -> None:
        """Go on from a state."""
        self._optimizer.steps = int(state["steps"])
        for group, arrays in self._groups().items():
            for name, value in arrays.items():
                value[...] = state[f"{group}/{name}"]

    def _groups(self) -> dict[str, Arrays]:
        optimizer = self._optimizer
        return {"parameter": optimizer.parameters, "first": optimizer.first, "second": optimizer.second}
