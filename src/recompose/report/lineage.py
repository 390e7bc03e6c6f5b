"""Lineage: of every cell of an artifact the evaluations that made it, and of each the whole chain of what determined
it.

A lineage holds what determines a number and what it came to, and nothing that differs from one making to another of the
same: when, where, on which commit and how long stands in ``made.json``.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from recompose.digest import digest, sha256_file, short
from recompose.files import read_json, write_json
from recompose.fingerprint import fingerprint
from recompose.plan import Recipe, closure
from recompose.report.cells import Cell
from recompose.report.results import Results
from recompose.store import VOLATILE
from recompose.tracks import TRACKS

SUFFIX = ".lineage.json"
Record = dict[str, Any]


def shown_record(record: Mapping[str, Any]) -> Record:
    """Of a stored record what is the same whenever and wherever the same is made."""
    files = {name: file for name, file in record["files"].items() if name not in VOLATILE}
    parts = ("kind", "name", "track", "labels", "digest", "document", "needs", "code", "inputs")
    return {**{part: record[part] for part in parts}, "files": files}


def cell_document(cell: Cell) -> dict[str, Any]:
    """A measured cell, as lineage has it."""
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
    """What a cell's value is of the values behind it."""
    if cell.part == "estimate" or (cell.spread is None and len(cell.names) > 1 and not cell.part):
        return "difference of means over seeds"
    return "single value" if cell.spread is None else "mean and sample standard deviation over seeds"


def lineage_of(
    results: Results, track: str, cells: Iterable[Cell], shown: Mapping[tuple[str, str], list[Recipe]]
) -> dict[str, Any]:
    """The lineage of measured cells, with all that is needed to tell of them without the results.

    ``asked`` says, for each method or variant and benchmark, which evaluations the plan asks for. Of those that are
    shown and there ``records`` has the record, of all others ``wanted`` has the recipe, whether they are there or not.

    Args:
        results: of the workspace.
        track: the paper's.
        cells: of an artifact.
        shown: the evaluations that it is made from, by method or variant and benchmark; also those of methods that have
            none of its metrics, and so no cell.
    """
    measured = [cell for cell in cells if cell.source == "measured"]
    planned = {place: results.planned(track, *place) for place in shown}
    there = [each for evaluations in shown.values() for each in evaluations if results.is_complete(each)]
    keys = {each.key for each in there}
    others = [each for evaluations in planned.values() for each in evaluations if each.key not in keys]
    behind = list(closure([*(results.recipe(key) for cell in measured for key in cell.made_from), *there]))
    return {
        "track": track,
        "benchmarks": {name: results.data(track, name).key for name in results.benchmarks(track)},
        "cells": [cell_document(cell) for cell in measured],
        "asked": [
            {"name": name, "benchmark": benchmark, "evaluations": [each.key for each in asked]}
            for (name, benchmark), asked in planned.items()
            if asked
        ],
        "records": {
            recipe.key: shown_record(results.record(recipe)) for recipe in behind if results.is_complete(recipe)
        },
        "wanted": {recipe.key: recipe.description() for recipe in closure(others)},
        "metric_code": fingerprint(TRACKS[track].metric_code),
    }


def write_lineage(stem: Path, lineage: dict[str, Any], files: Iterable[Path]) -> None:
    """Write the lineage of an artifact beside its files, with the digests that these have as they are written.

    The code of runs is alike in most of them: each version of it is written once.
    """
    codes: dict[str, Any] = {}
    document = dict(lineage)
    for part in ("records", "wanted"):
        document[part] = {key: {**of, "code": _noted(of["code"], codes)} for key, of in lineage[part].items()}
    document["codes"] = codes
    document["files"] = {path.name: sha256_file(path) for path in files}
    write_json(stem.with_name(stem.name + SUFFIX), document)


def _noted(code: Mapping[str, str], codes: dict[str, Any]) -> str:
    name = short(digest(dict(code)))
    codes[name] = dict(code)
    return name


def with_codes(document: dict[str, Any]) -> dict[str, Any]:
    """A lineage as it was before it was written, with its code in every record."""
    codes = document["codes"]
    expanded = {
        part: {key: {**of, "code": codes[of["code"]]} for key, of in document[part].items()}
        for part in ("records", "wanted")
    }
    return {name: value for name, value in document.items() if name != "codes"} | expanded


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
    return with_codes(read_json(lineage))


def behind(records: Mapping[str, Record], keys: Iterable[str]) -> Iterator[str]:
    """These keys and those of everything that they were made from, each once, what is needed first."""
    given: set[str] = set()

    def walk(key: str) -> Iterator[str]:
        if key in given or key not in records:
            return
        given.add(key)
        for need in records[key]["needs"].values():
            yield from walk(f"{need['kind']}/{short(need['digest'])}")
        yield key

    for key in keys:
        yield from walk(key)
