"""Lineages of things that nobody made: what a plan asks for, with files, numbers and circumstances that are
invented.
"""

from collections.abc import Iterable
from typing import Any

from recompose.metric_cache import metric_code
from recompose.recipes.plan import Recipe, closure
from recompose.tables.lineage import Lineage
from recompose.tracks import TRACKS


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
