"""A mission plan as text: the YAML between two lines `---`, with the line of every key, then Markdown.

Only plain YAML is read: no tags, no anchors, no key twice. Whatever is wrong has a line.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from engine.errors import PlanError, shown

Path = tuple[str | int, ...]


class FrontMatter(NamedTuple):
    """What a plan's text says: the data, the line on which each part of it stands, and the Markdown body."""

    file: str
    data: dict[str, Any]
    lines: dict[Path, int]
    body: str

    def line(self, path: Path) -> int:
        """Return the line of the part at `path`, or of the nearest part around it that has one.

        Steps of `path` that the text does not have are passed over: validators name the kind of a lever
        between its name and its fields.
        """
        return self.lines[self._known(path)]

    def name(self, path: Path) -> str:
        """Return the keys on the way to `path`, for instance `badges.sla.at_most`."""
        return ".".join(step for step in self._known(path) if isinstance(step, str))

    def _known(self, path: Path) -> Path:
        here: Path = ()
        for step in path:
            if (*here, step) in self.lines:
                here = (*here, step)
        return here

    def problem(self, path: Path, message: str, hint: str = "") -> PlanError:
        """Return the error that says `message` of the part at `path`, with file and line."""
        return PlanError(message, file=self.file, line=self.line(path), hint=hint)


def read_front_matter(content: str, file: str) -> FrontMatter:
    """Split a plan into data and body.

    Raises
    ------
    PlanError: naming file and line, when there is no front matter or it is not plain YAML.
    """
    rows = content.splitlines()
    if not rows or rows[0].rstrip() != "---":
        raise PlanError("the plan has no front matter; start it with a line ---.", file=file, line=1)
    ends = [number for number, row in enumerate(rows) if number and row.rstrip() == "---"]
    if not ends:
        raise PlanError("the front matter has no end; close it with a line ---.", file=file, line=len(rows))
    reader = _Reader(file)
    data = reader.read("\n".join(rows[1 : ends[0]]))
    return FrontMatter(file, data, reader.lines, "\n".join(rows[ends[0] + 1 :]).strip() + "\n")


class _Reader:
    """Turns YAML nodes into plain data and remembers where each stood."""

    def __init__(self, file: str) -> None:
        import yaml  # type: ignore[import-untyped]  # not at the top: `import engine` does not wait for it

        self.yaml: Any = yaml
        self.constructor: Any = yaml.constructor.SafeConstructor()
        self.file = file
        self.lines: dict[Path, int] = {(): 1}
        self.seen: set[int] = set()

    def read(self, text: str) -> dict[str, Any]:
        try:
            node = self.yaml.compose(text, Loader=self.yaml.SafeLoader)
        except RecursionError as error:
            raise PlanError("the front matter is nested too deeply.", file=self.file, line=1) from error
        except self.yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            said = getattr(error, "problem", None) or "a character is not allowed"
            line = mark.line + 2 if mark else 1
            raise PlanError(f"this is not YAML: {said}.", file=self.file, line=line) from error
        if not isinstance(node, self.yaml.MappingNode):
            raise PlanError("the front matter is not a list of keys with values.", file=self.file, line=1)
        data: dict[str, Any] = self.plain(node, ())
        return data

    def plain(self, node: Any, path: Path) -> Any:
        self.lines.setdefault(path, self.line_of(node))
        if id(node) in self.seen:
            raise self.problem(node, "anchors and aliases (& and *) are not read here; write the value out.")
        self.seen.add(id(node))
        if isinstance(node, self.yaml.MappingNode):
            return self.mapping(node, path)
        if isinstance(node, self.yaml.SequenceNode):
            return [self.plain(item, (*path, number)) for number, item in enumerate(node.value)]
        return self.scalar(node)

    def mapping(self, node: Any, path: Path) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self.plain(key_node, (*path, ""))
            if not isinstance(key, str):
                raise self.problem(key_node, f"the key {shown(key)} is not a word; put it in quotes.")
            if key in data:
                raise self.problem(key_node, f"the key {key!r} is there twice.")
            self.lines[(*path, key)] = self.line_of(key_node)
            data[key] = self.plain(value_node, (*path, key))
        return data

    def scalar(self, node: Any) -> Any:
        try:
            return self.constructor.construct_object(node)
        except (self.yaml.YAMLError, ValueError) as error:
            raise self.problem(node, f"{shown(node.value)} cannot be read; put it in quotes.") from error

    def line_of(self, node: Any) -> int:
        return int(node.start_mark.line) + 2

    def problem(self, node: Any, message: str) -> PlanError:
        return PlanError(message, file=self.file, line=self.line_of(node))
