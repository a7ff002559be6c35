"""All candidates of a request, judged, with what is missing and what deserves a warning."""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import InvalidInput
from engine.planner import catalog
from engine.planner.catalog import Gpu, Shape, assumed
from engine.planner.pretrain import pretrain_verdicts
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
from engine.planner.training import finetune_verdicts, generic_verdicts


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


def candidates(request: PlanRequest) -> Field:
    """Return every candidate of the request in the order in which they are tried.

    Raises
    ------
    InvalidInput: when an adapter's rank is above the model's hidden size.
    """
    workload = request.workload
    match workload:
        case ClassicalTraining():
            return Field(tuple(classical_verdicts(request, workload)))
        case IndependentTasks():
            return _tasks(request, workload)
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


def _generic(request: PlanRequest, workload: PytorchTraining) -> Field:
    if not request.resources.gpus:
        return _no_gpus()
    gpu = catalog.gpu(request.resources)
    if gpu is None:
        return _unknown_gpu(request)
    warnings = _gpu_warnings(request, gpu)
    if workload.activation_gb_per_gpu is None:
        warnings.append(f"Activations are assumed to take {assumed().generic_activation_gb:g} GB per GPU.")
    return Field(tuple(generic_verdicts(request, workload, gpu)), tuple(warnings))


def _transformer(request: PlanRequest, workload: TransformerFinetune | TransformerPretrain) -> Field:
    shape = catalog.model_shape(workload)
    if shape is None:
        return Field(
            missing_field="workload.parameters_b",
            missing_why=f"model {workload.model!r} is not in the catalog",
        )
    if isinstance(workload, TransformerFinetune):
        _check_rank(workload, shape)
    if not request.resources.gpus:
        return _no_gpus()
    gpu = catalog.gpu(request.resources)
    if gpu is None:
        return _unknown_gpu(request)
    warnings = _gpu_warnings(request, gpu) + _shape_warnings(workload, shape)
    if isinstance(workload, TransformerFinetune):
        return Field(tuple(finetune_verdicts(request, workload, shape, gpu)), tuple(warnings))
    largest = int(assumed().largest_pretraining_fleet)
    if request.resources.gpus > largest:
        warnings.append(f"Pre-training is planned for at most {largest:,} GPUs; the rest stay unused.")
    return Field(tuple(pretrain_verdicts(request, workload, shape, gpu)), tuple(warnings))


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
