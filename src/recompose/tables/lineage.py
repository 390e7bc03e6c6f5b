"""Lineage: the evaluations behind every cell of an artifact, and the whole chain of recipes behind each of them.

A lineage holds what determines a number, the number, and the digests of the artifact's own files. What may differ
between two builds of a recipe is in ``made.json``: digests of scores and checkpoints, time, host, commit, duration. The
files are validated when they are read, since anybody may have written them.
"""

import json
from collections.abc import Iterable, Mapping
from math import isfinite
from pathlib import Path
from typing import Self

from pydantic import Field, TypeAdapter, ValidationError, model_validator
from pydantic_core import from_json

from recompose.digest import digest, sha256_file, short
from recompose.errors import LineageError, OutdatedLineageError
from recompose.files import Document, read_json, write_json
from recompose.metric_cache import COST
from recompose.parts.cells import Cell, Number
from recompose.recipes.plan import Recipe, closure, link
from recompose.recipes.records import Build, LenientModel, complaint

SUFFIX = ".lineage.json"
INDEX, MADE, VALUES = "index.json", "made.json", "values.json"  # among the reports
PARTS = ("track", "benchmarks", "cells", "asked", "records", "wanted", "metric_code", "codes", "files")
DESCRIBED = ("records", "wanted")  # the parts with descriptions of recipes
# of a file that anybody wrote; a ValidationError is a ValueError
WRONG = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)


class PlannedEvaluations(LenientModel):
    """The planned evaluations of a method or a variant on a benchmark."""

    name: str
    benchmark: str
    evaluations: list[str]


