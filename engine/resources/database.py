"""One SQLite file of Fleetlab's, opened for each call and never changed before it is known to be ours.

The sixteen bytes of SQLite's magic and the two numbers at fixed offsets of its header (application id and
version; sqlite.org/fileformat2.html, section 1.3) are read as plain bytes first. A foreign, newer or damaged
file is therefore refused without SQLite having had it open for writing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import FileProblem, InvalidInput

if TYPE_CHECKING:
    from sqlite3 import Connection

_MAGIC = b"SQLite format 3\x00"
_HEADER_BYTES = 100
_LOCK_TIMEOUT_S = 60.0


class Database:
    """A SQLite file with a known application id, version and schema.

    Parameters
    ----------
    path: the file; made absolute, so that a later change of folder does not move it.
    title: what the file is, for error messages: `"a resource store"`.
    application_id, version: the two numbers in the header that say whose file this is and in which form.
    schema: the statements that make an empty file ours.

    Raises
    ------
    FileProblem: if there is a file that is not ours, is newer, or is damaged; it is left as it is.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        title: str,
        application_id: int,
        version: int,
        schema: tuple[str, ...],
    ) -> None:
        if os.fspath(path) in ("", ":memory:"):
            raise InvalidInput("path", path, "the path of a file, since each call opens it anew")
        self.path = Path(path).expanduser().absolute()
        self._title = title
        self._application_id = application_id
        self._version = version
        self._schema = schema
        if self.exists():
            with self._connection("rw") as connection:
                self._check_pages(connection)

    def exists(self) -> bool:
        """Return whether the file is there and is ours; an empty file is one that is still to be made.

        Raises
        ------
        FileProblem: if it is there and is not ours, or newer.
        """
        try:
            with self.path.open("rb") as file:
                header = file.read(_HEADER_BYTES)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise self._problem(f"this file cannot be read ({error.strerror}).") from error
        if header:
            self._check_header(header)
        return bool(header)

    @contextmanager
    def reading(self) -> Iterator[Connection | None]:
        """Open the file for one consistent look; None when there is no file, and none is made."""
        if not self.exists():
            yield None
            return
        with self._connection("rw") as connection:
            connection.execute("BEGIN")
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open the file for one transaction, making it first if need be; an error undoes it all."""
        self.exists()
        with self._connection("rwc") as connection:
            connection.execute("BEGIN IMMEDIATE")
            if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                self._make(connection)
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def _connection(self, mode: str) -> Iterator[Connection]:
        import sqlite3

        try:
            uri = f"{self.path.as_uri()}?mode={mode}"
            with closing(
                sqlite3.connect(uri, uri=True, timeout=_LOCK_TIMEOUT_S, isolation_level=None)
            ) as connection:
                yield connection
        except sqlite3.DatabaseError as error:
            raise self._problem(f"this database cannot be used ({error}).") from error

    def _make(self, connection: Connection) -> None:
        connection.execute(f"PRAGMA application_id = {self._application_id}")
        connection.execute(f"PRAGMA user_version = {self._version}")
        for statement in self._schema:
            connection.execute(statement)

    def _check_header(self, header: bytes) -> None:
        if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
            raise self._problem(f"this is not {self._title}: it is no SQLite database.")
        version, application_id = (int.from_bytes(header[at : at + 4], "big") for at in (60, 68))
        if application_id != self._application_id:
            raise self._problem(f"this SQLite database is not {self._title}.")
        if version > self._version:
            raise self._problem(
                f"this is {self._title} of version {version}, and this Fleetlab reads up to {self._version}.",
                "A newer Fleetlab wrote it; use that one.",
            )

    def _check_pages(self, connection: Connection) -> None:
        verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise self._problem("this database is damaged.")

    def _problem(self, message: str, hint: str = "") -> FileProblem:
        return FileProblem(message, file=str(self.path), hint=f"{hint} The file was not changed.".strip())
