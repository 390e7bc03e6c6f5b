"""Lineage: the evaluations behind every cell of an artifact, and the whole chain of recipes behind each of them.

A lineage holds what determines a number and the digests of its files. It holds nothing that differs between two builds
of the same recipe: time, host, commit and duration are in ``made.json``.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from recompose.digest import digest, sha256_file, short
from recompose.exhibits.cells import Cell
from recompose.files import read_json, write_json
from recompose.fingerprint import fingerprint
from recompose.plan import Recipe, closure
from recompose.report.results import StoredResults
from recompose.store import VOLATILE
from recompose.tracks import TRACKS

SUFFIX = ".lineage.json"
Record = dict[str, Any]
CellDocument = dict[str, Any]


def stable_record(record: Mapping[str, Any]) -> Record:
    """Return the parts of a stored record that are equal in all builds of the recipe."""
    files = {name: file for name, file in record["files"].items() if name not in VOLATILE}
    parts = ("kind", "name", "track", "labels", "digest", "document", "needs", "code", "inputs")
    return {**{part: record[part] for part in parts}, "files": files}


def cell_document(cell: Cell) -> CellDocument:
    """Return a measured cell as lineage stores it."""
    return {
        "row": cell.row,
        "column": cell.column,
        "view": cell.view,
        "part": cell.part,
        "benchmark": cell.benchmark,
        "metric": cell.metric,
        "names": list(cell.names),
        "text": cell.text,
        "value": cell.value,
        "spread": cell.spread,
        "n": cell.n,
        "better": cell.better,
        "aggregate": _aggregate(cell),
        "made_from": list(cell.made_from),
        "values": list(cell.values),
        "missing": sorted(set(cell.expected) - set(cell.made_from)),
        "beside": list(cell.beside),
    }


def _aggregate(cell: Cell) -> str:
    """Return how a cell's value follows from the values of its evaluations."""
    if cell.part == "estimate" or (cell.spread is None and len(cell.names) > 1 and not cell.part):
        return "difference of means over seeds"
    return "single value" if cell.spread is None else "mean and sample standard deviation over seeds"


def lineage_of(
    results: StoredResults, track: str, cells: Iterable[Cell], evaluations: Mapping[tuple[str, str], list[Recipe]]
) -> dict[str, Any]:
    """Return the lineage of measured cells, complete enough to explain them without the results.

    ``asked`` lists the planned evaluations of each method or variant and benchmark. ``records`` holds the records of
    the complete evaluations of the artifact and of everything behind them; ``wanted`` holds the recipes of all other
    planned evaluations, complete or not.

    Args:
        results: of the workspace.
        track: the paper's.
        cells: of an artifact.
        evaluations: of the artifact, by method or variant and benchmark; also those of methods that have none of its
            metrics, and so no cell.
    """
    measured = [cell for cell in cells if cell.source == "measured"]
    planned = {place: results.planned(track, *place) for place in evaluations}
    complete = [recipe for recipes in evaluations.values() for recipe in recipes if results.is_complete(recipe)]
    keys = {recipe.key for recipe in complete}
    undescribed = [recipe for recipes in planned.values() for recipe in recipes if recipe.key not in keys]
    made_from = (results.recipe(key) for cell in measured for key in cell.made_from)
    described = list(closure([*made_from, *complete]))
    return {
        "track": track,
        "benchmarks": {name: results.data(track, name).key for name in results.benchmarks(track)},
        "cells": [cell_document(cell) for cell in measured],
        "asked": [
            {"name": name, "benchmark": benchmark, "evaluations": [recipe.key for recipe in recipes]}
            for (name, benchmark), recipes in planned.items()
            if recipes
        ],
        "records": {
            recipe.key: stable_record(results.record(recipe)) for recipe in described if results.is_complete(recipe)
        },
        "wanted": {recipe.key: recipe.description() for recipe in closure(undescribed)},
        "metric_code": fingerprint(TRACKS[track].metric_code),
    }


def write_lineage(stem: Path, lineage: dict[str, Any], files: Iterable[Path]) -> None:
    """Write the lineage of an artifact beside its files, with the digests of these files.

    Most runs have the same code: each version of it is written once.
    """
    codes: dict[str, Any] = {}
    document = dict(lineage)
    for part in ("records", "wanted"):
        document[part] = {
            key: {**record, "code": _add_code(record["code"], codes)} for key, record in lineage[part].items()
        }
    document["codes"] = codes
    document["files"] = {path.name: sha256_file(path) for path in files}
    write_json(stem.with_name(stem.name + SUFFIX), document)


def _add_code(code: Mapping[str, str], codes: dict[str, Any]) -> str:
    name = short(digest(dict(code)))
    codes[name] = dict(code)
    return name


def expand_codes(document: dict[str, Any]) -> dict[str, Any]:
    """Return a stored lineage with its code in every record, as it was before ``write_lineage``."""
    codes = document["codes"]
    expanded = {
        part: {key: {**record, "code": codes[record["code"]]} for key, record in document[part].items()}
        for part in ("records", "wanted")
    }
    return {name: value for name, value in document.items() if name != "codes"} | expanded


def lineage_path(path: Path) -> Path:
    """Return the path of the lineage of an artifact, given any of its files."""
    return path.with_name(path.name.split(".")[0] + SUFFIX)


def read_lineage(path: Path) -> dict[str, Any]:
    """Read the lineage beside any file of an artifact.

    Raises:
        FileNotFoundError: there is no lineage beside that file.
    """
    lineage = lineage_path(path)
    if not lineage.exists():
        raise FileNotFoundError(f"{lineage} is missing: {path.name} is no artifact, or was not made here")
    return expand_codes(read_json(lineage))


def record_closure(records: Mapping[str, Record], keys: Iterable[str]) -> Iterator[str]:
    """Yield these keys and those of everything that they were made from, each once, needs first."""
    visited: set[str] = set()

    def walk(key: str) -> Iterator[str]:
        if key in visited or key not in records:
            return
        visited.add(key)
        for need in records[key]["needs"].values():
            yield from walk(f"{need['kind']}/{short(need['digest'])}")
        yield key

    for key in keys:
        yield from walk(key)