class Lineage(LenientModel):
    """The lineage of an artifact: it describes everything that it refers to."""

    track: str
    benchmarks: dict[str, str]  # name -> key of its data
    cells: list[Cell]  # the measured ones
    planned: list[PlannedEvaluations] = Field(alias="asked")
    records: dict[str, Recipe]  # of the complete evaluations and of everything behind them
    other_recipes: dict[str, Recipe] = Field(alias="wanted")  # of all other planned evaluations
    metric_code: dict[str, str]
    files: dict[str, str]  # name -> SHA-256
    recipe: str = ""  # the digest of the artifact's recipe; empty in files of older versions
    declared: str = ""  # the digest of its declaration; empty in files of older versions

    @model_validator(mode="after")
    def _check_references(self) -> Self:
        planned = {key for entry in self.planned for key in entry.evaluations}
        made_from = {key for cell in self.cells for key in cell.made_from}
        needs = {need.key for record in self.records.values() for need in record.needs.values()}
        undescribed = planned - self.records.keys() - self.other_recipes.keys()
        if missing := undescribed | ((made_from | needs) - self.records.keys()):
            raise ValueError(f"it has no record of {min(missing)}")
        measured = {key for cell in self.cells if cell.names for key in (*cell.made_from, *cell.missing)}
        if unplanned := measured - planned:
            raise ValueError(f"it has cells of {min(unplanned)}, which is not among its planned evaluations")
        recipes = link(self.records | self.other_recipes)
        self.records = {key: recipes[key] for key in self.records}
        self.other_recipes = {key: recipes[key] for key in self.other_recipes}
        return self

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a lineage.

        Raises:
            LineageError: the file is no valid lineage.
            OutdatedLineageError: it lacks parts.
        """
        try:
            document = from_json(path.read_bytes(), allow_inf_nan=False)
            if missing := [part for part in PARTS if part not in document]:
                parts = ", ".join(missing)
                raise OutdatedLineageError(f"it has no {parts}: written by another version of the code", place=path)
            lineage = cls.model_validate(_expand_codes(document))
        except OutdatedLineageError:
            raise
        except WRONG as error:
            fault = complaint(error) if isinstance(error, ValidationError) else f"{type(error).__name__}: {error}"
            raise LineageError(f"invalid lineage: {fault}", place=path) from None
        for key, described in (lineage.records | lineage.other_recipes).items():
            if described.digest != described.identity or key != described.key:
                message = f"its record of {key} describes another recipe"
                raise LineageError(message, code="other-recipe", place=path)
        return lineage

    def write(self, path: Path) -> None:
        """Write the lineage; most runs have the same code: each version of it is written once."""
        document, codes = self.plain(), dict[str, dict[str, str]]()
        document["cells"] = [cell.plain() for cell in self.cells]
        for described in (description for part in DESCRIBED for description in document[part].values()):
            name = short(digest(described["code"]))
            codes[name] = described["code"]
            described["code"] = name
        files = document.pop("files")
        write_json(path, document | {"codes": codes, "files": files})

    def closure(self, keys: Iterable[str]) -> list[str]:
        """Return these keys and those of everything that they were made from, each once, needs first."""
        return [recipe.key for recipe in closure(self.records[key] for key in keys)]


def _expand_codes(document: Document) -> Document:
    """Return a stored lineage with its code in every description."""
    codes = document["codes"]
    expanded = {
        part: {key: {**described, "code": codes[described["code"]]} for key, described in document[part].items()}
        for part in DESCRIBED
    }
    return {name: value for name, value in document.items() if name != "codes"} | expanded


def lineage_path(path: Path) -> Path:
    """Return the path of the lineage of an artifact, given any of its files."""
    return path.with_name(path.name.split(".")[0] + SUFFIX)


Values = Mapping[str, Mapping[str, float]]  # the metrics of evaluations, by key
Contents = dict[str, dict[str, str]]


class MetricsByEvaluation(LenientModel):
    """The values of evaluations that have the same metrics; each name stands once."""

    metrics: list[str]
    evaluations: dict[str, list[Number]]  # key -> a value for each metric


VALUES_FORM = TypeAdapter(list[MetricsByEvaluation])


class ReportIndex(LenientModel):
    """The index of the reports: the digests of the files that belong to no artifact."""

    files: dict[str, str]
    recipe: str = ""  # the digest of the index's recipe; empty in files of older versions

    @classmethod
    def read(cls, reports: Path) -> Self:
        """Read the index in a folder of reports.

        Raises:
            FileNotFoundError: there is none.
            LineageError: it is invalid.
        """
        try:
            return cls.model_validate(read_json(reports / INDEX))
        except FileNotFoundError:
            raise
        except WRONG as error:
            raise LineageError(f"cannot be read: {error}", place=reports / INDEX) from None

    def write(self, reports: Path) -> None:
        """Write the index into a folder of reports."""
        write_json(reports / INDEX, self.plain())


class Made(LenientModel):
    """What may differ between two builds of the same reports."""

    builds: dict[str, Build] = Field(default={}, alias="results")  # of everything behind the reports, by key
    earlier: Contents = Field(default={}, alias="artifacts")  # artifact -> key -> content, see ``contents``
    costs: dict[str, dict[str, Number]] = Field(default={})  # evaluation -> its metrics of cost

    @classmethod
    def read(cls, reports: Path) -> Self:
        """Read the file in a folder of reports; it holds nothing where it is not valid."""
        try:
            return cls.parse((reports / MADE).read_bytes())
        except OSError:
            return cls()

    @classmethod
    def parse(cls, text: str | bytes) -> Self:
        """Return the content of such a file; nothing where it is not valid."""
        try:
            return cls.model_validate_json(text)
        except ValidationError:
            return cls()

    def contents(self, artifact: str) -> dict[str, str]:
        """Return the digest of each content that an artifact was made from; none where it is not known.

        An artifact is rarely older than a result behind it; the file holds just those that are.
        """
        if artifact not in self.earlier:
            return {}
        return {key: build.content for key, build in self.builds.items()} | self.earlier[artifact]

    @classmethod
    def of(cls, builds: Mapping[str, Build], contents: Mapping[str, Mapping[str, str]], values: Values) -> Self:
        """Return what is written of builds, of the contents that each artifact was made from, and of all metrics."""
        now = {key: build.content for key, build in builds.items()}
        earlier = {
            artifact: {key: content for key, content in by_key.items() if content != now.get(key)}
            for artifact, by_key in sorted(contents.items())
        }
        costs = {
            key: {name: value for name, value in metrics.items() if name.startswith(COST)}
            for key, metrics in sorted(values.items())
        }
        return cls(results=dict(builds), artifacts=earlier, costs=costs)

    def write(self, reports: Path) -> None:
        """Write the file into a folder of reports."""
        write_json(reports / MADE, self.plain())


def read_values(reports: Path, made: Made) -> dict[str, dict[str, float]]:
    """Read the metrics of the evaluations behind the reports, by key; none where the file is not as it was written."""
    try:
        if sha256_file(reports / VALUES) != ReportIndex.read(reports).files.get(VALUES):
            return {}
        groups = VALUES_FORM.validate_json((reports / VALUES).read_bytes())
        values = {
            key: dict(zip(group.metrics, numbers, strict=True))
            for group in groups
            for key, numbers in group.evaluations.items()
        }
    except WRONG:
        return {}
    return {key: metrics | made.costs.get(key, {}) for key, metrics in values.items()}


def values_text(values: Values) -> str:
    """Return the text of that file: a line for each evaluation, without costs, and metrics that are no number."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for key, metrics in sorted(values.items()):
        shown = {name: value for name, value in metrics.items() if isfinite(value) and not name.startswith(COST)}
        groups.setdefault(tuple(shown), []).append(f"  {json.dumps(key)}: {json.dumps([*shown.values()])}")
    texts = []
    for names, lines in groups.items():
        rows = ",\n".join(lines)
        texts.append(f'{{"metrics": {json.dumps(names)}, "evaluations": {{\n{rows}\n}}}}')
    return f"[{', '.join(texts)}]\n"
