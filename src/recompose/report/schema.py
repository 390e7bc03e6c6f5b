"""What a lineage has to look like before anything relies on it: it is a file, and anybody may have written it."""

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError, model_validator

from recompose.digest import digest
from recompose.params import DatasetName
from recompose.plan import Recipe, Run
from recompose.report.lineage import key_of
from recompose.store import Form, Record, complaint

PARTS = ("datasets", "cells", "measures", "records", "wanted", "files")


class LineageError(ValueError):
    """A file is no lineage; ``state`` is what an audit calls it then."""

    state = "tampered"


class OtherFormError(LineageError):
    """A file is a lineage as other code writes it."""

    state = "stale"


class Named(Form):
    """What a recipe calls by name and digest."""

    name: str
    digest: str


class NamedDataset(Named):
    """A data set, by name and digest."""

    name: DatasetName


class RunRecipe(Form):
    """The recipe of a run."""

    method: str
    settings: dict[str, Any]
    dataset: NamedDataset
    backbone: Named | None
    features: Named | None = None
    checkpoint_of: Named | None = None
    seed: int
    code: dict[str, str]

    @model_validator(mode="after")
    def _backbone_comes_with_features(self) -> "RunRecipe":
        if bool(self.backbone) != bool(self.features):
            raise ValueError("it has a backbone without features, or features without a backbone")
        return self


class IndexRecipe(Form):
    """The recipe of a data set's index."""

    dataset: DatasetName
    code: dict[str, str]


class ShownRecord(Record):
    """The record of what cells were made from."""

    recipe: RunRecipe | IndexRecipe  # type: ignore[assignment]


class ShownCell(Form):
    """A measured cell."""

    row: str
    column: str
    view: str
    text: str
    aggregate: str
    value: float | None
    spread: float | None
    n: int | None
    measures: list[str]
    made_from: list[str]
    values: list[float]
    missing: list[str]


class Measured(Form):
    """What was asked for of a method or a variant on a data set."""

    name: str
    dataset: str
    runs: list[str]


class Lineage(Form):
    """A lineage: every run that it speaks of is described in it."""

    datasets: list[NamedDataset]
    cells: list[ShownCell]
    measures: list[Measured]
    records: dict[str, ShownRecord]
    wanted: dict[str, RunRecipe]
    files: dict[str, str]

    @model_validator(mode="after")
    def _everything_is_described(self) -> "Lineage":
        asked = {key for each in self.measures for key in each.runs}
        made = {key for cell in self.cells for key in cell.made_from}
        if unknown := sorted((asked - self.records.keys() - self.wanted.keys()) | (made - self.records.keys())):
            raise ValueError(f"it has no record of {unknown[0]}")
        measured = {key for cell in self.cells if cell.measures for key in (*cell.made_from, *cell.missing)}
        if odd := sorted(measured - asked):
            raise ValueError(f"it has cells of {odd[0]}, which nothing in it asks for")
        return self


def read_checked(path: Path) -> dict[str, Any]:
    """A lineage that can be relied on to look like one.

    Raises:
        LineageError: the file is none.
        OtherFormError: it lacks parts.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number)
    except (OSError, ValueError, RecursionError) as error:
        raise LineageError(f"it is no lineage: {error}") from None
    if not isinstance(found, dict):
        raise LineageError("it is no lineage: it holds no parts")
    if lacking := [part for part in PARTS if part not in found]:
        raise OtherFormError(f"it has no {', '.join(lacking)}: other code wrote it")
    try:
        Lineage.model_validate(found)
    except ValidationError as error:
        raise LineageError(f"it is no lineage: {complaint(error)}") from None
    _check_names(found["records"])
    return found


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number")


def _check_names(records: dict[str, dict[str, Any]]) -> None:
    """Make sure that records are called by what they are of.

    Raises:
        LineageError: one is not.
    """
    for key, record in records.items():
        if record["digest"] != digest(record["recipe"]) or key != key_of(*kind_and_recipe(record["recipe"])):
            raise LineageError(f"its record of {key} is of another recipe than its name says")


def kind_and_recipe(document: dict[str, Any]) -> tuple[str, Recipe]:
    """The recipe of a run or of an index, with the store that holds what it determines."""
    if "method" in document:
        return "runs", Run(document["method"], document)
    return "index", Recipe(document["dataset"], document)
