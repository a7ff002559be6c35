"""Where the files that ship beside the packages are, in a checkout and in an installed wheel alike."""

from __future__ import annotations

from pathlib import Path

from engine.errors import UnknownName

_ROOT = Path(__file__).resolve().parent.parent


def shipped(*parts: str) -> Path:
    """Return the path of a shipped file or folder, for instance `shipped("assets", "cockpit.css")`.

    Raises
    ------
    UnknownName: if there is no such file, or the parts lead outside the project.
    """
    path = _ROOT.joinpath(*parts).resolve()
    if not path.exists() or not path.is_relative_to(_ROOT):
        folder = _ROOT.joinpath(*parts[:-1])
        raise UnknownName(
            "file", "/".join(parts), [p.name for p in folder.glob("*")] if folder.is_dir() else []
        )
    return path
