"""The schema of lineage files: they are checked before use, since anybody may have written them."""

import json
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator

from recompose.digest import short
from recompose.errors import LineageError, OutdatedLineageError
from recompose.plan import described_identity
from recompose.report.lineage import expand_codes
from recompose.store import Description, LenientModel, StoredFile, complaint

PARTS = ("track", "benchmarks", "cells", "asked", "records", "wanted", "metric_code", "codes", "files")


class LineageRecord(Description):
    """The record of a recipe behind cells."""

    inputs: dict[str, str]
    files: dict[str, StoredFile]


class LineageCell(LenientModel):
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


class PlannedEvaluations(LenientModel):
    """The planned evaluations of a method or a variant on a benchmark."""

    name: str
    benchmark: str
    evaluations: list[str]


class Lineage(LenientModel):
    """A lineage: it describes everything that it refers to."""

    track: str
    benchmarks: dict[str, str]
    cells: list[LineageCell]
    planned: list[PlannedEvaluations] = Field(alias="asked")
    records: dict[str, LineageRecord]
    other_recipes: dict[str, Description] = Field(alias="wanted")
    metric_code: dict[str, str]
    files: dict[str, str]

    @model_validator(mode="after")
    def _check_references(self) -> "Lineage":
        planned = {key for entry in self.planned for key in entry.evaluations}
        made_from = {key for cell in self.cells for key in cell.made_from}
        needs = {
            f"{need.kind}/{short(need.digest)}" for record in self.records.values() for need in record.needs.values()
        }
        undescribed = planned - self.records.keys() - self.other_recipes.keys()
        if missing := undescribed | ((made_from | needs) - self.records.keys()):
            raise ValueError(f"it has no record of {min(missing)}")
        measured = {key for cell in self.cells if cell.names for key in (*cell.made_from, *cell.missing)}
        if unplanned := measured - planned:
            raise ValueError(f"it has cells of {min(unplanned)}, which is not among its planned evaluations")
        return self


def read_checked(path: Path) -> dict[str, Any]:
    """Read a lineage and check it against the schema.

    Raises:
        LineageError: the file is no valid lineage.
        OutdatedLineageError: it lacks parts.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"), parse_constant=_reject_constant)
    except (OSError, ValueError, RecursionError) as error:
        raise LineageError(f"invalid lineage: {error}") from None
    if not isinstance(document, dict):
        raise LineageError("invalid lineage: not a mapping")
    if missing := [part for part in PARTS if part not in document]:
        raise OutdatedLineageError(f"it has no {', '.join(missing)}: written by another version of the code")
    try:
        lineage = expand_codes(document)
        Lineage.model_validate(lineage)
    except ValidationError as error:
        raise LineageError(f"invalid lineage: {complaint(error)}") from None
    except (KeyError, TypeError, AttributeError) as error:
        raise LineageError(f"invalid lineage: {type(error).__name__}: {error}") from None
    _check_names(lineage["records"] | lineage["wanted"])
    return lineage


def _reject_constant(text: str) -> float:
    raise ValueError(f"{text} is no number")


def _check_names(records: dict[str, dict[str, Any]]) -> None:
    """Check that the key and the digest of each record match its content.

    Raises:
        LineageError: one does not match.
    """
    for key, record in records.items():
        if record["digest"] != described_identity(record) or key != f"{record['kind']}/{short(record['digest'])}":
            raise LineageError(f"its record of {key} describes another recipe")
