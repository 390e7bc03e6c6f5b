"""Readers of external annotation files: JSON, lines of JSON, and CSV, as items that know their position.

Each error is one line with the file, the item and the remedy. No content is trusted: duplicate keys, malformed numbers,
texts that UTF-8 cannot encode, and names of images outside their folder are errors.
"""

import ast
import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from recompose.data.paths import is_inside
from recompose.data.pictures import Box, Picture
from recompose.errors import DataError, MissingFilesError
from recompose.files import read_text

T = TypeVar("T")
Key: TypeAlias = str | int  # the name of a field, or the position of an entry in a list
Image: TypeAlias = Picture | str  # a picture, or the path of a whole one
# the query, its candidates, the position of the right one; an image among texts, or a text among images
Question: TypeAlias = tuple[Image, Sequence[Image], int]
VISUAL_GENOME, COCO, FLICKR30K = "images/vg", "images/coco", "images/flickr30k"  # folders that suites share
MEND = "correct the file, or replace it with the published one"

_EXACT = 2**53  # whole numbers below it are exact as floats
_LONGEST_CELL = 2**24  # of CSV, in characters; some suites' lists of captions exceed the default, 2**17
_KINDS: Mapping[type, str] = {str: "a text", int: "a whole number", dict: "an object", list: "a list"}


@dataclass(frozen=True, slots=True)
class AnnotationItem:
    """An item of an annotation file, or a part of one.

    A method raises DataError for a field that is missing or malformed.
    """

    file: Path
    name: str  # its name in messages
    fields: Mapping[Key, Any]  # by name, or by position in a list

    def fault(self, code: str, message: str) -> DataError:
        """Return the error of this item."""
        return fault(self.file, code, message, self.name)

    def field_fault(self, key: Key, code: str, message: str) -> DataError:
        """Return the error of a field of this item."""
        return fault(self.file, code, f"{_field_name(key)} {message}", self.name, _field_name(key))

    def value(self, key: Key) -> Any:
        """Return a field."""
        if key not in self.fields:
            raise fault(self.file, "missing-field", f"there is no {_field_name(key)}", self.name, _field_name(key))
        return self.fields[key]

    def get(self, key: Key, kind: type[T]) -> T:
        """Return a field of this kind; truth values are no numbers."""
        value = self.value(key)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.field_fault(key, "wrong-kind", f"is not {_KINDS[kind]}")
        return value

    def text(self, key: Key) -> str:
        """Return a text that is not blank and that UTF-8 can encode, unchanged."""
        value = self.get(key, str)
        if not value.strip():
            raise self.field_fault(key, "empty-text", "is empty")
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise self.field_fault(key, "half-character", "holds half a character")
        return value

    def texts(self, key: Key, count: int | None = None) -> list[str]:
        """Return a list of texts, none of them empty: at least one, or ``count``."""
        entries = self.part(key, list)
        if not entries.fields or count not in (None, len(entries.fields)):
            message = f"has {len(entries.fields)} entries, not {count or 'one or more'}"
            raise self.field_fault(key, "wrong-count", message)
        return entries.all_texts()

    def all_texts(self) -> list[str]:
        """Return all fields, which are texts; there may be none."""
        return list(map(self.text, self.fields))

    def whole(self, key: Key, limit: int | None = None) -> int:
        """Return a whole number from 0, below the limit, written as a number or, as in CSV, as text."""
        number = self.number(key)
        if number != int(number) or not 0 <= number < (_EXACT if limit is None else limit):
            bound = "" if limit is None else f" below {limit}"
            raise self.field_fault(key, "wrong-number", f"is {number:g}, not a whole number from 0{bound}")
        return int(number)

    def number(self, key: Key) -> float:
        """Return a finite number, written as a number or, as in CSV, as text."""
        value = self.value(key)
        try:
            number = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise self.field_fault(key, "no-number", "is not a number")
        return number

    def part(self, key: Key, kind: type[dict[str, Any]] | type[list[Any]]) -> "AnnotationItem":
        """Return an object or a list within this item."""
        return _item(self.file, f"{self.name}, {_field_name(key)}", self.get(key, kind))

    def literal(self, key: Key) -> "AnnotationItem":
        """Return this item with a list in a field, which the text there is as Python writes it; a set is sorted."""
        try:
            value = ast.literal_eval(self.text(key))
            value = sorted(value) if isinstance(value, set) else value
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            value = None
        if not isinstance(value, list):
            raise self.field_fault(key, "wrong-kind", "is neither a list nor a set as Python writes it")
        return AnnotationItem(self.file, self.name, {**self.fields, key: value})

    def path(self, key: Key, folder: str) -> str:
        """Return the path below the root of raw files of the image that a field names below a folder."""
        return self.image_path(folder, self.text(key))

    def image_path(self, folder: str, name: str) -> str:
        """Return the path of an image of this name, below the root of raw files; the name must stay in the folder."""
        if not is_inside(name):
            raise self.fault("outside-folder", f"the image {name!r} lies outside of its folder {folder}")
        return f"{folder}/{name}"

    def box(self, left: Key, top: Key, width: Key, height: Key) -> Box:
        """Return the box of a corner and two sides, rounded to whole pixels like Pillow's ``crop``.

        It may reach beyond the image: that part is black, as in the released loaders, all of which crop so.
        """
        x, y, w, h = (self.number(key) for key in (left, top, width, height))
        box = (round(x), round(y), round(x + w), round(y + h))
        if box[2] <= box[0] or box[3] <= box[1]:
            raise self.fault("empty-box", f"the box at {x:g}, {y:g} of {w:g} x {h:g} pixels is empty")
        return box


