"""Measurements that replace the planner's assumptions.

`Profiler` measures, `ProfileCache` remembers, `measure` decides whether it is worth it, and `MemorySampler`
follows the memory of any process tree.
"""

from engine.profiling.cache import ProfileCache
from engine.profiling.policy import Measurement, measure, skip_reason
from engine.profiling.profiler import Profiler
from engine.profiling.result import ProfileError, ProfileResult
from engine.profiling.sampler import MemorySampler

__all__ = [
    "Measurement",
    "MemorySampler",
    "ProfileCache",
    "ProfileError",
    "ProfileResult",
    "Profiler",
    "measure",
    "skip_reason",
]
