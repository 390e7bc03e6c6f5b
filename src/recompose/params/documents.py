"""Documents: YAML 1.2 as dicts, lists and scalars, with the line of each value, and their merging.

PyYAML reads YAML 1.1, in which 1e-3 is a text, 010 is 8 and `on` is true; here its parser in C, which takes a twentieth
of the time of one in Python, resolves the types of YAML 1.2.
"""

import re
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import yaml

from recompose.errors import ParamsError
from recompose.files import Document

Place = tuple[str | int, ...]  # the keys from the top of a document to a value

DEEPEST = 100  # sections within each other: a parser in C ends the process at some ten thousand
MOST = 1_000_000  # values, counting those of an anchor wherever an alias stands
MERGE = "<<"  # a key whose section gives the others that are not written
BASES = {"0b": 2, "0o": 8, "0x": 16}
TYPES = {  # of YAML 1.2: the characters that a value may begin with, and its form
    "null": (["~", "n", "N", ""], r"~|null|Null|NULL|"),
    "bool": ([*"tTfF"], r"true|True|TRUE|false|False|FALSE"),
    "int": ([*"-+0123456789"], r"[-+]?[0-9][0-9_]*|0b[01][01_]*|0o[0-7][0-7_]*|0x[0-9a-fA-F][0-9a-fA-F_]*"),
    "float": (
        [*"-+.0123456789"],
        r"[-+]?([0-9][0-9_]*(\.[0-9_]*)?|\.[0-9][0-9_]*)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
    ),
}


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A loader of plain values."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}


def _integer(loader: _Loader, node: yaml.ScalarNode) -> int:
    digits = node.value.replace("_", "")
    return int(digits, BASES.get(digits[:2], 10))


for _name, (_first, _form) in TYPES.items():
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_name}", re.compile(rf"^(?:{_form})$"), _first)
_Loader.add_constructor("tag:yaml.org,2002:int", _integer)


class Written(NamedTuple):
    """A document as it is written in a file."""

    source: str  # the file, or another name for messages
    document: Any
    lines: Mapping[Place, int]

    def line_of(self, place: Place) -> int:
        """Return the line of a value, or of the innermost section that is written."""
        return next(self.lines[place[:size]] for size in range(len(place), -1, -1) if place[:size] in self.lines)


def read_written(text: str, source: str) -> Written:
    """Return a document with the line of each value.

    Args:
        text: the YAML.
        source: its file, or another name for messages.

    Raises:
        ParamsError: the text is not YAML, has objects other than plain values, repeats a key, or is nested too deep or
            too large.
    """
    lines: dict[Place, int] = {(): 1}
    try:
        _check_depth(text)
        loader = _Loader(text)
        node = loader.get_single_node()
        return Written(source, None if node is None else _value(loader, node, (), lines), lines)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        parts = (getattr(error, "problem", None), getattr(error, "context", None))
        fault = ", ".join(filter(None, parts)) or " ".join(str(error).split())
        place = f"{source}:{mark.line + 1}" if mark else source
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise ParamsError(f"{source} is not valid YAML: {where}{fault}", code="no-yaml", place=place) from None


def _check_depth(text: str) -> None:
    """Check how deep a document is nested, by its events, which need no recursion."""
    depth = 0
    for event in yaml.parse(text, _Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            mark: Any = event.start_mark
            raise yaml.MarkedYAMLError(problem="it is nested too deep", problem_mark=mark)


def _value(loader: _Loader, node: yaml.Node, place: Place, lines: dict[Place, int]) -> Any:
    """Return the value of a node, which shares no parts with others, and note its lines."""
    lines[place] = node.start_mark.line + 1
    if len(lines) > MOST:
        raise yaml.MarkedYAMLError(problem=f"it has more than {MOST} values", problem_mark=node.start_mark)
    if isinstance(node, yaml.SequenceNode):
        return [_value(loader, item, (*place, number), lines) for number, item in enumerate(node.value)]
    if not isinstance(node, yaml.MappingNode):
        return loader.construct_object(node)
    values: Document = {}
    for key_node, value in node.value:
        if not isinstance(key_node, yaml.ScalarNode):
            raise yaml.MarkedYAMLError(problem="a key is a text", problem_mark=key_node.start_mark)
        key = loader.construct_object(key_node)
        if key in values:
            raise yaml.MarkedYAMLError(problem=f"the key {key} is repeated", problem_mark=key_node.start_mark)
        values[key] = _value(loader, value, (*place, key), lines)
        lines[*place, key] = key_node.start_mark.line + 1
    inherited = values.pop(MERGE, None)
    return {**inherited, **values} if isinstance(inherited, dict) else values


def read_document(text: str, source: str) -> Any:
    """Return a document as dicts, lists and scalars that share no parts; see ``read_written``.

    >>> read_document("{lr: 1e-3, names: [on, '1']}", "a.yaml")
    {'lr': 0.001, 'names': ['on', '1']}
    """
    return read_written(text, source).document


def merged(*documents: Mapping[str, object]) -> Document:
    """Return the merged documents, later ones last: mappings merge, all other values replace.

    >>> merged({"lr": 0.1, "training": {"epochs": 2, "sizes": [1, 2]}}, {"training": {"sizes": [3]}})
    {'lr': 0.1, 'training': {'epochs': 2, 'sizes': [3]}}
    """
    result: Document = {}
    for document in documents:
        for key, value in document.items():
            former = result.get(key)
            both = isinstance(value, Mapping) and isinstance(former, Mapping)
            result[key] = merged(former, value) if both else plain(value)  # type: ignore[arg-type]
    return result


def plain(value: Any) -> Any:
    """Return a copy that shares no parts.

    >>> shared = [1]
    >>> copied = plain({"a": shared, "b": shared})
    >>> copied["a"] is copied["b"]
    False
    """
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list) else value
