"""Lineages of things that nobody made: what a plan asks for, with files, numbers and circumstances that are
invented.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from recompose.digest import sha256_file
from recompose.files import read_json, write_json, write_text
from recompose.metric_cache import metric_code
from recompose.recipes.plan import NOTHING, Recipe, closure
from recompose.tables.lineage import Lineage
from recompose.tables.provenance import MADE, PROVENANCE, Made, Values, provenance_text, text_of
from recompose.tracks import TRACKS


def publish(reports: Path, lineages: Mapping[str, Lineage], values: Values = NOTHING, **made: Any) -> None:
    """Write the provenance of artifacts, and when and where everything behind them was made."""
    text = provenance_text(lineages, values, {}, "")
    write_text(reports / PROVENANCE, text)
    Made(**{"provenance": sha256_file(reports / PROVENANCE), **made}).write(reports)


def edit_provenance(reports: Path, edit: Callable[[Any], object]) -> None:
    """Edit provenance.json, and its digest, as a forger would."""
    document, made = read_json(reports / PROVENANCE), read_json(reports / MADE)
    edit(document)
    write_text(reports / PROVENANCE, text_of(document))
    write_json(reports / MADE, {**made, "provenance": sha256_file(reports / PROVENANCE)})


def edit_artifact(reports: Path, artifact: str, edit: Callable[[Any], object]) -> None:
    """Edit what provenance.json has of an artifact."""
    edit_provenance(reports, lambda document: edit(document["artifacts"][artifact]))


def correct_artifact(reports: Path, artifact: str, *names: str) -> None:
    """Make provenance.json agree with files of an artifact that were changed."""
    folder = (reports / artifact).parent
    digests = {name: sha256_file(folder / name) for name in names}
    edit_artifact(reports, artifact, lambda entry: entry["files"].update(digests))


def cell_of(row: str, evaluations: Iterable[Recipe], **more: Any) -> dict[str, Any]:
    """A cell that was made from evaluations of one method or variant; ``names`` says which."""
    keys = [recipe.key for recipe in evaluations]
    return {
        "row": row,
        "column": "shapes-pairs AUC",
        "view": "exact",
        "part": "",
        "benchmark": "shapes-pairs",
        "metric": "test/closed/dense/auc",
        "names": [],
        "text": "1.0",
        "value": 1.0,
        "spread": None,
        "n": len(keys),
        "better": 1,
        "made_from": keys,
        "values": [1.0] * len(keys),
        "missing": [],
        "beside": [],
        **more,
    }


def lineage_of(recipes: Iterable[Recipe], cells: list[dict[str, Any]], absent: Iterable[Recipe] = ()) -> Lineage:
    """The lineage of cells that were made from some recipes; absent ones were planned alone."""
    records = {recipe.key: recipe.plain() for recipe in closure(recipes)}
    asked: dict[tuple[str, str], dict[str, None]] = {}
    for cell in cells:
        for name in cell["names"]:
            asked.setdefault((name, cell["benchmark"]), {}).update(
                dict.fromkeys((*cell["made_from"], *cell["missing"]))
            )
    document = {
        "track": "czsl",
        "benchmarks": {"shapes-pairs": next((key for key in records if key.startswith("data/")), "")},
        "cells": cells,
        "asked": [{"name": name, "benchmark": at, "evaluations": [*keys]} for (name, at), keys in asked.items()],
        "records": records,
        "wanted": {recipe.key: recipe for recipe in absent},
        "metric_code": metric_code(TRACKS["czsl"]),
        "files": {},
    }
    return Lineage.model_validate(document)