def fault(file: Path, code: str, message: str, part: str = "", field: str = "") -> DataError:
    """Return the error of an annotation file, or of a part of it and its field, with the remedy."""
    where = f"{file}, {part}:" if part else f"{file},"
    return DataError(f"{where} {message}; {MEND}", code=code, place=", ".join(filter(None, (str(file), part, field))))


def missing_error(path: Path, fault: str, layout: str, code: str = "missing-file") -> MissingFilesError:
    """Return the error of a path where a file is missing, with the files that the format requires."""
    return MissingFilesError(f"{path} {fault}", layout, code=code, place=path)


def read_document(path: Path, layout: str) -> Any:
    """Return the content of a JSON file.

    Args:
        path: the file.
        layout: the files that the format requires, for the error.

    Raises:
        DataError: the file is missing or not JSON.
    """
    return _parsed(read_content(path, layout), path, "")


def read_object(path: Path, layout: str) -> AnnotationItem:
    """Return the content of a JSON file that is an object.

    Raises:
        DataError: the file is missing, not JSON, or another value.
    """
    return AnnotationItem(path, "the file", {"content": read_document(path, layout)}).part("content", dict)


def read_items(path: Path, layout: str) -> list[AnnotationItem]:
    """Return the items of a JSON file: a list of objects or of lists, or an object of them, whose keys then name them.

    Raises:
        DataError: the file is missing, not JSON, of another form, or empty.
    """
    return items(read_document(path, layout), path)


def items(document: Any, path: Path, within: str = "") -> list[AnnotationItem]:
    """Return the items of a part of a JSON file.

    Args:
        document: a list of objects or of lists, or an object of them.
        path: the file.
        within: the name of the part in messages.

    Raises:
        DataError: it is of another form, or empty.
    """
    where = f"{within}, " if within else ""
    if isinstance(document, Mapping):
        entries = [_item(path, f"{where}item {name!r}", value) for name, value in document.items()]
    elif isinstance(document, list):
        entries = [_item(path, f"{where}item {number}", value) for number, value in enumerate(document, start=1)]
    else:
        raise fault(path, "wrong-kind", f"{where}expected a list of items or an object")
    return require_items(entries, path, within)


def read_lines(path: Path, layout: str) -> list[AnnotationItem]:
    """Return the items of a file with one JSON object a line; blank lines are skipped.

    Raises:
        DataError: the file is missing, a line is no JSON object, or there is no line.
    """
    lines = [(f"line {number}", line) for number, line in read_text_lines(path, layout)]
    parsed = [_item(path, name, _parsed(line, path, name)) for name, line in lines]
    return require_items(parsed, path)


def read_text_lines(path: Path, layout: str) -> list[tuple[int, str]]:
    """Return the lines of a file that are not blank, each with its number, from 1."""
    numbered = enumerate(read_content(path, layout).split("\n"), start=1)
    return [(number, line.rstrip("\r")) for number, line in numbered if line.strip()]


