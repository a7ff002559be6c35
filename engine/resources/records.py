"""What goes into the store and what comes out: keys, reports, requests and resolved resources."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from engine.errors import InvalidInput
from engine.model import Frozen

_MOST = 2**31 - 1


class TaskType(Frozen):
    """A kind of task, with the one setting that decides what it costs.

    Parameters
    ----------
    name: the name of the type, such as `"embed"`.
    cost_setting: the setting whose value changes the memory a worker needs; empty when none does.
    defaults: the values of settings that a task leaves out.
    """

    name: str = Field(min_length=1)
    cost_setting: str = ""
    defaults: dict[str, Any] = Field(default_factory=dict)


@dataclass(frozen=True)
class ResourceKey:
    """Whose memory is learned: a task type, a model, and the variant that the cost setting makes.

    Raises
    ------
    InvalidInput: naming the part that is no text, or a task type that is empty.
    """

    task_type: str
    model: str
    variant: str = ""

    def __post_init__(self) -> None:
        for part in ("task_type", "model", "variant"):
            if not isinstance(getattr(self, part), str):
                raise InvalidInput(part, getattr(self, part), "a text")
        if not self.task_type:
            raise InvalidInput("task_type", self.task_type, "a text that is not empty")

    def text(self) -> str:
        """Return the key as a compact JSON list, such as `["embed","bge-small","512"]`."""
        return compact_json([self.task_type, self.model, self.variant])

    @classmethod
    def from_text(cls, text: str) -> ResourceKey:
        """Read what `text` wrote."""
        return cls(*json.loads(text))


class ResourceReport(Frozen):
    """What one pod used.

    Parameters
    ----------
    peak_gb: the most memory it held, in GB of 10⁹ bytes; for a pod killed for memory, its limit.
    workers: the number of worker processes that shared it, at least 1.
    scratch_gb: the most disk it held, if known.
    gpus: the GPUs it held, if known; shown, never learned from.
    seconds, units: how long it took for how many units of work, if known.
    """

    peak_gb: float = Field(ge=0)
    workers: int = Field(ge=1, le=_MOST)
    scratch_gb: float | None = Field(default=None, ge=0)
    gpus: int | None = Field(default=None, ge=0, le=_MOST)
    seconds: float | None = Field(default=None, ge=0)
    units: float | None = Field(default=None, ge=0)


class ResourceRequest(Frozen):
    """A hint of a plugin or an override of a user: each field that is set counts, the others do not."""

    memory_base_gb: float | None = Field(default=None, ge=0)
    memory_per_worker_gb: float | None = Field(default=None, ge=0)
    scratch_gb: float | None = Field(default=None, ge=0)
    gpus: int | None = Field(default=None, ge=0, le=_MOST)
    seconds_per_unit: float | None = Field(default=None, ge=0)


class ResolvedResources(Frozen):
    """What to ask for, and where the memory per worker comes from.

    Parameters
    ----------
    memory_base_gb: memory without any worker.
    memory_per_worker_gb: memory that each worker adds.
    scratch_gb: disk of the pod.
    gpus: GPUs of the pod.
    seconds_per_unit: time for a unit of work, if known.
    samples: the successes that the numbers were learned from, at most `WINDOW`.
    source: of the memory per worker: `"learned from N runs"`, `"plugin hint"`, `"default"` or `"override"`.
    """

    memory_base_gb: float
    memory_per_worker_gb: float
    scratch_gb: float
    gpus: int
    seconds_per_unit: float | None
    samples: int
    source: str

    def memory_gb(self, workers: int) -> float:
        """Return the memory request of a pod, base + workers × memory per worker."""
        return self.memory_base_gb + workers * self.memory_per_worker_gb


def resource_key(task_type: TaskType | str, settings: Mapping[str, Any], model: str) -> ResourceKey:
    """Return the key of a task: the one place where the variant is derived.

    The variant is the value of the type's cost setting, or its default when the task does not set it: text
    as it is, any other value as compact JSON, empty when the type has no cost setting or it has no value.

    Raises
    ------
    InvalidInput: naming the cost setting, when its value has no JSON form.
    """
    kind = TaskType(name=task_type) if isinstance(task_type, str) else task_type
    name = kind.cost_setting
    values = {**kind.defaults, **settings}
    if not name or name not in values:
        return ResourceKey(kind.name, model)
    value = values[name]
    if isinstance(value, str):
        return ResourceKey(kind.name, model, value)
    try:
        return ResourceKey(kind.name, model, compact_json(value))
    except (TypeError, ValueError) as error:
        raise InvalidInput(name, value, "a value that JSON can express") from error


def compact_json(value: Any) -> str:
    """Return JSON without spaces and with sorted keys, so that equal values have equal texts."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True, allow_nan=False)
