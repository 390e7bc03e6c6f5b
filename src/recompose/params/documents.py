"""Documents: YAML 1.2 as dicts, lists and scalars, with the origin of each value, and their merging.

PyYAML reads YAML 1.1, in which 1e-3 is a text, 010 is 8 and `on` is true; here its parser in C, which takes a twentieth
of the time of one in Python, resolves the types of YAML 1.2.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, cast

import yaml
from pydantic import BaseModel

from recompose.errors import ParamsError, RecomposeError

Place = tuple[str | int, ...]  # the keys from the top of a document to a value

MERGE = "<<"  # a key whose section gives the others that are not written
TEXT = "tag:yaml.org,2002:str"  # the only tag that a value may have
DEEPEST = 100  # sections within each other: a parser in C ends the process at some ten thousand
MOST = 1_000_000  # values, counting those of an anchor wherever an alias stands
BASES = {"0b": 2, "0o": 8, "0x": 16}
TYPES = {  # of YAML 1.2; what has none of these forms is a text
    "null": r"~|null|Null|NULL|",
    "bool": r"true|True|TRUE|false|False|FALSE",
    "int": r"[-+]?[0-9][0-9_]*|0b[01][01_]*|0o[0-7][0-7_]*|0x[0-9a-fA-F][0-9a-fA-F_]*",
    "float": r"[-+]?([0-9][0-9_]*(\.[0-9_]*)?|\.[0-9][0-9_]*)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
}


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A loader of plain values."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}


def _integer(loader: _Loader, node: yaml.ScalarNode) -> int:
    digits = node.value.replace("_", "")
    return int(digits, BASES.get(digits[:2], 10))


for _name, _form in TYPES.items():
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_name}", re.compile(rf"^(?:{_form})$"), None)
_Loader.add_constructor("tag:yaml.org,2002:int", _integer)


class Written(NamedTuple):
    """A value as it is written in a file: a scalar, or a dict or list of such values."""

    value: Any
    origin: str  # the file and the line, or whatever else gives the value

    @classmethod
    def of(cls, document: Any, origin: str) -> "Written":
        """Return a document that is written at one place."""
        if isinstance(document, dict):
            return cls({key: cls.of(inner, origin) for key, inner in document.items()}, origin)
        return cls([cls.of(inner, origin) for inner in document] if isinstance(document, list) else document, origin)

    @property
    def document(self) -> Any:
        """The value as dicts, lists and scalars, which share no parts with others."""
        if isinstance(self.value, dict):
            return {key: inner.document for key, inner in self.value.items()}
        return [inner.document for inner in self.value] if isinstance(self.value, list) else self.value

    def at(self, place: Place) -> "Written | None":
        """Return the value at a place, or None where nothing is written there."""
        part = self
        for key in place:
            parts: dict[Any, Written] = dict(enumerate(part.value)) if isinstance(part.value, list) else part.entries()
            if key not in parts:
                return None
            part = parts[key]
        return part

    def entries(self, *keys: str) -> "dict[Any, Written]":
        """Return the values of a section by their names; none where it is no section, which the schema reports."""
        section = self.at(keys) if keys else self
        return section.value if section and isinstance(section.value, dict) else {}

    def origin_of(self, place: Place) -> str:
        """Return the origin of a value, or of the innermost section that is written."""
        parts = (self.at(place[:size]) for size in range(len(place), 0, -1))
        return next(filter(None, parts), self).origin

    def put(self, place: tuple[str, ...], part: "Written") -> "Written":
        """Return the same with another value at a place; sections that are absent are made."""
        if not place:
            return part
        entries, key = self.entries(), place[0]
        inner = entries.get(key, Written({}, part.origin))
        return Written({**entries, key: inner.put(place[1:], part)}, self.origin)

    def over(self, base: "Written") -> "Written":
        """Return the same, merged onto another one: sections merge, all other values replace."""
        if not (isinstance(self.value, dict) and isinstance(base.value, dict)):
            return self
        own = {key: part.over(base.value[key]) if key in base.value else part for key, part in self.value.items()}
        return Written({**base.value, **own}, self.origin)


def read_file(path: Path, source: str, kind: type[RecomposeError] = ParamsError) -> Written:
    """Return the document of a file, by the name that messages have for it; see ``read_written``."""
    try:
        return read_written(path.read_text(encoding="utf-8"), source, kind)
    except (OSError, UnicodeDecodeError) as error:
        remedy = "; is this the folder of the project?" if isinstance(error, FileNotFoundError) else ""
        raise kind(f"{source} cannot be read: {error}{remedy}", code="unreadable-file", place=source) from None


def read_written(text: str, source: str, kind: type[RecomposeError] = ParamsError) -> Written:
    """Return a document with the line of each value.

    Args:
        text: the YAML.
        source: its file, or another name for messages.
        kind: of the error.

    Raises:
        RecomposeError: the text is not YAML, has objects other than plain values, repeats a key, or is nested too deep
            or too large.
    """
    try:
        _check_events(text)
        loader = _Loader(text)
        node = loader.get_single_node()
        return Written(None, f"{source}:1") if node is None else _value(loader, node, source, node, count(1))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        parts = (getattr(error, "problem", None), getattr(error, "context", None))
        fault = ", ".join(filter(None, parts)) or " ".join(str(error).split())
        place = f"{source}:{mark.line + 1}" if mark else source
        raise kind(f"{place}: this is not valid YAML: {fault}", code="no-yaml", place=place) from None


def _check_events(text: str) -> None:
    """Check how deep a document is nested, by its events, which need no recursion, and that no tag makes an object of a
    value.
    """
    depth = 0
    for event in yaml.parse(text, _Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        tag, mark = getattr(event, "tag", None), cast("Any", event.start_mark)
        if tag not in (None, TEXT):
            raise yaml.MarkedYAMLError(problem=f"it has the tag {tag}", problem_mark=mark)
        if depth > DEEPEST:
            raise yaml.MarkedYAMLError(problem="it is nested too deep", problem_mark=mark)


def _value(loader: _Loader, node: yaml.Node, source: str, start: yaml.Node, numbers: Iterator[int]) -> Written:
    """Return the value of a node, and the line of the node that it starts with: in a section, of its key.

    ``numbers`` counts all values.
    """
    origin = f"{source}:{start.start_mark.line + 1}"
    if next(numbers) > MOST:
        raise yaml.MarkedYAMLError(problem=f"it has more than {MOST} values", problem_mark=node.start_mark)
    if isinstance(node, yaml.SequenceNode):
        return Written([_value(loader, item, source, item, numbers) for item in node.value], origin)
    if not isinstance(node, yaml.MappingNode):
        return Written(loader.construct_object(node), origin)
    values: dict[Any, Written] = {}
    for key, value in node.value:
        name = loader.construct_object(key) if isinstance(key, yaml.ScalarNode) else None
        if name is None or name in values:
            fault = "a key is a text" if name is None else f"the key {name} is repeated"
            raise yaml.MarkedYAMLError(problem=fault, problem_mark=key.start_mark)
        values[name] = _value(loader, value, source, key, numbers)
    inherited = values.pop(MERGE, Written({}, origin))
    if not isinstance(inherited.value, dict):
        raise yaml.MarkedYAMLError(problem=f"{MERGE} takes one section", problem_mark=node.start_mark)
    return Written({**inherited.value, **values}, origin)


def read_document(text: str, source: str) -> Any:
    """Return a document as dicts, lists and scalars that share no parts; see ``read_written``.

    >>> read_document("{lr: 1e-3, names: [on, '1']}", "a.yaml")
    {'lr': 0.001, 'names': ['on', '1']}
    """
    return read_written(text, source).document


def merged(base: Any, changes: Any) -> Any:
    """Return a value with changes: sections merge, those of a model by the names of its fields, all others replace.

    >>> merged({"lr": 0.1, "training": {"epochs": 2, "sizes": [1, 2]}}, {"training": {"sizes": [3]}})
    {'lr': 0.1, 'training': {'epochs': 2, 'sizes': [3]}}
    """
    if isinstance(base, BaseModel):
        base = {field.alias or name: getattr(base, name) for name, field in type(base).model_fields.items()}
    if not (isinstance(base, Mapping) and isinstance(changes, Mapping)):
        return changes
    return {**base, **{key: merged(base[key], value) if key in base else value for key, value in changes.items()}}
