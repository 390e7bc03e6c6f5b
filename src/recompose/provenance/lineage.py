"""Lineage: of every cell the runs that made it, of every run what determined it and how it went."""

from pathlib import Path
from typing import Any

from recompose.digest import digest
from recompose.files import read_json, write_json
from recompose.plan import Recipe
from recompose.report.cells import Cell
from recompose.workspace import Workspace


def key_of(kind: str, recipe: Recipe) -> str:
    """How lineage calls what a store holds."""
    return f"{kind}/{recipe.folder}"


def _recipes(work: Workspace) -> dict[str, tuple[str, Recipe]]:
    runs = {key_of("runs", run): ("runs", run) for run in work.plan.runs}
    return runs | {key_of("index", recipe): ("index", recipe) for recipe in work.plan.datasets.values()}


def records_of(work: Workspace, cells: list[Cell]) -> dict[str, Any]:
    """The records of everything that cells were made from."""
    recipes = _recipes(work)
    keys = sorted({key for cell in cells for key in cell.made_from})
    return {key: work.store(recipes[key][0]).record(recipes[key][1]) for key in keys}


def watermarks(work: Workspace, cells: list[Cell]) -> list[str]:
    """What a reader has to know before trusting a table: missing seeds, mixed code, changed sources."""
    records = records_of(work, cells)
    missing = sorted({key for cell in cells for key in cell.expected} - set(records))
    marks = [f"incomplete: {len(missing)} runs are missing ({', '.join(missing)})"] if missing else []
    versions: dict[str, set[str]] = {}
    for record in records.values():
        for module, version in record["recipe"].get("code", {}).items():
            versions.setdefault(module, set()).add(version)
    mixed = sorted(module for module, found in versions.items() if len(found) > 1)
    if mixed:
        marks.append(f"mixed code: runs differ in {', '.join(mixed)}")
    dirty = [key for key, record in records.items() if record["made"]["dirty"] is not False]
    if dirty:
        marks.append(
            f"uncommitted sources: {len(dirty)} of {len(records)} were made from a changed or unknown working tree"
        )
    made = {name: {digest(record["made"][name]) for record in records.values()} for name in ("device", "packages")}
    return marks + [
        f"mixed {name}: not all of it was made with the same" for name, kinds in made.items() if len(kinds) > 1
    ]


def write_lineage(path: Path, work: Workspace, cells: list[Cell]) -> None:
    """Write the lineage of an artifact's measured cells, with all that is needed to tell of it without the results."""
    measured = [cell for cell in cells if cell.source == "measured"]
    document = {
        "cells": [
            {
                "row": cell.row,
                "column": cell.column,
                "view": cell.view,
                "measures": cell.measures,
                "text": cell.text,
                "value": cell.value,
                "spread": cell.spread,
                "n": cell.n,
                "aggregate": "mean and sample standard deviation over seeds"
                if cell.spread is not None
                else "single value",
                "made_from": list(cell.made_from),
                "missing": sorted(set(cell.expected) - set(cell.made_from)),
            }
            for cell in measured
        ],
        "records": records_of(work, measured),
    }
    write_json(path, document)


def read_lineage(path: Path) -> dict[str, Any]:
    """What ``write_lineage`` wrote, beside any file of the artifact.

    Raises:
        FileNotFoundError: there is no lineage beside that file.
    """
    lineage = path.with_name(path.name.split(".")[0] + ".lineage.json")
    if not lineage.exists():
        raise FileNotFoundError(f"{lineage} is missing: {path.name} is no artifact, or was not made here")
    document: dict[str, Any] = read_json(lineage)
    return document
