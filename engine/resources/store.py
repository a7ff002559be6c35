"""The store of reports: one SQLite file, a connection per call, safe from many threads and processes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from engine.errors import InvalidInput
from engine.model import Frozen
from engine.resources import learning
from engine.resources.database import Database
from engine.resources.records import ResolvedResources, ResourceKey, ResourceReport, ResourceRequest
from engine.units import number

if TYPE_CHECKING:
    from sqlite3 import Connection

_APPLICATION_ID = 0x464C5253  # "FLRS"
_VERSION = 1
_SCHEMA = (
    """CREATE TABLE uses (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        key TEXT NOT NULL,
        run TEXT NOT NULL,
        oom INTEGER NOT NULL,
        base_gb REAL NOT NULL,
        peak_gb REAL NOT NULL,
        workers INTEGER NOT NULL,
        scratch_gb REAL,
        gpus INTEGER,
        seconds REAL,
        units REAL
    )""",
    "CREATE INDEX uses_by_key ON uses (key, oom, id)",
)
_REPORT = tuple(ResourceReport.model_fields)
_COLUMNS = ", ".join(_REPORT)
_INSERT = f"INSERT INTO uses (key, run, oom, base_gb, {_COLUMNS}) VALUES (?, ?, ?, ?{', ?' * len(_REPORT)})"
_SUCCESSES = f"SELECT base_gb, {_COLUMNS} FROM uses WHERE key = ? AND oom = 0 ORDER BY id DESC LIMIT ?"
# A success releases the kills before it, unless it is of the very same run: there, another part of the run
# that needs less may have succeeded. Two empty run ids are two runs.
_OPEN_KILLS = f"""
    SELECT base_gb, {_COLUMNS} FROM uses AS kill WHERE key = ? AND oom = 1 AND NOT EXISTS (
        SELECT 1 FROM uses AS success
        WHERE success.key = kill.key AND success.oom = 0 AND success.id > kill.id
        AND (success.run = '' OR success.run <> kill.run)
    )"""

Model = TypeVar("Model", bound=Frozen)


class ResourceStore:
    """Memory requests learned from what jobs really used.

    Parameters
    ----------
    db: the SQLite file; made at the first `record`, never by `resolve`.

    Raises
    ------
    FileProblem: if the file is not a resource store, is newer, or is damaged; it is left as it is.
    """

    def __init__(self, db: str | os.PathLike[str]) -> None:
        self._database = Database(db, "a resource store", _APPLICATION_ID, _VERSION, _SCHEMA)

    def record(
        self,
        key: ResourceKey,
        report: ResourceReport | Mapping[str, Any],
        base_gb: float,
        oom: bool = False,
        run: str = "",
    ) -> None:
        """Append what a pod used.

        Parameters
        ----------
        key: whose use it is.
        report: what it used; for a pod killed for memory, `peak_gb` is its limit.
        base_gb: the memory of the pod without any worker, in GB.
        oom: whether the pod was killed for memory.
        run: the id of the run it belongs to; an empty one is a run of its own.

        Raises
        ------
        InvalidInput: naming the value that is not accepted.
        FileProblem: if the file cannot be used.
        """
        report = _read(ResourceReport, report)
        base = number(base_gb, "base_gb", low=0.0)
        if not isinstance(run, str) or not run.isprintable():
            raise InvalidInput("run", run, "the id of a run, a printable text")
        values = [getattr(report, name) for name in _REPORT]
        with self._database.writing() as connection:
            connection.execute(_INSERT, [key.text(), run, int(oom), base, *values])

    def resolve(
        self,
        key: ResourceKey,
        hint: ResourceRequest | Mapping[str, Any] | None = None,
        override: ResourceRequest | Mapping[str, Any] | None = None,
    ) -> ResolvedResources:
        """Return what to ask for, by the rules of `learning.resolve`.

        Parameters
        ----------
        key: whose resources are asked for.
        hint: the plugin's own opinion, used until something was learned.
        override: the user's will; each field that is set wins, even below the floor that kills set.

        Raises
        ------
        InvalidInput: naming the field of hint or override that is not accepted.
        FileProblem: if the file cannot be used.
        """
        successes, kills = self._history(key)
        return learning.resolve(
            successes,
            kills,
            None if hint is None else _read(ResourceRequest, hint),
            None if override is None else _read(ResourceRequest, override),
        )

    def keys(self) -> list[ResourceKey]:
        """Return every key that has a report, sorted by its text."""
        with self._database.reading() as connection:
            rows = connection.execute("SELECT DISTINCT key FROM uses ORDER BY key") if connection else ()
            return [ResourceKey.from_text(text) for (text,) in rows]

    def open_kills(self, key: ResourceKey) -> int:
        """Return how many kills still hold the request up."""
        return len(self._history(key)[1])

    def _history(self, key: ResourceKey) -> tuple[list[learning.Use], list[learning.Use]]:
        with self._database.reading() as connection:
            if connection is None:
                return [], []
            newest_first = _uses(connection, _SUCCESSES, (key.text(), learning.WINDOW))
            return newest_first[::-1], _uses(connection, _OPEN_KILLS, (key.text(),))


def _uses(connection: Connection, query: str, values: tuple[Any, ...]) -> list[learning.Use]:
    rows = connection.execute(query, values).fetchall()
    return [
        learning.Use(ResourceReport(**dict(zip(_REPORT, report, strict=True))), base)
        for base, *report in rows
    ]


def _read(model: type[Model], value: Model | Mapping[str, Any]) -> Model:
    return value if isinstance(value, model) else model.read(value)
