"""Profiles that were measured before, by what determines their numbers."""

from __future__ import annotations

import os

from engine.errors import FileProblem, FleetlabError, InvalidInput
from engine.planner.protocol import PlanRequest
from engine.planner.report import StrategyPlan
from engine.profiling.job import cache_key
from engine.profiling.profiler import Backend, chosen_backend, frameworks
from engine.profiling.result import ProfileResult
from engine.resources.database import Database

_APPLICATION_ID = 0x464C5043  # "FLPC"
_VERSION = 1
_SCHEMA = ("CREATE TABLE profiles (key TEXT PRIMARY KEY, result TEXT NOT NULL)",)


class ProfileCache:
    """One SQLite file of profiles, a connection per call.

    Parameters
    ----------
    db: the file; made at the first `put`.

    Raises
    ------
    FileProblem: if the file is not a profile cache, is newer, or is damaged; it is left as it is.
    """

    def __init__(self, db: str | os.PathLike[str]) -> None:
        self._database = Database(db, "a profile cache", _APPLICATION_ID, _VERSION, _SCHEMA)

    def key(self, request: PlanRequest, plan: StrategyPlan, backend: Backend | None = None) -> str:
        """Return the key of a profile of `plan` with `backend`, or the one this machine would use."""
        return cache_key(request, plan, frameworks(backend or chosen_backend()))

    def get(self, key: str) -> ProfileResult | None:
        """Return the profile under `key`, none if there is none."""
        with self._database.reading() as connection:
            if connection is None:
                return None
            row = connection.execute("SELECT result FROM profiles WHERE key = ?", (key,)).fetchone()
        try:
            return ProfileResult.read_json(row[0]) if row else None
        except FleetlabError as error:
            raise FileProblem(
                f"the profile {key} in this cache cannot be read.", file=str(self._database.path)
            ) from error

    def put(self, key: str, result: ProfileResult) -> None:
        """Keep a profile; one under the same key is replaced."""
        if not isinstance(result, ProfileResult):
            raise InvalidInput("result", result, "a ProfileResult, which only a finished run gives")
        with self._database.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO profiles VALUES (?, ?)", (key, result.model_dump_json())
            )
