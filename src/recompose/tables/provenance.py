"""The provenance of reports: what determines and identifies each number, in one file, and when it was made, in another.

``provenance.json`` holds each recipe and each set of code once, the metrics of evaluations, the cells of each artifact
with the keys that they rest on, and the digests of all files: an entry on a line, in the order of keys, so that
``git diff`` shows what changed. What may differ between two builds of a recipe is in ``made.json``: digests of scores
and checkpoints, time, host, commit, duration, costs. Both are validated when they are read.
"""

import json
from collections.abc import Iterable, Mapping
from math import isfinite
from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationError, model_serializer, model_validator
from pydantic_core import from_json

from recompose.digest import digest, sha256_file, short
from recompose.errors import ProvenanceError
from recompose.files import Document, write_json
from recompose.parts.cells import Cell, Number
from recompose.recipes.plan import Recipe
from recompose.recipes.records import Build, LenientModel, complaint

PROVENANCE, MADE = "provenance.json", "made.json"
COST = "cost/"  # the prefix of the names of metrics of cost
# of a file that anybody wrote; a ValidationError is a ValueError
WRONG = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)
ENVIRONMENT = ("host", "device", "instruction_set", "libraries", "system", "python", "packages")  # parts of a build
Values = Mapping[str, Mapping[str, float]]  # the metrics of evaluations, by key


class Code(LenientModel):
    """What makes a content, and the digests of what it reaches."""

    made_by: dict[str, str]
    modules: dict[str, str]


class DescribedRecipe(LenientModel):
    """A recipe whose code and needs stand elsewhere in the file; its digest follows from them."""

    name: str = ""
    track: str = ""
    labels: Document = Field(default={})
    document: Document = Field(default={})
    needs: dict[str, str] = Field(default={})  # role -> key
    sources: Document = Field(default={})
    code: str = ""


class MetricsByEvaluation(LenientModel):
    """The values of evaluations that have the same metrics; each name stands once."""

    metrics: list[str]
    evaluations: dict[str, list[Number]]  # key -> a value for each metric


class ArtifactCells(LenientModel):
    """The measured cells of a table or figure, and the key of its recipe.

    In the file, a cell says what it rests on by places in ``keys``: many cells share hundreds of keys.
    """

    recipe: str
    cells: list[Cell]

    @model_validator(mode="before")
    @classmethod
    def _with_keys(cls, entry: Any) -> Any:
        if isinstance(entry, dict) and "keys" in entry:
            keys, cells = entry["keys"], []
            for cell in entry["cells"]:
                places = cell.get("made_from", [])
                cells.append(cell | {"made_from": [keys[place] for place in places if place >= 0]})
            return {name: part for name, part in entry.items() if name != "keys"} | {"cells": cells}
        return entry

    @property
    def text(self) -> str:
        """Its text in the file."""
        keys = list(dict.fromkeys(key for cell in self.cells for key in cell.made_from))
        places = {key: place for place, key in enumerate(keys)}
        cells = (cell.plain() | {"made_from": [places[key] for key in cell.made_from]} for cell in self.cells)
        lines = ",\n".join(map(_line, cells))
        return f'{{"recipe": {_line(self.recipe)}, "keys": {_line(keys)}, "cells": [\n{lines}\n]}}'


