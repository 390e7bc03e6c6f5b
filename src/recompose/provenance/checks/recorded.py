"""The world as lineage recorded it: reports are made again from it, whatever parameters and code say by now."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from recompose.plan import Plan, Recipe, Reference, Run
from recompose.report.lineage import key_of
from recompose.store import Store
from recompose.workspace import Workspace


@dataclass(frozen=True, kw_only=True)
class Recorded(Workspace):
    """A workspace whose plan is what a lineage says it was, and whose numbers follow from stored scores.

    ``numbers`` holds the metrics of every run that can be relied on; the others count as missing.
    """

    lineage: dict[str, Any]
    numbers: Mapping[str, dict[str, Any]]

    @cached_property
    def plan(self) -> Plan:
        """What was asked for when the lineage was written."""
        return plan_of(self.lineage)

    def store(self, kind: str) -> Store:
        """The store of one kind of content, as the lineage knows it."""
        return _AsRecorded(self, kind)

    def metrics_of(self, run: Run) -> dict[str, Any]:
        """A run's numbers as they follow from its scores."""
        return self.numbers[key_of("runs", run)]


class _AsRecorded(Store):
    """A store with the records of a lineage, whatever the disk says by now, and without runs that cannot be relied on."""

    def __init__(self, work: Recorded, kind: str) -> None:
        super().__init__(work.results, kind)
        self._records, self._numbers = work.lineage["records"], work.numbers

    def is_complete(self, recipe: Recipe) -> bool:
        return key_of(self.kind, recipe) in self._numbers if self.kind == "runs" else super().is_complete(recipe)

    def record(self, recipe: Recipe) -> dict[str, Any]:
        return self._records.get(key_of(self.kind, recipe)) or super().record(recipe)


def plan_of(lineage: dict[str, Any]) -> Plan:
    """The plan that a lineage was written for, as far as it says."""
    recipes = {key: record["recipe"] for key, record in lineage["records"].items()} | lineage["wanted"]
    measures = {
        (each["name"], each["dataset"]): tuple(Run(each["name"], recipes[key]) for key in each["runs"])
        for each in lineage["measures"]
    }
    runs = tuple({run.digest: run for found in measures.values() for run in found}.values())
    features: dict[tuple[str, str], Recipe] = {
        (run.dataset, run.backbone): reference(run.document["features"]) for run in runs if run.backbone is not None
    }
    return Plan(
        datasets={section["name"]: reference(section) for section in lineage["datasets"]},
        backbones={run.backbone: reference(run.document["backbone"]) for run in runs if run.backbone is not None},
        corpora={},
        features=features,
        measures=measures,
        runs=runs,
        batches=(),
    )


def reference(section: dict[str, str]) -> Reference:
    """What a recipe calls by name and digest."""
    return Reference(section["name"], {}, section["digest"])


def merged(lineages: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """One lineage of several: where they differ in what they asked for, the last one counts."""
    found: dict[str, Any] = {"datasets": [], "cells": [], "measures": {}, "records": {}, "wanted": {}}
    for lineage in lineages:
        found["datasets"] = lineage["datasets"]
        found["measures"] |= {(each["name"], each["dataset"]): each for each in lineage["measures"]}
        for part in ("records", "wanted"):
            found[part] |= lineage[part]
    return found | {"measures": list(found["measures"].values())}
