"""The provenance of reports: what determines and identifies each number, in one file, and when it was made, in another.

``provenance.json`` holds each recipe and each set of code once, the metrics of evaluations, the cells of each artifact
with the keys that they rest on, and the digests of all files: an entry on a line, in the order of keys, so that
``git diff`` shows what changed. What may differ between two builds of a recipe is in ``made.json``: digests of scores
and checkpoints, time, host, commit, duration. Both are validated when they are read, since anybody may have written
them.
"""

import json
from collections.abc import Iterable, Mapping
from math import isfinite
from pathlib import Path
from typing import Any, Self

from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from recompose.digest import digest, short
from recompose.errors import LineageError
from recompose.files import Document, write_json
from recompose.metric_cache import COST
from recompose.parts.cells import Number
from recompose.recipes.plan import Recipe, closure, link
from recompose.recipes.records import Build, LenientModel
from recompose.tables.lineage import WRONG, Lineage, is_of, other_recipe, wrong_lineage

PROVENANCE, MADE = "provenance.json", "made.json"
SHARED = ("records", "wanted", "metric_code", "contents")  # of a lineage: written once for all
RECIPES = TypeAdapter(dict[str, Recipe])
Values = Mapping[str, Mapping[str, float]]  # the metrics of evaluations, by key
Contents = dict[str, dict[str, str]]


class MetricsByEvaluation(LenientModel):
    """The values of evaluations that have the same metrics; each name stands once."""

    metrics: list[str]
    evaluations: dict[str, list[Number]]  # key -> a value for each metric


VALUES_FORM = TypeAdapter(list[MetricsByEvaluation])


class Provenance(LenientModel):
    """The content of provenance.json, before its lineages are put together."""

    codes: dict[str, dict[str, str]]  # name -> module -> digest
    recipes: dict[str, Document]  # key -> recipe, with the name of its code
    metrics: list[MetricsByEvaluation]
    artifacts: dict[str, Document]  # <paper>/<name> -> lineage, with the name of its code, without recipes
    files: dict[str, str]  # of the page and the files beside it: name -> SHA-256
    recipe: str  # the digest of the page's recipe

    @classmethod
    def read(cls, reports: Path) -> Self:
        """Read the file in a folder of reports.

        Raises:
            FileNotFoundError: there is none.
            LineageError: it is not valid.
        """
        try:
            return cls.parse((reports / PROVENANCE).read_bytes())
        except FileNotFoundError:
            raise
        except WRONG as error:
            raise wrong_lineage(error, reports / PROVENANCE) from None

    @classmethod
    def parse(cls, text: str | bytes) -> Self:
        """Return the content of such a file.

        Raises:
            ValueError: it is not valid.
        """
        return cls.model_validate(from_json(text, allow_inf_nan=False))

    @property
    def values(self) -> dict[str, dict[str, float]]:
        """The metrics of each evaluation, without costs.

        Raises:
            ValueError: an evaluation has another number of metrics than its group.
        """
        return {
            key: dict(zip(group.metrics, numbers, strict=True))
            for group in self.metrics
            for key, numbers in group.evaluations.items()
        }

    def lineages(self, names: Iterable[str], place: object) -> tuple[dict[str, Lineage], dict[str, LineageError]]:
        """Return the valid lineages by artifact, and why the others are none.

        Args:
            names: of the artifacts, <paper>/<name>; those that the file does not have are left out.
            place: of the file, for errors.
        """
        lineages, faults = dict[str, Lineage](), dict[str, LineageError]()
        try:
            recipes, wrong = self.linked()
        except WRONG as error:
            return {}, dict.fromkeys(names, wrong_lineage(error, place))
        for name in (name for name in names if name in self.artifacts):
            try:
                lineages[name] = self._lineage(self.artifacts[name], recipes, wrong, f"{place}: {name}")
            except LineageError as error:
                faults[name] = error
            except WRONG as error:
                faults[name] = wrong_lineage(error, f"{place}: {name}")
        return lineages, faults

    def linked(self) -> tuple[dict[str, Recipe], set[str]]:
        """Return all recipes by key, and the keys of those that have another digest than they say.

        Raises:
            ValueError: a recipe is none, or has no code.
        """
        described = {key: {**recipe, "code": self._code(recipe["code"])} for key, recipe in self.recipes.items()}
        recipes = link(RECIPES.validate_python(described))
        return recipes, {key for key, recipe in recipes.items() if not is_of(key, recipe)}

    def _lineage(self, entry: Document, recipes: Mapping[str, Recipe], wrong: set[str], place: str) -> Lineage:
        missing, cells = {*entry["missing"]}, entry["cells"]
        made_from = {key for cell in cells for key in cell.get("made_from", ())}
        asked = {key for group in entry["asked"] for key in group["evaluations"]}
        records = {of.key: of for of in closure(recipes[key] for key in sorted(made_from | asked - missing))}
        wanted = {of.key: of for of in closure(recipes[key] for key in sorted(missing))}
        if edited := sorted((records.keys() | wanted.keys()) & wrong):
            raise other_recipe(edited[0], place)
        whole = {name: part for name, part in entry.items() if name != "missing"}
        code = self._code(entry["metric_code"])
        return Lineage.model_validate({**whole, "records": records, "wanted": wanted, "metric_code": code})

    def _code(self, name: str) -> dict[str, str]:
        if name not in self.codes:
            raise ValueError(f"it has no code {name}")
        return self.codes[name]


