"""Annotation files as they are written."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write_json(path: Path, document: Any) -> None:
    write(path, json.dumps(document, indent=1) + "\n")


def write_lines(path: Path, items: Iterable[Any]) -> None:
    write(path, "".join(json.dumps(item) + "\n" for item in items))


def write_rows(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    table = io.StringIO(newline="")
    writer = csv.writer(table, lineterminator="\n")
    writer.writerows([columns, *rows])
    write(path, table.getvalue())


def numbered(items: Iterable[Any]) -> dict[str, Any]:
    return {str(number): item for number, item in enumerate(items)}
