"""The one helper that builds markup: everything is escaped unless it is markup already."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from markupsafe import Markup, escape

Child: TypeAlias = "str | Markup | Iterable[Child] | None"

_VOID = frozenset({"input", "br", "img", "hr", "path", "rect", "circle"})


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
    opened = Markup("<") + Markup(name) + _attributes(attributes) + Markup(">")
    if name in _VOID:
        return opened
    return opened + join(children) + Markup("</") + Markup(name) + Markup(">")


def join(children: Child) -> Markup:
    """Return the children one after the other as markup."""
    if children is None:
        return Markup("")
    if isinstance(children, str):
        return escape(children)
    if not isinstance(children, Iterable):
        raise TypeError(f"{children!r} is no text: format it with its unit first")
    return Markup("").join(join(child) for child in children)


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


def _attributes(attributes: dict[str, str | int | bool | None]) -> Markup:
    parts = []
    for key, value in attributes.items():
        name = Markup(key.rstrip("_").replace("_", "-"))
        if value is True:
            parts.append(Markup(" ") + name)
        elif value is not None and value is not False:
            parts.append(Markup(" ") + name + Markup('="') + escape(str(value)) + Markup('"'))
    return Markup("").join(parts)
