"""All candidates of a request, judged, with what is missing and what deserves a warning."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from engine.errors import InvalidInput
from engine.planner import catalog
from engine.planner.catalog import Gpu, Shape, assumed
from engine.planner.judging import Trial, judge, survives
from engine.planner.pretrain import pretrain_trials
from engine.planner.protocol import (
    ClassicalTraining,
    IndependentTasks,
    PlanRequest,
    PytorchTraining,
    TransformerFinetune,
    TransformerPretrain,
)
from engine.planner.report import Verdict
from engine.planner.tasks import classical_verdicts, task_verdicts
from engine.planner.training import finetune_trials, generic_trials


@dataclass(frozen=True, slots=True)
class Field:
    """The candidates of a request; `missing_field` names what must be stated before there can be any."""

    verdicts: tuple[Verdict, ...] = ()
    warnings: tuple[str, ...] = ()
    missing_field: str | None = None
    missing_why: str = ""

    @property
    def survivors(self) -> list[Verdict]:
        """The candidates that break nothing."""
        return [verdict for verdict in self.verdicts if verdict.status == "feasible"]

    @property
    def closest(self) -> Verdict | None:
        """The candidate that lacks least memory, the first of equals; none when memory is not what fails."""
        short = [verdict for verdict in self.verdicts if verdict.deficit_gb is not None]
        return min(short, key=lambda verdict: verdict.deficit_gb or 0.0, default=None)


class Outlook(NamedTuple):
    """Whether any candidate survives; else the GB by which the closest misses, if memory is what fails."""

    survives: bool
    deficit_gb: float | None = None


@dataclass(frozen=True, slots=True)
class _Ways:
    """What can be tried: trials still to be judged on a GPU, or verdicts where there is little to judge."""

    trials: Iterable[Trial] = ()
    gpu: Gpu | None = None
    field: Field = Field()


def candidates(request: PlanRequest) -> Field:
    """Return every candidate of the request in the order in which they are tried.

    Raises
    ------
    InvalidInput: when an adapter's rank is above the model's hidden size.
    """
    ways = _ways(request)
    if ways.gpu is None:
        return ways.field
    gpu = ways.gpu
    return replace(ways.field, verdicts=tuple(judge(trial, gpu, request) for trial in ways.trials))


def outlook(request: PlanRequest) -> Outlook:
    """Return what planning would come to; it stops at the first candidate that survives.

    Raises
    ------
    InvalidInput: as `candidates` does.
    """
    ways = _ways(request)
    if ways.gpu is None:
        closest = ways.field.closest
        return Outlook(bool(ways.field.survivors), closest.deficit_gb if closest else None)
    least = None
    for trial in ways.trials:
        if trial.memory.fits:
            if survives(trial, request):
                return Outlook(True)
        elif least is None or trial.memory.deficit < least:
            least = trial.memory.deficit
    return Outlook(False, least)


def _ways(request: PlanRequest) -> _Ways:
    workload = request.workload
    match workload:
        case ClassicalTraining():
            return _Ways(field=Field(tuple(classical_verdicts(request, workload))))
        case IndependentTasks():
            return _Ways(field=_tasks(request, workload))
        case PytorchTraining():
            return _generic(request, workload)
        case _:
            return _transformer(request, workload)


def _tasks(request: PlanRequest, workload: IndependentTasks) -> Field:
    gpu = catalog.gpu(request.resources)
    sized = workload.needs_gpu and workload.vram_gb_per_task > 0
    if sized and gpu is None and request.resources.gpus:
        return _unknown_gpu(request)
    return Field(tuple(task_verdicts(request, workload, gpu)))


def _generic(request: PlanRequest, workload: PytorchTraining) -> _Ways:
    if not request.resources.gpus:
        return _Ways(field=_no_gpus())
    gpu = catalog.gpu(request.resources)
    if gpu is None:
        return _Ways(field=_unknown_gpu(request))
    warnings = _gpu_warnings(request, gpu)
    if workload.activation_gb_per_gpu is None:
        warnings.append(f"Activations are assumed to take {assumed().generic_activation_gb:g} GB per GPU.")
    return _Ways(generic_trials(request, workload, gpu), gpu, Field(warnings=tuple(warnings)))


def _transformer(request: PlanRequest, workload: TransformerFinetune | TransformerPretrain) -> _Ways:
    shape = catalog.model_shape(workload)
    if shape is None:
        why = f"model {workload.model!r} is not in the catalog"
        return _Ways(field=Field(missing_field="workload.parameters_b", missing_why=why))
    if isinstance(workload, TransformerFinetune):
        _check_rank(workload, shape)
    if not request.resources.gpus:
        return _Ways(field=_no_gpus())
    gpu = catalog.gpu(request.resources)
    if gpu is None:
        return _Ways(field=_unknown_gpu(request))
    warnings = _gpu_warnings(request, gpu) + _shape_warnings(workload, shape)
    trials: Iterable[Trial]
    if isinstance(workload, TransformerFinetune):
        trials = finetune_trials(request, workload, shape, gpu)
    else:
        trials = pretrain_trials(request, workload, shape, gpu)
        largest = int(assumed().largest_pretraining_fleet)
        if request.resources.gpus > largest:
            warnings.append(f"Pre-training is planned for at most {largest:,} GPUs; the rest stay unused.")
    return _Ways(trials, gpu, Field(warnings=tuple(warnings)))


def _check_rank(workload: TransformerFinetune, shape: Shape) -> None:
    if workload.method != "full" and workload.lora_rank > shape.hidden:
        accepted = f"at most the model's hidden size, {shape.hidden}"
        raise InvalidInput("workload.lora_rank", workload.lora_rank, accepted)


def _no_gpus() -> Field:
    return Field(
        warnings=("There are no GPUs, and this workload is planned on GPUs only.",),
        missing_field="resources.gpus",
        missing_why="training is planned on at least one GPU",
    )


def _unknown_gpu(request: PlanRequest) -> Field:
    named = request.resources.gpu_type
    why = f"GPU {named!r} is not in the catalog" if named else "the GPU's type is not stated"
    return Field(missing_field="resources.vram_gb", missing_why=why)


def _gpu_warnings(request: PlanRequest, gpu: Gpu) -> list[str]:
    warnings = []
    if gpu.source == "catalog":
        warnings.append(f"{gpu.vram_gb:g} GB of GPU memory are taken from the catalog.")
    if gpu.peak_flops is None and not isinstance(request.workload, PytorchTraining):
        warnings.append("The GPU's speed is unknown, so there is no time and no cost.")
    return warnings


def _shape_warnings(workload: TransformerFinetune | TransformerPretrain, shape: Shape) -> list[str]:
    warnings = []
    if workload.parameters_b is None:
        warnings.append(f"{shape.parameters / 1e9:g} billion parameters are taken from the catalog.")
    if shape.source != "catalog" and not (workload.hidden_size and workload.num_layers):
        warnings.append(f"The model's shape is assumed: hidden size {shape.hidden}, {shape.layers} layers.")
    return warnings
