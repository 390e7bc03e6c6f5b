"""Reading annotation files that come from outside: JSON, lines of JSON, and CSV, as items that know where they stand.

Everything that is wrong with a file becomes one line with the file, the item and what to do. What is read is never
taken on trust: keys that stand twice, numbers that are none, texts that cannot be written in UTF-8, and names of images
that lead out of their folder are refused.
"""

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

from recompose.data.paths import is_inside
from recompose.errors import DataError
from recompose.tracks.vlc.data.suite import Box, Collector, Similarity

T = TypeVar("T")
Key: TypeAlias = str | int  # the name of a field, or the place of an entry in a list
Question: TypeAlias = tuple[int, list[int], int]  # what is asked of, its candidates, the place of the right one
VISUAL_GENOME, COCO, FLICKR30K = "images/vg", "images/coco", "images/flickr30k"  # folders that suites share
MEND = "mend the file, or put the published one in its place"

_EXACT = 2**53  # whole numbers below are floats without loss
_LONGEST_CELL = 2**24  # of CSV, in characters; the default, 2**17, is less than some suites' lists of captions
_KINDS: Mapping[type, str] = {str: "a text", int: "a whole number", dict: "an object", list: "a list"}


@dataclass(frozen=True, slots=True)
class Item:
    """An item of an annotation file, or a part of one."""

    file: Path
    name: str  # what messages call it
    fields: Mapping[Key, Any]  # by names, or by places where the file has a list

    def fault(self, what: str) -> DataError:
        """The error that says what is wrong with this item."""
        return fault(self.file, f"{self.name}: {what}")

    def get(self, key: Key, kind: type[T]) -> T:
        """A field of this kind; truth values are no numbers.

        Raises:
            DataError: there is none, or it is of another kind.
        """
        if key not in self.fields:
            raise self.fault(f"there is no {_called(key)}")
        value = self.fields[key]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.fault(f"{_called(key)} is not {_KINDS[kind]}")
        return value

    def text(self, key: Key) -> str:
        """A text that is more than blanks, as it stands in the file.

        Raises:
            DataError: there is none, it is empty, or holds what UTF-8 cannot write.
        """
        value = self.get(key, str)
        if not value.strip():
            raise self.fault(f"{_called(key)} is empty")
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise self.fault(f"{_called(key)} holds half a character")
        return value

    def texts(self, key: Key, count: int | None = None) -> list[str]:
        """A list of texts, none of them empty: at least one, or as many as are said.

        Raises:
            DataError: it is no such list.
        """
        entries = self.part(key, list)
        if not entries.fields or count not in (None, len(entries.fields)):
            raise self.fault(f"{_called(key)} has {len(entries.fields)} entries, not {count or 'one or more'}")
        return [entries.text(place) for place in entries.fields]

    def whole(self, key: Key, below: int | None = None) -> int:
        """A whole number from 0, written as a number or, as in CSV, as text.

        Raises:
            DataError: it is none, or not below the one that is said.
        """
        number = self.number(key)
        if number != int(number) or not 0 <= number < (_EXACT if below is None else below):
            limit = "" if below is None else f" below {below}"
            raise self.fault(f"{_called(key)} is {number:g}, not a whole number from 0{limit}")
        return int(number)

    def number(self, key: Key) -> float:
        """A finite number, written as a number or, as in CSV, as text.

        Raises:
            DataError: it is none.
        """
        if key not in self.fields:
            raise self.fault(f"there is no {_called(key)}")
        value = self.fields[key]
        try:
            number = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise self.fault(f"{_called(key)} is not a number")
        return number

    def part(self, key: Key, kind: type[dict[str, Any]] | type[list[Any]]) -> "Item":
        """An object or a list within this item.

        Raises:
            DataError: there is none.
        """
        return _item(self.file, f"{self.name}, {_called(key)}", self.get(key, kind))

    def path(self, key: Key, folder: str) -> str:
        """The path below the root of raw files of the image that a field names below a folder.

        Raises:
            DataError: there is no name, or it leads out of the folder.
        """
        return self.below(folder, self.text(key))

    def below(self, folder: str, name: str) -> str:
        """The path below the root of raw files of an image with this name.

        Raises:
            DataError: the name leads out of the folder.
        """
        if not is_inside(name):
            raise self.fault(f"the image {name!r} lies outside of its folder {folder}")
        return f"{folder}/{name}"

    def box(self, left: Key, top: Key, width: Key, height: Key) -> Box:
        """The box of a corner and two sides, rounded to whole pixels like Pillow's ``crop``.

        It may reach beyond the image: what is there is black, as in the released loaders, all of which crop so.

        Raises:
            DataError: a number is none, or the box holds no pixel.
        """
        x, y, w, h = (self.number(key) for key in (left, top, width, height))
        box = (round(x), round(y), round(x + w), round(y + h))
        if box[2] <= box[0] or box[3] <= box[1]:
            raise self.fault(f"the box at {x:g}, {y:g} of {w:g} x {h:g} pixels is empty")
        return box


