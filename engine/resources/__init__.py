"""Memory requests learned from what jobs really used.

`ResourceStore` keeps reports in one SQLite file and answers what to ask for next; the rules themselves are
the pure function `learning.resolve`.
"""

from engine.resources.learning import MARGIN, RETRY_FACTOR, WINDOW
from engine.resources.records import (
    ResolvedResources,
    ResourceKey,
    ResourceReport,
    ResourceRequest,
    TaskType,
    resource_key,
)
from engine.resources.store import ResourceStore

__all__ = [
    "MARGIN",
    "RETRY_FACTOR",
    "WINDOW",
    "ResolvedResources",
    "ResourceKey",
    "ResourceReport",
    "ResourceRequest",
    "ResourceStore",
    "TaskType",
    "resource_key",
]
