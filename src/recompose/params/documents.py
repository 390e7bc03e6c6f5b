"""Documents: YAML 1.2 as dicts, lists and scalars, with the line of each value, and their merging.

PyYAML reads YAML 1.1, in which 1e-3 is a text, 010 is 8 and `on` is true; so its parser in C, which takes a twentieth
of the time of one in Python, gives the events alone.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import yaml

from recompose.errors import ParamsError
from recompose.files import Document

Place = tuple[str | int, ...]  # the keys from the top of a document to a value

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
WHOLE = re.compile(r"[-+]?[0-9][0-9_]*|0b[01][01_]*|0o[0-7][0-7_]*|0x[0-9a-fA-F][0-9a-fA-F_]*")
BASES = {"0b": 2, "0o": 8, "0x": 16}
NUMBER = re.compile(
    r"[-+]?([0-9][0-9_]*(\.[0-9_]*)?|\.[0-9][0-9_]*)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
)
DEEPEST = 100
MOST = 1_000_000  # values, counting those of an anchor wherever an alias stands


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
        ParamsError: the text is not YAML, has a tag, repeats a key, or is nested too deep or too large.
    """
    reader = _Reader(text)
    try:
        document = reader.read()
    except yaml.MarkedYAMLError as error:
        mark, fault = error.problem_mark, ", ".join(filter(None, (error.problem, error.context)))
        place = f"{source}:{mark.line + 1}" if mark else source
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise ParamsError(f"{source} is not valid YAML: {where}{fault}", code="no-yaml", place=place) from None
    except yaml.YAMLError as error:
        fault = " ".join(str(error).split())
        raise ParamsError(f"{source} is not valid YAML: {fault}", code="no-yaml", place=source) from None
    return Written(source, document, reader.lines)


def read_document(text: str, source: str) -> Any:
    """Return a document as dicts, lists and scalars that share no parts; see ``read_written``.

    >>> read_document("{lr: 1e-3, names: [on, '1']}", "a.yaml")
    {'lr': 0.001, 'names': ['on', '1']}
    """
    return read_written(text, source).document


class _Reader:
    """A reader of one document from the events of YAML's parser."""

    def __init__(self, text: str) -> None:
        self.lines: dict[Place, int] = {(): 1}
        self._events: Iterator[Any] = yaml.parse(text, LOADER)
        self._anchors: dict[str, tuple[Any, int]] = {}  # name -> value, and how many values it has
        self._count = 0

    def read(self) -> Any:
        """Return the document; None if there is none.

        Raises:
            yaml.YAMLError: the text has none that is allowed.
        """
        next(self._events)
        if isinstance(next(self._events), yaml.StreamEndEvent):
            return None
        document = self._value(next(self._events), ())
        next(self._events)
        if not isinstance(end := next(self._events), yaml.StreamEndEvent):
            raise _error(end, "a second document begins")
        return document

    def _value(self, event: Any, place: Place) -> Any:
        self.lines[place] = _line(event)
        self._count += 1
        before = self._count
        if isinstance(event, yaml.AliasEvent):
            return self._copy(event)
        if event.tag is not None:
            raise _error(event, f"tags such as {event.tag} are not allowed")
        if len(place) > DEEPEST:
            raise _error(event, "it is nested too deep")
        if isinstance(event, yaml.ScalarEvent):
            value = _scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = [
                self._value(item, (*place, number)) for number, item in enumerate(self._items(yaml.SequenceEndEvent))
            ]
        else:
            value = self._mapping(place)
        if event.anchor:
            self._anchors[event.anchor] = value, self._count - before + 1
        return value

    def _items(self, end: type) -> Iterator[Any]:
        return iter(lambda: None if isinstance(event := next(self._events), end) else event, None)

    def _mapping(self, place: Place) -> Document:
        values: Document = {}
        for event in self._items(yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent) or event.tag is not None:
                raise _error(event, "a key is a text")
            key = _scalar(event)
            if key in values:
                raise _error(event, f"the key {key} is repeated")
            values[key] = self._value(next(self._events), (*place, key))
            self.lines[*place, key] = _line(event)
        return values

    def _copy(self, alias: Any) -> Any:
        if alias.anchor not in self._anchors:
            raise _error(alias, f"no anchor {alias.anchor} stands before")
        value, count = self._anchors[alias.anchor]
        self._count += count
        if self._count > MOST:
            raise _error(alias, f"with this alias it has more than {MOST} values")
        return plain(value)


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _error(event: Any, problem: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)


def _scalar(event: Any) -> Any:
    text: str = event.value
    if not event.implicit[0]:  # quoted, or a block of text
        return text
    if text in WORDS:
        return WORDS[text]
    digits = text.replace("_", "")
    try:
        if WHOLE.fullmatch(text):
            return int(digits, BASES.get(text[:2], 10))
        return float(re.sub(r"\.(?=[inIN])", "", digits)) if NUMBER.fullmatch(text) else text
    except ValueError as error:
        raise _error(event, str(error)) from None


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