def fault(file: Path, what: str) -> DataError:
    """The error that says what is wrong with an annotation file, and what to do."""
    return DataError(f"{file}, {what}; {MEND}")


def needed(lacking: str, layout: str) -> DataError:
    """The error that says what is not there, and what the format needs where."""
    return DataError(f"{lacking}; what has to be there: {'; '.join(layout.splitlines())}")


def read_document(path: Path, layout: str) -> Any:
    """The content of a JSON file.

    Args:
        path: the file.
        layout: what the format needs where, said if there is no such file.

    Raises:
        DataError: there is no file, or it is not JSON.
    """
    return _parsed(_content(path, layout), path, "")


def read_items(path: Path, layout: str) -> list[Item]:
    """The items of a JSON file: a list of objects or of lists, or an object of them, whose keys then name them.

    Raises:
        DataError: there is no file, it is not JSON, of another form, or empty.
    """
    return items(read_document(path, layout), path)


def items(document: Any, path: Path, within: str = "") -> list[Item]:
    """The items of a part of a JSON file.

    Args:
        document: a list of objects or of lists, or an object of them.
        path: the file.
        within: what messages call the part.

    Raises:
        DataError: it is of another form, or empty.
    """
    where = f"{within}, " if within else ""
    if isinstance(document, Mapping):
        found = [_item(path, f"{where}item {name!r}", value) for name, value in document.items()]
    elif isinstance(document, list):
        found = [_item(path, f"{where}item {number}", value) for number, value in enumerate(document, start=1)]
    else:
        raise fault(path, f"{where}expected a list of items or an object")
    return filled(found, path, within)


def read_lines(path: Path, layout: str) -> list[Item]:
    """The items of a file with one JSON object a line; blank lines are none.

    Raises:
        DataError: there is no file, a line is no JSON object, or there are none.
    """
    lines = [(number, line) for number, line in enumerate(_content(path, layout).split("\n"), start=1) if line.strip()]
    found = [_item(path, f"line {number}", _parsed(line, path, f"line {number}: ")) for number, line in lines]
    return filled(found, path)


def read_rows(path: Path, layout: str, columns: Iterable[str]) -> list[Item]:
    """The rows of a CSV file with a header; what they hold is text.

    Args:
        path: the file.
        layout: what the format needs where, said if there is no such file.
        columns: those that must be there.

    Raises:
        DataError: there is no file, it is not CSV, lacks a column, has a row of another length, or no rows.
    """
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(io.StringIO(_content(path, layout), newline=""), strict=True)
    found = []
    try:
        header = next(reader, [])
        missing = [column for column in columns if column not in header]
        if missing:
            raise fault(path, f"line 1: there is no column {missing[0]!r}")
        if len(set(header)) != len(header):
            raise fault(path, "line 1: a column stands twice")
        for number, cells in enumerate(filter(None, reader), start=1):
            if len(cells) != len(header):
                raise fault(path, f"row {number}: {len(cells)} cells in {len(header)} columns")
            found.append(Item(path, f"row {number}", dict(zip(header, cells, strict=True))))
    except csv.Error as error:
        raise fault(path, f"line {reader.line_num}: not CSV ({error})") from None
    return filled(found, path)


