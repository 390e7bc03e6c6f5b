"""Writers of annotation files."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


def write(path: Path, text: str) -> None:
    """Write a text, and create its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write_json(path: Path, document: Any) -> None:
    """Write a document as JSON."""
    write(path, json.dumps(document, indent=1) + "\n")


def write_lines(path: Path, items: Iterable[Any]) -> None:
    """Write items as lines of JSON."""
    write(path, "".join(json.dumps(item) + "\n" for item in items))


def write_rows(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows as CSV with a header."""
    table = io.StringIO(newline="")
    writer = csv.writer(table, lineterminator="\n")
    writer.writerows([columns, *rows])
    write(path, table.getvalue())


def number_items(items: Iterable[Any]) -> dict[str, object]:
    """Return items by their numbers as text."""
    return {str(number): item for number, item in enumerate(items)}
