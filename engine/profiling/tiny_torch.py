"""The networks of `tiny` in torch on the CPU: the same parameters and loss, gradients by autograd."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from engine.profiling.tiny import Arrays, Network, Perceptron, Transformer

# Not imported by name: torch is optional, and types are checked where it is not installed.
torch: Any = import_module("torch")
functional: Any = torch.nn.functional
_EPSILON = 1e-5


class TorchTrainer:
    """torch's own Adam on the loss of one of the small networks."""

    def __init__(self, network: Network, seed: int) -> None:
        self._network = network
        self._generator = np.random.default_rng(seed)
        self.parameters = {
            name: torch.from_numpy(value.copy()).requires_grad_()
            for name, value in network.parameters.items()
        }
        self._optimizer = torch.optim.Adam(self.parameters.values(), lr=1e-3)

    def step(self) -> float:
        """Draw a batch, change every parameter once, and return the loss before the change."""
        loss = self.loss(*self._network.draw(self._generator))
        self._optimizer.zero_grad()
        loss.backward()
        self._optimizer.step()
        return float(loss.detach())

    def loss(self, inputs: Any, targets: Any) -> Any:
        """Return the loss of a batch as a torch scalar."""
        x, y = torch.from_numpy(np.ascontiguousarray(inputs)), torch.from_numpy(np.ascontiguousarray(targets))
        if isinstance(self._network, Transformer):
            logits = _transformer(self._network, self.parameters, x)
            return functional.cross_entropy(logits.flatten(0, 1), y.flatten())
        assert isinstance(self._network, Perceptron)
        return functional.mse_loss(_perceptron(self._network, self.parameters, x), y) / 2

    def state(self) -> Arrays:
        """Return copies of the parameters and both moments of the optimizer."""
        state: Arrays = {"steps": np.array(0)}
        for name, value in self.parameters.items():
            kept = self._optimizer.state[value]
            state["steps"] = np.array(int(kept["step"]) if kept else 0)
            state[f"parameter/{name}"] = value.detach().numpy().copy()
            for group, moment in (("first", "exp_avg"), ("second", "exp_avg_sq")):
                state[f"{group}/{name}"] = (
                    kept[moment].numpy().copy() if kept else np.zeros_like(state[f"parameter/{name}"])
                )
        return state

    def load(self, state: Arrays) -> None:
        """Go on from a state."""
        with torch.no_grad():
            for name, value in self.parameters.items():
                value.copy_(torch.from_numpy(state[f"parameter/{name}"]))
                self._optimizer.state[value] = {
                    "step": torch.tensor(float(state["steps"])),
                    "exp_avg": torch.from_numpy(state[f"first/{name}"].copy()),
                    "exp_avg_sq": torch.from_numpy(state[f"second/{name}"].copy()),
                }


def _transformer(network: Transformer, p: dict[str, Any], words: Any) -> Any:
    x = p["word"][words] + p["place"]
    for n in range(network.layers):
        parts = (_normalised(x) @ p[f"{n}.qkv"]).chunk(3, dim=-1)
        q, k, v = (part.unflatten(-1, (network.heads, -1)).transpose(1, 2) for part in parts)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + mixed.transpose(1, 2).flatten(2) @ p[f"{n}.attention"]
        x = x + functional.relu(_normalised(x) @ p[f"{n}.up"]) @ p[f"{n}.down"]
    return _normalised(x) @ p["out"]


def _perceptron(network: Perceptron, p: dict[str, Any], x: Any) -> Any:
    for n in range(network.layers):
        x = x @ p[f"{n}"]
        x = x if n == network.layers - 1 else functional.relu(x)
    return x


def _normalised(x: Any) -> Any:
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + _EPSILON)
