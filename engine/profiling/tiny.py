"""Two small networks in numpy, with their gradients written out and Adam: what a profile trains.

Shapes: B sequences or samples, S positions, H hidden, V words of the vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Arrays = dict[str, Array]
_EPSILON = 1e-5


class Network(Protocol):
    """What can be trained: parameters, a way to draw a batch, and the loss with its gradients."""

    parameters: Arrays

    def draw(self, generator: np.random.Generator) -> tuple[Array, Array]:
        """Return the inputs and targets of a batch."""

    def loss_and_gradients(self, inputs: Array, targets: Array) -> tuple[float, Arrays]:
        """Return the mean loss of a batch and its gradient by every parameter."""


class Transformer:
    """A causal language model: embeddings, pre-normalised attention and feed-forward blocks, a softmax.

    Each block adds softmax(Q Kᵀ / √d + mask) V Wₒ and then relu(x W₁) W₂ to what it was given; the
    normalisation is x / √(mean x² + ε), without parameters. 12 H² parameters a block.
    """

    def __init__(
        self,
        *,
        layers: int,
        hidden: int,
        heads: int,
        vocabulary: int,
        seq_len: int,
        batch: int,
        generator: np.random.Generator,
        dtype: type[np.floating[Any]] = np.float32,
    ) -> None:
        self.layers, self.heads, self.vocabulary = layers, heads, vocabulary
        self.shape = (batch, seq_len)
        shapes = {"word": (vocabulary, hidden), "place": (seq_len, hidden), "out": (hidden, vocabulary)}
        for n in range(layers):
            shapes |= {f"{n}.qkv": (hidden, 3 * hidden), f"{n}.attention": (hidden, hidden)}
            shapes |= {f"{n}.up": (hidden, 4 * hidden), f"{n}.down": (4 * hidden, hidden)}
        self.parameters = {name: _drawn(shape, generator, dtype) for name, shape in shapes.items()}
        self._mask = np.triu(np.full((seq_len, seq_len), -1e9, dtype), 1)

    def draw(self, generator: np.random.Generator) -> tuple[Array, Array]:
        """Return random words, and for each the word that follows it."""
        batch, seq_len = self.shape
        words = generator.integers(0, self.vocabulary, (batch, seq_len + 1))
        return words[:, :-1], words[:, 1:]

    def loss_and_gradients(self, inputs: Array, targets: Array) -> tuple[float, Arrays]:
        """Return the mean cross-entropy of the targets, in nats, and its gradients."""
        p = self.parameters
        x = p["word"][inputs] + p["place"]
        tape = []
        for n in range(self.layers):
            x, attention = self._attend(n, x)
            x, feed = self._feed(n, x)
            tape.append((attention, feed))
        y, scale = _normalised(x)
        loss, dlogits = _cross_entropy(y @ p["out"], targets)

        gradients = {"out": _outer(y, dlogits)}
        dx = _normalised_back(dlogits @ p["out"].T, y, scale)
        for n in reversed(range(self.layers)):
            attention, feed = tape[n]
            dx = self._feed_back(n, dx, feed, gradients)
            dx = self._attend_back(n, dx, attention, gradients)
        gradients["place"] = dx.sum(0)
        gradients["word"] = np.zeros_like(p["word"])
        np.add.at(gradients["word"], inputs, dx)
        return loss, gradients

    def _attend(self, n: int, x: Array) -> tuple[Array, tuple[Array, ...]]:
        y, scale = _normalised(x)
        q, k, v = (self._split(part) for part in np.split(y @ self.parameters[f"{n}.qkv"], 3, axis=-1))
        weights = _softmax(q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5 + self._mask)
        mixed = self._join(weights @ v)
        return x + mixed @ self.parameters[f"{n}.attention"], (y, scale, q, k, v, weights, mixed)

    def _attend_back(self, n: int, dx: Array, tape: tuple[Array, ...], gradients: Arrays) -> Array:
        y, scale, q, k, v, weights, mixed = tape
        gradients[f"{n}.attention"] = _outer(mixed, dx)
        dmixed = self._split(dx @ self.parameters[f"{n}.attention"].T)
        dweights = dmixed @ v.swapaxes(-1, -2)
        dscores = weights * (dweights - (weights * dweights).sum(-1, keepdims=True)) * q.shape[-1] ** -0.5
        parts = (dscores @ k, dscores.swapaxes(-1, -2) @ q, weights.swapaxes(-1, -2) @ dmixed)
        dqkv = np.concatenate([self._join(part) for part in parts], axis=-1)
        gradients[f"{n}.qkv"] = _outer(y, dqkv)
        return dx + _normalised_back(dqkv @ self.parameters[f"{n}.qkv"].T, y, scale)

    def _feed(self, n: int, x: Array) -> tuple[Array, tuple[Array, ...]]:
        y, scale = _normalised(x)
        active = np.maximum(y @ self.parameters[f"{n}.up"], 0)
        return x + active @ self.parameters[f"{n}.down"], (y, scale, active)

    def _feed_back(self, n: int, dx: Array, tape: tuple[Array, ...], gradients: Arrays) -> Array:
        y, scale, active = tape
        gradients[f"{n}.down"] = _outer(active, dx)
        dactive = (dx @ self.parameters[f"{n}.down"].T) * (active > 0)
        gradients[f"{n}.up"] = _outer(y, dactive)
        return dx + _normalised_back(dactive @ self.parameters[f"{n}.up"].T, y, scale)

    def _split(self, x: Array) -> Array:
        """Return (B, heads, S, H / heads) from (B, S, H)."""
        return x.reshape(*x.shape[:2], self.heads, -1).swapaxes(1, 2)

    def _join(self, x: Array) -> Array:
        """Undo `_split`."""
        return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


class Perceptron:
    """Square layers with a relu between them, and the mean squared error of the last: layers · H²."""

    def __init__(
        self,
        *,
        layers: int,
        hidden: int,
        batch: int,
        generator: np.random.Generator,
        dtype: type[np.floating[Any]] = np.float32,
    ) -> None:
        self.layers, self.shape, self._dtype = layers, (batch, hidden), dtype
        self.parameters = {f"{n}": _drawn((hidden, hidden), generator, dtype) for n in range(layers)}

    def draw(self, generator: np.random.Generator) -> tuple[Array, Array]:
        """Return random samples and random targets."""
        inputs, targets = generator.standard_normal((2, *self.shape)).astype(self._dtype)
        return inputs, targets

    def loss_and_gradients(self, inputs: Array, targets: Array) -> tuple[float, Arrays]:
        """Return half the mean squared error, and its gradients."""
        layers = [inputs]
        for n in range(self.layers):
            x = layers[-1] @ self.parameters[f"{n}"]
            layers.append(x if n == self.layers - 1 else np.maximum(x, 0))
        error = layers[-1] - targets
        gradients = {}
        dx = error / error.size
        for n in reversed(range(self.layers)):
            gradients[f"{n}"] = layers[n].T @ dx
            dx = (dx @ self.parameters[f"{n}"].T) * (layers[n] > 0)
        return float(np.mean(error**2)) / 2, gradients


@dataclass
class Adam:
    """Adam with its two moments a parameter (Kingma and Ba, 2015, algorithm 1)."""

    parameters: Arrays
    rate: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.999
    steps: int = 0
    first: Arrays = field(init=False)
    second: Arrays = field(init=False)

    def __post_init__(self) -> None:
        self.first = {name: np.zeros_like(value) for name, value in self.parameters.items()}
        self.second = {name: np.zeros_like(value) for name, value in self.parameters.items()}

    def step(self, gradients: Arrays) -> None:
        """Change every parameter in place."""
        self.steps += 1
        unbias1, unbias2 = 1 - self.beta1**self.steps, 1 - self.beta2**self.steps
        for name, g in gradients.items():
            m, v = self.first[name], self.second[name]
            m += (1 - self.beta1) * (g - m)
            v += (1 - self.beta2) * (g * g - v)
            self.parameters[name] -= self.rate * (m / unbias1) / (np.sqrt(v / unbias2) + 1e-8)


def _drawn(shape: tuple[int, ...], generator: np.random.Generator, dtype: type[np.floating[Any]]) -> Array:
    values: Array = (generator.standard_normal(shape) * shape[0] ** -0.5).astype(dtype)
    return values


def _outer(x: Array, dy: Array) -> Array:
    product: Array = x.reshape(-1, x.shape[-1]).T @ dy.reshape(-1, dy.shape[-1])
    return product


def _softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(-1, keepdims=True))
    result: Array = powers / powers.sum(-1, keepdims=True)
    return result


def _cross_entropy(logits: Array, targets: Array) -> tuple[float, Array]:
    chances = _softmax(logits)
    place = (*np.indices(targets.shape), targets)
    loss = -float(np.mean(np.log(chances[place] + np.finfo(chances.dtype).tiny)))
    chances[place] -= 1
    return loss, chances / targets.size


def _normalised(x: Array) -> tuple[Array, Array]:
    scale: Array = 1 / np.sqrt(np.mean(x * x, -1, keepdims=True) + _EPSILON)
    return x * scale, scale


def _normalised_back(dy: Array, y: Array, scale: Array) -> Array:
    result: Array = (dy - y * np.mean(dy * y, -1, keepdims=True)) * scale
    return result
