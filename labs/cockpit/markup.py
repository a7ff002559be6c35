"""The one helper that builds markup: everything is escaped unless it is markup already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from markupsafe import Markup, escape

Child: TypeAlias = "str | Markup | Iterable[Child] | None"

_VOID = frozenset({"input", "br", "img", "hr"})


def tag(name: str, /, *children: Child, **attributes: str | int | bool | None) -> Markup:
    """Return one element with its children.

    A number is no child: it goes through `labs.cockpit.format`, which knows its digits and its unit.

    Parameters
    ----------
    name: the element's name.
    children: texts (escaped), markup (kept), None (left out) or iterables of these.
    attributes: `class_` stands for class and `data_zone` for data-zone; None and False are left out,
        True gives a bare attribute.

    Raises
    ------
    TypeError: for a child that is neither text nor markup.
    """
    opened = f"<{name}{_attributes(attributes)}>"
    if name in _VOID:
        return Markup(opened)
    return Markup(f"{opened}{''.join(_texts(children))}</{name}>")


def join(children: Child) -> Markup:
    """Return the children one after the other as markup."""
    return Markup("".join(_texts(children)))


def _texts(children: Child) -> Iterator[str]:
    """Yield the escaped text of every child."""
    if children is None:
        return
    if isinstance(children, str):
        yield str(escape(children))
    elif isinstance(children, Iterable):
        for child in children:
            yield from _texts(child)
    else:
        raise TypeError(f"{children!r} is no text: format it with its unit first")


def zone(
    name: str,
    /,
    *children: Child,
    label: str,
    hidden: bool = False,
    element: str = "section",
    stamp: str = "",
) -> Markup:
    """Return one zone of the cockpit: a landmark with a label that the sheet puts in its place.

    `stamp` tells which setting of the levers the zone shows.
    """
    return tag(
        element, *children, data_zone=name, aria_label=label, hidden=hidden, data_setting=stamp or None
    )


def _attributes(attributes: dict[str, str | int | bool | None]) -> str:
    parts = []
    for key, value in attributes.items():
        name = key.rstrip("_").replace("_", "-")
        if value is True:
            parts.append(f" {name}")
        elif value is not None and value is not False:
            parts.append(f' {name}="{escape(str(value))}"')
    return "".join(parts)
