"""The lines of a log from a path, a stream or bytes, with their numbers and the progress made."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import IO, BinaryIO

from engine.errors import FileProblem, InvalidInput

Source = str | os.PathLike[str] | bytes | IO[str] | IO[bytes]
"""A path, the bytes of a file, or an open stream of text or bytes."""
Progress = Callable[[float], object]
"""Called with the fraction of bytes read, at most about a hundred times, at last with 1."""

_HEAD_LINES = 50
_COMPRESSED = (b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")


class LogLines:
    """Numbered lines of text; `head` is the start of the file, which stays to be read.

    Bytes that are not UTF-8 become U+FFFD: one odd user name must not cost a log.
    """

    def __init__(self, stream: BinaryIO, total: int, name: str, progress: Progress | None = None) -> None:
        self.name = name
        self._stream, self._total, self._progress = stream, total, progress
        self._raw_head = list(islice(stream, _HEAD_LINES))
        self.head = [_text(raw) for raw in self._raw_head]

    def __iter__(self) -> Iterator[tuple[int, str]]:
        """Yield the number and the text of every line that is not blank, without its end."""
        for number, raw in enumerate(self._raw_lines(), start=1):
            text = _text(raw)
            if text and not text.isspace():
                yield number, text

    def text(self) -> str:
        """Return all lines as one text, for a format that is not one of lines."""
        return b"".join(self._raw_lines()).decode("utf-8", "replace")

    def _raw_lines(self) -> Iterator[bytes]:
        read, due, step = 0, 0.0, self._total / 100
        for raw in chain(self._raw_head, self._stream):
            yield raw
            read += len(raw)
            if self._progress is not None and due <= read < self._total:
                self._progress(read / self._total)
                due = read + step
        if self._progress is not None:
            self._progress(1.0)


@contextmanager
def log_lines(
    source: Source, name: str | None = None, progress: Progress | None = None
) -> Iterator[LogLines]:
    """Open the lines of a log; a path is read line by line, anything else is already in memory.

    Raises
    ------
    FileProblem: for a file that cannot be opened or read, is empty or is compressed.
    InvalidInput: for a source of another kind.
    """
    name = name or (str(source) if isinstance(source, (str, os.PathLike)) else "log")
    try:
        with _opened(source) as stream:
            total = stream.seek(0, os.SEEK_END)
            stream.seek(0)
            start = stream.read(6)
            stream.seek(0)
            if total == 0:
                raise FileProblem("this file is empty.", file=name)
            if start.startswith(_COMPRESSED):
                raise FileProblem("this file is compressed.", file=name, hint="Unpack it first.")
            yield LogLines(stream, total, name, progress)
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise FileProblem(f"it cannot be read ({why}).", file=name) from error


def _opened(source: Source) -> BinaryIO:
    if isinstance(source, (bytes, bytearray, memoryview)):
        return io.BytesIO(source)
    if isinstance(source, (str, os.PathLike)):
        if "\0" in os.fspath(source):
            raise InvalidInput("source", source, "a path without a NUL character")
        return Path(source).open("rb")
    if not hasattr(source, "read"):
        raise InvalidInput("source", source, "a path, bytes or a stream")
    content = source.read()
    return io.BytesIO(content.encode("utf-8", "replace") if isinstance(content, str) else content)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").rstrip("\r\n").removeprefix("\ufeff")


__all__ = ["LogLines", "Progress", "Source", "log_lines"]