class Provenance(LenientModel):
    """The content of provenance.json."""

    codes: dict[str, Code]
    described: dict[str, DescribedRecipe] = Field(alias="recipes")  # by key
    metrics: list[MetricsByEvaluation]
    artifacts: dict[str, ArtifactCells]  # by <paper>/<artifact>
    files: dict[str, str]  # all that is published, but for these two: name -> SHA-256

    @classmethod
    def of(
        cls, recipes: Iterable[Recipe], values: Values, artifacts: Mapping[str, ArtifactCells], files: Mapping[str, str]
    ) -> Self:
        """Return the provenance of reports.

        Args:
            recipes: of everything behind them, and of the page.
            values: the metrics of evaluations, of which costs are left out.
            artifacts: the cells of each.
            files: name -> SHA-256.
        """
        codes, described = dict[str, Code](), dict[str, DescribedRecipe]()
        for recipe in recipes:
            code = Code(made_by=recipe.made_by, modules=recipe.code)
            name = short(digest(code.plain()))
            codes[name] = code
            described[recipe.key] = DescribedRecipe(
                name=recipe.name,
                track=recipe.track,
                labels=recipe.labels,
                document=recipe.document,
                needs={role: need.key for role, need in recipe.needs.items()},
                sources=recipe.sources,
                code=name,
            )
        groups = [MetricsByEvaluation.model_validate(group) for group in _groups(values)]
        return cls(codes=codes, recipes=described, metrics=groups, artifacts=dict(artifacts), files=dict(files))

    @classmethod
    def read(cls, reports: Path) -> Self:
        """Read the file in a folder of reports.

        Raises:
            FileNotFoundError: there is none.
            ProvenanceError: it is not valid.
        """
        path = reports / PROVENANCE
        try:
            return cls.model_validate(from_json(path.read_bytes(), allow_inf_nan=False))
        except FileNotFoundError:
            raise
        except WRONG as error:
            fault = complaint(error) if isinstance(error, ValidationError) else f"{type(error).__name__}: {error}"
            message = f"{path} is not valid ({fault}): `git checkout -- {path}`, or `snakemake --cores all`"
            raise ProvenanceError(message, place=path) from None

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

    @property
    def recipes(self) -> dict[str, Recipe]:
        """All recipes by key, needs first.

        Raises:
            ValueError: a recipe has another digest than its key says, or lacks its code or what it needs.
        """
        recipes: dict[str, Recipe] = {}
        for key in self.described:
            self._add(key, recipes, ())
        return recipes

    def _add(self, key: str, recipes: dict[str, Recipe], above: tuple[str, ...]) -> None:
        """Add a recipe, after those that it needs."""
        if key in recipes:
            return
        if key in above or key not in self.described:
            raise ValueError(f"recipes: it has no recipe {key}")
        described = self.described[key]
        for need in described.needs.values():
            self._add(need, recipes, (*above, key))
        if described.code not in self.codes:
            raise ValueError(f"recipes.{key}: it has no code {described.code}")
        code = self.codes[described.code]
        parts = {part: getattr(described, part) for part in ("name", "track", "labels", "document", "sources")}
        needs = {role: recipes[need] for role, need in described.needs.items()}
        recipe = Recipe(key.partition("/")[0], needs=needs, code=code.modules, made_by=code.made_by, **parts)
        if recipe.key != key:
            raise ValueError(f"recipes.{key} was changed: it describes {recipe.key}")
        recipes[key] = recipe

    @property
    def text(self) -> str:
        """The text of the file: a recipe, a set of code, an evaluation or a cell on each line."""
        groups = (
            f'{{"metrics": {_line(group.metrics)}, "evaluations": {_rows(group.evaluations)}}}'
            for group in self.metrics
        )
        artifacts = {name: entry.text for name, entry in sorted(self.artifacts.items())}
        recipes = {key: recipe.model_dump(exclude_defaults=True) for key, recipe in self.described.items()}
        parts = {
            "codes": _rows({name: code.plain() for name, code in self.codes.items()}),
            "recipes": _rows(recipes),
            "metrics": f"[{', '.join(groups)}]",
            "artifacts": _joined(artifacts),
            "files": _rows(self.files),
        }
        return "{\n" + ",\n".join(f'"{name}": {text}' for name, text in parts.items()) + "\n}\n"


def _groups(values: Values) -> list[Document]:
    """Return metrics, without costs and without those that are no number; the names of each group once."""
    groups: dict[tuple[str, ...], dict[str, list[float]]] = {}
    for key, metrics in sorted(values.items()):
        shown = {name: value for name, value in metrics.items() if isfinite(value) and not name.startswith(COST)}
        groups.setdefault(tuple(shown), {})[key] = [*shown.values()]
    return [{"metrics": [*names], "evaluations": evaluations} for names, evaluations in groups.items()]


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _rows(entries: Mapping[str, Any]) -> str:
    return _joined({key: _line(value) for key, value in sorted(entries.items())})


def _joined(entries: Mapping[str, str]) -> str:
    return "{\n" + ",\n".join(f"{_line(key)}: {text}" for key, text in entries.items()) + "\n}"


class Made(LenientModel):
    """What may differ between two builds of the same reports."""

    builds: dict[str, Build] = Field(default={}, alias="results")  # of everything behind the reports, by key
    costs: dict[str, dict[str, Number]] = Field(default={})  # evaluation -> its metrics of cost
    provenance: str = ""  # the SHA-256 of provenance.json

    @model_validator(mode="before")
    @classmethod
    def _with_environments(cls, document: Any) -> Any:
        """Give each build the environment that it names; many share one."""
        if not (isinstance(document, dict) and "environments" in document):
            return document
        builds = {
            key: document["environments"][build["environment"]]
            | {name: value for name, value in build.items() if name != "environment"}
            for key, build in document["results"].items()
        }
        return {name: part for name, part in document.items() if name != "environments"} | {"results": builds}

    @model_serializer
    def _document(self) -> Document:
        """Return what the file holds."""
        environments, builds = dict[str, Document](), dict[str, Document]()
        for key, build in self.builds.items():
            plain = build.plain()
            shared = {name: plain.pop(name) for name in ENVIRONMENT if name in plain}
            name = short(digest(shared))
            environments[name] = shared
            builds[key] = plain | {"environment": name}
        parts = {"environments": environments, "results": builds, "costs": self.costs}
        return parts | {"provenance": self.provenance}

    @classmethod
    def of(cls, builds: Mapping[str, Build], values: Values, provenance: Path) -> Self:
        """Return what is written of builds, of all metrics, and of the file of provenance."""
        costs = {
            key: {name: value for name, value in metrics.items() if name.startswith(COST)}
            for key, metrics in sorted(values.items())
        }
        return cls(results=dict(builds), costs=costs, provenance=sha256_file(provenance))

    @classmethod
    def read(cls, reports: Path) -> Self:
        """Read the file in a folder of reports; it holds nothing where it is not valid."""
        try:
            return cls.model_validate_json((reports / MADE).read_bytes())
        except (OSError, ValidationError):
            return cls()

    def write(self, reports: Path) -> None:
        """Write the file into a folder of reports."""
        write_json(reports / MADE, self.model_dump())