def read_rows(path: Path, layout: str, columns: Iterable[str], delimiter: str = ",") -> list[AnnotationItem]:
    """Return the rows of a CSV file with a header; values are text.

    Args:
        path: the file.
        layout: the files that the format requires, for the error.
        columns: the required columns.
        delimiter: of cells.

    Raises:
        DataError: the file is missing, is not CSV, lacks a column, has a row of another length, or no rows.
    """
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(io.StringIO(read_content(path, layout), newline=""), strict=True, delimiter=delimiter)
    rows = []
    try:
        header = next(reader, [])
        _require_columns(columns, header, path)
        if len(set(header)) != len(header):
            raise fault(path, "duplicate-name", "a column occurs twice", "line 1")
        for number, cells in enumerate(filter(None, reader), start=1):
            if len(cells) != len(header):
                raise _wrong_length(path, f"row {number}", cells, header)
            rows.append(AnnotationItem(path, f"row {number}", dict(zip(header, cells, strict=True))))
    except csv.Error as error:
        raise fault(path, "no-csv", f"not CSV ({error})", f"line {reader.line_num}") from None
    return require_items(rows, path)


def read_tabbed(path: Path, layout: str, columns: Sequence[str], *, header: bool) -> list[AnnotationItem]:
    """Return the rows of a table with tabs between cells; quotes are ordinary characters, blank lines are skipped.

    Args:
        path: the file.
        layout: the files that the format requires, for the error.
        columns: the required columns; without a header the first ones, in this order.
        header: whether the first line names the columns.

    Raises:
        DataError: the file is missing, lacks a column, has a row of another length, or no rows.
    """
    cells = [(number, line.split("\t")) for number, line in read_text_lines(path, layout)]
    names = [name.strip() for name in cells.pop(0)[1]] if header and cells else list(columns)
    _require_columns(columns, names, path)
    rows = []
    for number, row in cells:
        if len(row) < len(names) or (header and len(row) > len(names)):
            raise _wrong_length(path, f"line {number}", row, names)
        rows.append(AnnotationItem(path, f"line {number}", dict(zip(names, row, strict=False))))
    return require_items(rows, path)


def require_items(entries: Sequence[T], path: Path, within: str = "") -> list[T]:
    """Return the items of a file, or of a part of it, after a check that there are some.

    Raises:
        DataError: there is none.
    """
    if not entries:
        raise fault(path, "no-items", "holds no items", within)
    return list(entries)


def check_distinct(entries: Sequence[AnnotationItem], key: Key) -> None:
    """Check that no two items have the same id.

    Raises:
        DataError: two have.
    """
    first: dict[str, AnnotationItem] = {}
    for item in entries:
        name = str(item.text(key) if isinstance(item.fields.get(key), str) else item.whole(key))
        if name in first:
            raise item.field_fault(key, "duplicate-name", f"{name!r} is also that of {first[name].name}")
        first[name] = item


def _field_name(key: Key) -> str:
    return f"entry {key + 1}" if isinstance(key, int) else f"field {key!r}"


def _item(path: Path, name: str, value: Any) -> AnnotationItem:
    if isinstance(value, Mapping):
        return AnnotationItem(path, name, value)
    if isinstance(value, list):
        return AnnotationItem(path, name, dict(enumerate(value)))
    raise fault(path, "wrong-kind", "neither an object nor a list", name)


def _require_columns(columns: Iterable[str], header: Sequence[str], path: Path) -> None:
    for column in columns:
        if column not in header:
            raise fault(path, "missing-field", f"there is no column {column!r}", "line 1")


def _wrong_length(path: Path, place: str, cells: Sequence[str], header: Sequence[str]) -> DataError:
    return fault(path, "wrong-count", f"{len(cells)} cells in {len(header)} columns", place)


def read_content(path: Path, layout: str) -> str:
    """Return the text of an annotation file.

    Raises:
        DataError: it is missing or not readable.
    """
    try:
        return read_text(path, newline="")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        raise missing_error(path, "is absent", layout) from None
    except OSError as error:
        message = f"{path} is not readable: {error.strerror}; check its permissions"
        raise DataError(message, code="unreadable-file", place=path) from None


def _parsed(text: str, path: Path, part: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise fault(path, "no-json", f"not JSON ({error.msg})", part or f"line {error.lineno}") from None
    except RecursionError:
        raise fault(path, "no-json", "JSON with too many lists in lists", part) from None
    except ValueError as error:
        raise fault(path, "no-json", str(error), part) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} occurs twice in one object")
    return fields


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number of JSON")
