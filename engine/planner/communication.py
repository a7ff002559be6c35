"""What it costs that GPUs talk to each other, as a scaling efficiency between 0 and 1.

An optimiser step takes c seconds of computation and m seconds of communication, half a computation of
which is hidden behind it: efficiency = c / (c + max(0, m − c/2)).
"""

from __future__ import annotations

from engine.planner.catalog import Link, assumed, link
from engine.planner.protocol import Resources


def host_link(resources: Resources) -> Link:
    """Return the link inside a host: as declared for it, or for all GPUs if it is such a link, else PCIe."""
    declared = resources.host_interconnect or resources.interconnect
    return link(declared if declared.startswith("same_host") else "same_host_pcie")


def link_between(world: int, resources: Resources) -> Link:
    """Return the link that `world` GPUs talk over: the host's own as long as one host holds them."""
    if resources.hosts == 1 or world <= resources.gpus_per_host:
        return host_link(resources)
    return link(resources.interconnect)


def compute_seconds(tokens: float, parameters: float, peak_flops: float) -> float:
    """Return the time for `tokens` at 6·P operations each and the assumed utilisation of the peak."""
    return tokens * 6 * parameters / (assumed().flops_utilisation * peak_flops)


def all_reduce_seconds(size: float, world: int, over: Link) -> float:
    """Return the time of a ring all-reduce of `size` bytes: 2(n−1)/n · size/BW + latency."""
    return 2 * (world - 1) / world * size / over.bandwidth + over.latency


def sharded_seconds(size: float, world: int, layers: float, over: Link) -> float:
    """Return the time to gather weights twice and scatter gradients once, layer by layer.

    3(n−1)/n · size/BW + 3·layers·latency.
    """
    return 3 * (world - 1) / world * size / over.bandwidth + 3 * layers * over.latency


def efficiency(compute: float, communication: float) -> float:
    """Return c / (c + max(0, m − c/2)), rounded to the 2 digits it is then used with."""
    exposed = max(0.0, communication - assumed().overlapped_share * compute)
    return round(compute / (compute + exposed), 2)


def efficiency_by_link(over: Link) -> float:
    """Return the efficiency when the time to compute is unknown: refused over the internet, else 1."""
    return 0.0 if over.name == "wan" else 1.0
