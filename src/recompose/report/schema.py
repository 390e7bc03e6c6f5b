"""What a lineage has to look like before anything relies on it: it is a file, and anybody may have written it."""

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError, model_validator

from recompose.digest import short
from recompose.errors import LineageError, OutdatedLineageError
from recompose.plan import described_identity
from recompose.report.lineage import with_codes
from recompose.store import Description, LenientModel, StoredFile, complaint

PARTS = ("track", "benchmarks", "cells", "asked", "records", "wanted", "metric_code", "codes", "files")


class ShownRecord(Description):
    """The record of what cells were made from."""

    inputs: dict[str, str]
    files: dict[str, StoredFile]


class ShownCell(LenientModel):
    """A measured cell."""

    row: str
    column: str
    view: str
    part: str
    benchmark: str
    metric: str
    names: list[str]
    text: str
    aggregate: str
    value: float | None
    spread: float | None
    n: int | None
    better: int
    made_from: list[str]
    values: list[float]
    missing: list[str]
    beside: list[str]


class Asked(LenientModel):
    """What was asked for of a method or a variant on a benchmark."""

    name: str
    benchmark: str
    evaluations: list[str]


class Lineage(LenientModel):
    """A lineage: everything that it speaks of is described in it."""

    track: str
    benchmarks: dict[str, str]
    cells: list[ShownCell]
    asked: list[Asked]
    records: dict[str, ShownRecord]
    wanted: dict[str, Description]
    metric_code: dict[str, str]
    files: dict[str, str]

    @model_validator(mode="after")
    def _everything_is_described(self) -> "Lineage":
        asked = {key for each in self.asked for key in each.evaluations}
        made = {key for cell in self.cells for key in cell.made_from}
        needed = {
            f"{need.kind}/{short(need.digest)}" for record in self.records.values() for need in record.needs.values()
        }
        if unknown := sorted(
            (asked - self.records.keys() - self.wanted.keys()) | ((made | needed) - self.records.keys())
        ):
            raise ValueError(f"it has no record of {unknown[0]}")
        measured = {key for cell in self.cells if cell.names for key in (*cell.made_from, *cell.missing)}
        if odd := sorted(measured - asked):
            raise ValueError(f"it has cells of {odd[0]}, which nothing in it asks for")
        return self


def read_checked(path: Path) -> dict[str, Any]:
    """A lineage that can be relied on to look like one.

    Raises:
        LineageError: the file is none.
        OutdatedLineageError: it lacks parts.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number)
    except (OSError, ValueError, RecursionError) as error:
        raise LineageError(f"it is no lineage: {error}") from None
    if not isinstance(document, dict):
        raise LineageError("it is no lineage: it holds no parts")
    if lacking := [part for part in PARTS if part not in document]:
        raise OutdatedLineageError(f"it has no {', '.join(lacking)}: other code wrote it")
    try:
        lineage = with_codes(document)
        Lineage.model_validate(lineage)
    except ValidationError as error:
        raise LineageError(f"it is no lineage: {complaint(error)}") from None
    except (KeyError, TypeError, AttributeError) as error:
        raise LineageError(f"it is no lineage: {type(error).__name__}: {error}") from None
    _check_names(lineage["records"] | lineage["wanted"])
    return lineage


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number")


def _check_names(records: dict[str, dict[str, Any]]) -> None:
    """Make sure that records are called by what they are of.

    Raises:
        LineageError: one is not.
    """
    for key, record in records.items():
        if record["digest"] != described_identity(record) or key != f"{record['kind']}/{short(record['digest'])}":
            raise LineageError(f"its record of {key} is of another recipe than its name says")
