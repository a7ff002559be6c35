"""Fragmentation as the jobs feel it: the GPU capacity that the next job cannot be expected to use.

Source: Weng et al., Beware of Fragmentation, USENIX ATC 2023; frag.go of kubernetes-scheduler-simulator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InvalidInput
from engine.units import number, whole


@dataclass(frozen=True)
class Task:
    """A kind of task in the job mix.

    Parameters
    ----------
    popularity: its share of the mix, 0 … 1.
    cpu_milli: thousandths of a CPU that it needs.
    gpu_milli: thousandths of each GPU that it needs; 0 if it needs no GPU.
    gpus: on how many GPUs of one node.
    """

    popularity: float
    cpu_milli: int
    gpu_milli: int
    gpus: int

    def __post_init__(self) -> None:
        number(self.popularity, "popularity", low=0.0, high=1.0)
        whole(self.cpu_milli, "cpu_milli")
        whole(self.gpu_milli, "gpu_milli", high=1000)
        whole(self.gpus, "gpus")


def unusable_gpu_milli(
    gpu_milli: ArrayLike, cpu_milli: ArrayLike, tasks: Sequence[Task]
) -> NDArray[np.float64]:
    """Return, for each node, the free GPU capacity that a task drawn from the mix is expected not to use.

    F(node) = Σ over tasks of popularity · u. If the task asks no GPU, or the node has too little CPU or too
    few GPUs with its share free, u is all that is free; otherwise u is what is free on the GPUs that have
    less than the share.

    Parameters
    ----------
    gpu_milli: shape `(nodes, gpus)`, thousandths free on each GPU, 0 for one that a node does not have.
    cpu_milli: shape `(nodes,)`, thousandths of a CPU free.
    tasks: the job mix.

    Raises
    ------
    InvalidInput: for shapes that do not match or values outside 0 … 1000 (GPU) or below 0 (CPU).
    """
    gpus, cpus = _residuals(gpu_milli, cpu_milli)
    free = gpus.sum(axis=1)
    expected = np.zeros(len(gpus))
    for task in tasks:
        too_small = gpus < task.gpu_milli
        fits = (cpus >= task.cpu_milli) & ((~too_small).sum(axis=1) >= task.gpus)
        if task.gpus == 0 or task.gpu_milli == 0:
            fits[:] = False
        expected += task.popularity * np.where(fits, (gpus * too_small).sum(axis=1), free)
    return expected


def unusable_share(gpu_milli: ArrayLike, cpu_milli: ArrayLike, tasks: Sequence[Task]) -> float | None:
    """Return F of the cluster over its free GPU capacity, `None` if no GPU has any free.

    Parameters and errors as for `unusable_gpu_milli`.
    """
    free = float(np.sum(gpu_milli))
    return float(unusable_gpu_milli(gpu_milli, cpu_milli, tasks).sum()) / free if free else None


def _residuals(gpu_milli: ArrayLike, cpu_milli: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    gpus, cpus = np.asarray(gpu_milli, float), np.asarray(cpu_milli, float)
    if gpus.ndim != 2 or cpus.shape != gpus.shape[:1]:
        raise InvalidInput("cpu_milli", f"shape {cpus.shape}", f"one value a node, for GPUs {gpus.shape}")
    if not ((gpus >= 0) & (gpus <= 1000)).all():
        raise InvalidInput("gpu_milli", float(gpus[~((gpus >= 0) & (gpus <= 1000))][0]), "0 to 1000 each")
    if not (cpus >= 0).all():
        raise InvalidInput("cpu_milli", float(cpus[~(cpus >= 0)][0]), "at least 0 each")
    return gpus, cpus


__all__ = ["Task", "unusable_gpu_milli", "unusable_share"]
