"""The nodes of a real fleet: Alibaba's openb (2023) and spot (2026) lists.

Source: Weng et al., ATC 2023, and the cluster traces of Alibaba.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from engine.errors import FileProblem
from engine.fleet.job_collector import column
from engine.fleet.job_log import UNKNOWN, BadLine
from engine.fleet.jobs import Column
from engine.fleet.log_csv import header_of, table_rows
from engine.fleet.log_fields import whole_number
from engine.fleet.log_lines import Progress, Source, log_lines

_COLUMNS = {
    "openb-nodes": ("sn", "gpu", "model", "cpu_milli", "memory_mib"),
    "spot-nodes": ("node_name", "gpu_capacity_num", "gpu_model", "cpu_num"),
}
_SHOWN_LINES = 5


@dataclass(frozen=True, eq=False)
class NodeList:
    """The nodes of a fleet in the order of their list, one entry a node; numbers are read-only int64.

    Parameters
    ----------
    names, models: texts; a model is the name of its GPU.
    gpus: how many GPUs it has; 0 for a node without.
    cpu_milli: thousandths of a CPU.
    memory_bytes: of main memory; -1 if the list does not say.
    format: `openb-nodes` or `spot-nodes`.
    unreadable: how many lines could not be read.
    bad_lines: the first few of them.
    """

    names: tuple[str, ...]
    models: tuple[str, ...]
    gpus: Column
    cpu_milli: Column
    memory_bytes: Column
    format: str
    unreadable: int
    bad_lines: tuple[BadLine, ...]

    def __len__(self) -> int:
        return len(self.names)


class _Node(NamedTuple):
    name: str
    model: str
    gpus: int
    cpu_milli: int
    memory_bytes: int


def is_node_list(head: list[str]) -> bool:
    """Return whether the first lines are those of a list of nodes."""
    return any(set(columns) <= set(header_of(head)) for columns in _COLUMNS.values())


def load_node_list(source: Source, progress: Progress | None = None, *, name: str | None = None) -> NodeList:
    """Read a list of nodes; parameters are those of `load_job_log`.

    Raises
    ------
    FileProblem: for a source that cannot be read or is not a list of nodes.
    """
    bad: list[BadLine] = []
    nodes: list[_Node] = []
    with log_lines(source, name, progress) as lines:
        header = set(header_of(lines.head))
        format = next((key for key, columns in _COLUMNS.items() if set(columns) <= header), None)
        if format is None:
            raise FileProblem("this is not a list of nodes.", file=lines.name, line=1)
        for line, values in table_rows(lines, _COLUMNS[format], lambda *why: bad.append(BadLine(*why))):
            try:
                nodes.append(_node(*values))
            except ValueError as error:
                bad.append(BadLine(line, str(error)))
    return NodeList(
        names=tuple(node.name for node in nodes),
        models=tuple(node.model for node in nodes),
        gpus=column(node.gpus for node in nodes),
        cpu_milli=column(node.cpu_milli for node in nodes),
        memory_bytes=column(node.memory_bytes for node in nodes),
        format=format,
        unreadable=len(bad),
        bad_lines=tuple(bad[:_SHOWN_LINES]),
    )


def _node(name: str, gpus: str, model: str, cpu: str, memory_mib: str | None = None) -> _Node:
    # The openb list counts thousandths of a CPU and has memory; the spot list counts whole CPUs.
    cpu_milli = _count(cpu) * (1000 if memory_mib is None else 1)
    return _Node(
        name, model, _count(gpus), cpu_milli, UNKNOWN if memory_mib is None else _count(memory_mib) * 2**20
    )


def _count(text: str) -> int:
    count = whole_number(text)
    if count is None or not 0 <= count < 2**40:
        raise ValueError(f"{text!r} is not a count")
    return count


__all__ = ["NodeList", "is_node_list", "load_node_list"]
