"""Every constant that a student can see, with its unit, source, date and mark.

Facts live in `engine/facts/*.toml`, one table a fact, named `<file>.<table>`: `h100.price`. A mark says
how far to trust one: `measured` (a number of a real system), `published` (stated by its source),
`derived` (computed from others, which the note names) or `assumed` (ours, to be replaced).
"""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any, Literal

import pint
from pydantic import Field

from engine.errors import FileProblem, InvalidInput, UnknownName
from engine.model import Frozen
from engine.paths import shipped
from engine.units import Quantity, quantity

Mark = Literal["measured", "published", "derived", "assumed"]


class Fact(Frozen):
    """One constant: what it is, its value with unit, where it is from and how far to trust it."""

    name: str
    label: str = Field(min_length=1)
    value: float
    unit: str
    source: str = Field(min_length=1)
    date: str
    mark: Mark
    note: str = ""

    @property
    def quantity(self) -> pint.Quantity[Any]:
        """The value with its unit."""
        return Quantity(self.value, self.unit)


def fact(name: str) -> Fact:
    """Return one fact by its name.

    Raises
    ------
    UnknownName: listing the facts of the same file.
    """
    table = facts()
    if name not in table:
        group = name.split(".")[0]
        raise UnknownName(
            "fact",
            name,
            [n for n in table if n.split(".")[0] == group] or sorted({n.split(".")[0] for n in table}),
        )
    return table[name]


@cache
def facts() -> dict[str, Fact]:
    """Return all facts by name, in the order of the files.

    Raises
    ------
    FileProblem: for a file that is not TOML or a table that is not a fact.
    """
    found: dict[str, Fact] = {}
    for path in sorted(shipped("engine", "facts").glob("*.toml")):
        try:
            tables = tomllib.loads(path.read_text(encoding="utf-8"))
            for key, table in tables.items():
                one = Fact.read({"name": f"{path.stem}.{key}"} | table)
                quantity((one.value, one.unit), one.name)
                found[one.name] = one
        except (tomllib.TOMLDecodeError, InvalidInput, TypeError) as error:
            raise FileProblem(str(error), file=path.name) from error
    return found