def provenance_text(lineages: Mapping[str, Lineage], values: Values, files: Mapping[str, str], recipe: str) -> str:
    """Return the text of provenance.json.

    Args:
        lineages: artifact -> its lineage.
        values: the metrics of evaluations.
        files: of the page and the files beside it: name -> SHA-256.
        recipe: the digest of the page's recipe.
    """
    codes, recipes, artifacts = dict[str, Document](), dict[str, Document](), dict[str, Document]()
    for name, lineage in lineages.items():
        for key, described in (lineage.records | lineage.other_recipes).items():
            if key not in recipes:
                recipes[key] = described.plain() | {"code": _named(codes, described.code)}
        artifacts[name] = _entry(lineage, _named(codes, lineage.metric_code))
    parts = {"codes": codes, "recipes": recipes, "metrics": _groups(values), "artifacts": artifacts}
    return text_of({**parts, "files": dict(files), "recipe": recipe})


def _named(codes: dict[str, Document], code: Mapping[str, str]) -> str:
    """Return the name of a set of code, which is written once."""
    name = short(digest(code))
    codes[name] = dict(code)
    return name


def _entry(lineage: Lineage, code: str) -> Document:
    """Return what is written of the lineage of an artifact."""
    asked = {key for group in lineage.planned for key in group.evaluations}
    document = {name: part for name, part in lineage.plain().items() if name not in (*SHARED, "cells")}
    document |= {"missing": sorted(asked - lineage.records.keys()), "metric_code": code}
    return document | {"cells": [cell.plain() for cell in lineage.cells]}


def _groups(values: Values) -> list[Document]:
    """Return metrics, without costs and without those that are no number; the names of each group once."""
    groups: dict[tuple[str, ...], dict[str, list[float]]] = {}
    for key, metrics in sorted(values.items()):
        shown = {name: value for name, value in metrics.items() if isfinite(value) and not name.startswith(COST)}
        groups.setdefault(tuple(shown), {})[key] = [*shown.values()]
    return [{"metrics": [*names], "evaluations": evaluations} for names, evaluations in groups.items()]


def text_of(document: Document) -> str:
    """Return the text of such a document: a recipe, a set of code, an evaluation or a cell on each line."""
    groups = (
        f'{{"metrics": {_line(group["metrics"])}, "evaluations": {_rows(group["evaluations"])}}}'
        for group in document["metrics"]
    )
    artifacts = {name: _artifact_text(entry) for name, entry in sorted(document["artifacts"].items())}
    parts = {
        "codes": _rows(document["codes"]),
        "recipes": _rows(document["recipes"]),
        "metrics": f"[{', '.join(groups)}]",
        "artifacts": _joined(artifacts),
        "files": _rows(document["files"]),
        "recipe": _line(document["recipe"]),
    }
    return "{\n" + ",\n".join(f'"{name}": {text}' for name, text in parts.items()) + "\n}\n"


def _artifact_text(entry: Document) -> str:
    cells = ",\n".join(map(_line, entry["cells"]))
    rest = {name: part for name, part in entry.items() if name != "cells"}
    return f'{_line(rest)[:-1]}, "cells": [\n{cells}\n]}}'


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _rows(entries: Mapping[str, Any]) -> str:
    return _joined({key: _line(value) for key, value in sorted(entries.items())})


def _joined(entries: Mapping[str, str]) -> str:
    return "{\n" + ",\n".join(f"{_line(key)}: {text}" for key, text in entries.items()) + "\n}"


class Made(LenientModel):
    """What may differ between two builds of the same reports."""

    builds: dict[str, Build] = Field(default={}, alias="results")  # of everything behind the reports, by key
    earlier: Contents = Field(default={}, alias="artifacts")  # artifact -> key -> content, see ``contents``
    costs: dict[str, dict[str, Number]] = Field(default={})  # evaluation -> its metrics of cost
    provenance: str = ""  # the SHA-256 of provenance.json

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
    def of(
        cls,
        builds: Mapping[str, Build],
        contents: Mapping[str, Mapping[str, str]],
        values: Values,
        provenance: str = "",
    ) -> Self:
        """Return what is written of builds, of the contents that each artifact was made from, of all metrics, and of
        the digest of provenance.json.
        """
        now = {key: build.content for key, build in builds.items()}
        earlier = {
            artifact: {key: content for key, content in by_key.items() if content != now.get(key)}
            for artifact, by_key in sorted(contents.items())
        }
        costs = {
            key: {name: value for name, value in metrics.items() if name.startswith(COST)}
            for key, metrics in sorted(values.items())
        }
        return cls(results=dict(builds), artifacts=earlier, costs=costs, provenance=provenance)

    def write(self, reports: Path) -> None:
        """Write the file into a folder of reports."""
        write_json(reports / MADE, self.plain())