def read_tabbed(path: Path, layout: str, columns: Sequence[str], *, header: bool) -> list[Item]:
    """The rows of a table whose cells are parted by tabs; quotes are letters like others, blank lines are none.

    Args:
        path: the file.
        layout: what the format needs where, said if there is no such file.
        columns: those that must be there; without a header the first ones, in this order.
        header: whether the first line names the columns.

    Raises:
        DataError: there is no file, it lacks a column, has a row of another length, or no rows.
    """
    lines = [(number, line.rstrip("\r")) for number, line in enumerate(_content(path, layout).split("\n"), start=1)]
    cells = [(number, line.split("\t")) for number, line in lines if line.strip()]
    names = [name.strip() for name in cells.pop(0)[1]] if header and cells else list(columns)
    missing = [column for column in columns if column not in names]
    if missing:
        raise fault(path, f"line 1: there is no column {missing[0]!r}")
    found = []
    for number, row in cells:
        if len(row) < len(names) or (header and len(row) > len(names)):
            raise fault(path, f"line {number}: {len(row)} cells in {len(names)} columns")
        found.append(Item(path, f"line {number}", dict(zip(names, row, strict=False))))
    return filled(found, path)


def graded(
    rows: Sequence[Item], first: str, second: str, grade: str, grades: tuple[float, float], collector: Collector
) -> Similarity:
    """Pairs of sentences with their grades.

    Args:
        rows: one for each pair.
        first: the field of a sentence.
        second: that of the other.
        grade: that of the grade.
        grades: the lowest and the highest that there is.
        collector: of texts.

    Raises:
        DataError: a row lacks a sentence, or has a grade that there is not.
    """
    texts = [[collector.text(row.text(key).strip()) for row in rows] for key in (first, second)]
    given = [row.number(grade) for row in rows]
    for row, number in zip(rows, given, strict=True):
        if not grades[0] <= number <= grades[1]:
            raise row.fault(f"{_called(grade)} is {number:g}, not a grade from {grades[0]:g} to {grades[1]:g}")
    numbers = np.array(texts, dtype=np.int64)
    return Similarity(numbers[0], numbers[1], np.array(given, dtype=np.float64))


def filled(found: Sequence[T], path: Path, within: str = "") -> list[T]:
    """What a file, or a part of it, holds, which has to be something.

    Raises:
        DataError: it is nothing.
    """
    if not found:
        raise fault(path, f"{within + ', ' if within else ''}holds no items")
    return list(found)


def distinct(found: Sequence[Item], key: Key) -> None:
    """Check that no two items have the same id.

    Raises:
        DataError: two have.
    """
    first: dict[str, Item] = {}
    for item in found:
        name = str(item.text(key) if isinstance(item.fields.get(key), str) else item.whole(key))
        if name in first:
            raise item.fault(f"{_called(key)} {name!r} is that of {first[name].name}, too")
        first[name] = item


def _called(key: Key) -> str:
    return f"entry {key + 1}" if isinstance(key, int) else f"field {key!r}"


def _item(path: Path, name: str, value: Any) -> Item:
    if isinstance(value, Mapping):
        return Item(path, name, value)
    if isinstance(value, list):
        return Item(path, name, dict(enumerate(value)))
    raise fault(path, f"{name}: neither an object nor a list")


def _content(path: Path, layout: str) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        raise needed(f"{path} is absent", layout) from None
    except UnicodeDecodeError as error:
        raise fault(path, f"byte {error.start + 1}: not UTF-8") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}; see to it that it can") from None


def _parsed(text: str, path: Path, where: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        place = where or f"line {error.lineno}: "
        raise fault(path, f"{place}not JSON ({error.msg})") from None
    except RecursionError:
        raise fault(path, f"{where}not JSON that can be read: too many lists in lists") from None
    except ValueError as error:
        raise fault(path, f"{where}{error}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return fields


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not a number of JSON")
