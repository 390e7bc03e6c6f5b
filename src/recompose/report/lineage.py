"""Lineage: of every cell the runs that made it, of every run what determined it and how it went."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recompose.digest import digest, sha256_file
from recompose.files import read_json, write_json
from recompose.plan import Recipe
from recompose.report.cells import Cell
from recompose.workspace import Workspace

SUFFIX = ".lineage.json"
NAMED = 3  # missing runs that a mark names


@dataclass(frozen=True)
class Mark:
    """What a reader has to know before trusting an artifact: a state, why, and the keys of what is concerned."""

    state: str  # incomplete, mixed, or uncommitted
    why: str
    keys: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The mark as people read it."""
        return f"{self.state}: {self.why}"


def key_of(kind: str, recipe: Recipe) -> str:
    """How lineage calls what a store holds."""
    return f"{kind}/{recipe.folder}"


def _recipes(work: Workspace) -> dict[str, tuple[str, Recipe]]:
    runs = {key_of("runs", run): ("runs", run) for run in work.plan.runs}
    return runs | {key_of("index", recipe): ("index", recipe) for recipe in work.plan.datasets.values()}


def records_of(work: Workspace, cells: Iterable[Cell]) -> dict[str, Any]:
    """The records of everything that cells were made from."""
    recipes = _recipes(work)
    keys = sorted({key for cell in cells for key in cell.made_from})
    return {key: work.store(recipes[key][0]).record(recipes[key][1]) for key in keys}


def watermarks(work: Workspace, cells: list[Cell]) -> list[str]:
    """The marks of an artifact of these cells, in words."""
    records = records_of(work, cells)
    missing = {key for cell in cells for key in cell.expected} - set(records)
    return [mark.text for mark in marks(records, missing)]


def marks(records: dict[str, Any], missing: Iterable[str]) -> Iterator[Mark]:
    """What speaks against an artifact that was made from these records: missing seeds, mixed code, changed sources."""
    if lacking := tuple(sorted(missing)):
        some = ", ".join(lacking[:NAMED]) + (", ..." if len(lacking) > NAMED else "")
        said = "1 run is" if len(lacking) == 1 else f"{len(lacking)} runs are"
        yield Mark("incomplete", f"{said} missing ({some})", lacking)
    versions: dict[str, dict[str, list[str]]] = {}
    for key, record in records.items():
        for module, version in record["recipe"].get("code", {}).items():
            versions.setdefault(module, {}).setdefault(version, []).append(key)
    mixed = {module: found for module, found in versions.items() if len(found) > 1}
    if mixed:
        yield Mark("mixed", f"runs differ in the code of {', '.join(sorted(mixed))}", _fewest(mixed.values()))
    dirty = tuple(key for key, record in records.items() if record["made"]["dirty"] is not False)
    if dirty:
        why = f"{len(dirty)} of {len(records)} were made from a changed or unknown working tree"
        yield Mark("uncommitted", why, dirty)
    for name in ("device", "packages"):
        found: dict[str, list[str]] = {}
        for key, record in records.items():
            found.setdefault(digest(record["made"][name]), []).append(key)
        if len(found) > 1:
            yield Mark("mixed", f"not all of it was made with the same {name}", _fewest([found]))


def _fewest(groups: Iterable[dict[str, list[str]]]) -> tuple[str, ...]:
    """Of each group of keys by version, all but the largest."""
    odd = (key for versions in groups for keys in sorted(versions.values(), key=len)[:-1] for key in keys)
    return tuple(sorted(set(odd)))


def cell_document(cell: Cell) -> dict[str, Any]:
    """A measured cell, as lineage has it."""
    return {
        "row": cell.row,
        "column": cell.column,
        "view": cell.view,
        "measures": list(cell.measures),
        "text": cell.text,
        "value": cell.value,
        "spread": cell.spread,
        "n": cell.n,
        "aggregate": "single value" if cell.spread is None else "mean and sample standard deviation over seeds",
        "made_from": list(cell.made_from),
        "values": list(cell.values),
        "missing": sorted(set(cell.expected) - set(cell.made_from)),
    }


def lineage_of(work: Workspace, cells: list[Cell]) -> dict[str, Any]:
    """The lineage of an artifact's measured cells, with all that is needed to tell of it without the results.

    ``measures`` says, for each method or variant and data set, which runs the plan asked for; of those that were missing ``wanted`` has the recipe.
    """
    measured = [cell for cell in cells if cell.source == "measured"]
    records = records_of(work, measured)
    names = sorted({name for cell in measured for name in cell.measures})
    planned = {(name, dataset): work.plan.runs_of(name, dataset) for name in names for dataset in work.plan.datasets}
    missing = [run for runs in planned.values() for run in runs if not work.runs.is_complete(run)]
    return {
        "datasets": [{"name": name, "digest": recipe.digest} for name, recipe in work.plan.datasets.items()],
        "cells": [cell_document(cell) for cell in measured],
        "measures": [
            {"name": name, "dataset": dataset, "runs": [key_of("runs", run) for run in runs]}
            for (name, dataset), runs in planned.items()
            if runs
        ],
        "records": records,
        "wanted": {key_of("runs", run): run.document for run in missing},
    }


def write_lineage(stem: Path, work: Workspace, cells: list[Cell], files: Iterable[Path]) -> None:
    """Write the lineage of an artifact beside its files, with the digests that these have as they are written."""
    document = lineage_of(work, cells)
    document["files"] = {path.name: sha256_file(path) for path in files}
    write_json(stem.with_name(stem.name + SUFFIX), document)


def lineage_path(path: Path) -> Path:
    """Where the lineage of an artifact is, given by any of its files."""
    return path.with_name(path.name.split(".")[0] + SUFFIX)


def read_lineage(path: Path) -> dict[str, Any]:
    """What ``write_lineage`` wrote, beside any file of the artifact.

    Raises:
        FileNotFoundError: there is no lineage beside that file.
    """
    lineage = lineage_path(path)
    if not lineage.exists():
        raise FileNotFoundError(f"{lineage} is missing: {path.name} is no artifact, or was not made here")
    document: dict[str, Any] = read_json(lineage)
    return document
