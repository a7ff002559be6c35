"""The global batch on fewer replicas: kept, where some take one more micro-batch, or made smaller."""

from __future__ import annotations

from engine.errors import InvalidInput
from engine.model import Frozen
from engine.units import whole


class BatchSplit(Frozen):
    """A global batch B of micro-batches mb, on dp replicas before and dp' after.

    Kept: `with_more` replicas do `steps_after` micro-batches and the others one fewer, so the step takes
    ⌈B/(dp'·mb)⌉ / (B/(dp·mb)) times as long. Padding every replica to `steps_after` would train on
    `batch_if_padded` instead, which is why nothing is padded. Made smaller: the step takes as long as before
    on `shrunk_batch`, and the learning rate should follow.
    """

    steps_before: int
    steps_after: int
    with_more: int
    with_fewer: int
    splits_evenly: bool
    batch_if_padded: int
    step_time_ratio: float
    throughput_kept: float
    throughput_shrunk: float
    shrunk_batch: int


def split_batch(global_batch: int, micro_batch: int, before: int, after: int) -> BatchSplit:
    """Return how a global batch is shared by fewer replicas.

    Parameters
    ----------
    global_batch: B, samples; it must split evenly over the replicas before.
    micro_batch: mb, samples.
    before, after: replicas, at least 1, with after ≤ before.

    Raises
    ------
    InvalidInput: naming the parameter.
    """
    dp, micro = whole(before, "before", low=1), whole(micro_batch, "micro_batch", low=1)
    left = whole(after, "after", low=1, high=dp)
    batch = whole(global_batch, "global_batch", low=1)
    if batch % (dp * micro):
        raise InvalidInput("global_batch", batch, f"a multiple of {dp} replicas times {micro} samples")
    count = batch // micro
    steps_after = -(-count // left)
    more = count - left * (steps_after - 1)
    ratio = steps_after / (count // dp)
    return BatchSplit(
        steps_before=count // dp,
        steps_after=steps_after,
        with_more=more,
        with_fewer=left - more,
        splits_evenly=count % left == 0,
        batch_if_padded=steps_after * left * micro,
        step_time_ratio=ratio,
        throughput_kept=count // dp / steps_after,
        throughput_shrunk=left / dp,
        shrunk_batch=count // dp * left * micro,
    )
