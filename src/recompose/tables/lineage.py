"""Lineage: the evaluations behind every cell of an artifact, and the whole chain of recipes behind each of them.

A lineage holds what determines a number, the number, and the digests of the artifact's own files. The page publishes
all of them in ``provenance.json``, see ``provenance``.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Self

from pydantic import Field, ValidationError, model_validator
from pydantic_core import from_json

from recompose.errors import LineageError
from recompose.files import write_json
from recompose.parts.cells import Cell
from recompose.recipes.plan import Recipe, closure, link
from recompose.recipes.records import LenientModel, complaint

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
    recipe: str = ""  # the digest of the artifact's recipe
    declared: str = ""  # the digest of its declaration
    contents: dict[str, str] = Field(default={})  # key -> the content that it was made from

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
        """Read the lineage of an artifact, as the job that makes it keeps it.

        Raises:
            LineageError: the file is no valid lineage.
        """
        try:
            lineage = cls.model_validate(from_json(path.read_bytes(), allow_inf_nan=False))
        except WRONG as error:
            raise wrong_lineage(error, path) from None
        for key, described in (lineage.records | lineage.other_recipes).items():
            if not is_of(key, described):
                raise other_recipe(key, path)
        return lineage

    def write(self, path: Path) -> None:
        """Keep the lineage for the page, which publishes it."""
        document = self.plain()
        document["cells"] = [cell.plain() for cell in self.cells]
        write_json(path, document)

    def closure(self, keys: Iterable[str]) -> list[str]:
        """Return these keys and those of everything that they were made from, each once, needs first."""
        return [recipe.key for recipe in closure(self.records[key] for key in keys)]


def is_of(key: str, recipe: Recipe) -> bool:
    """Return true where a recipe of a file has the digest of what it says, and this key."""
    return recipe.digest == recipe.identity and recipe.key == key


def other_recipe(key: str, place: object) -> LineageError:
    """Return the error of a lineage whose record of a key is another one's."""
    return LineageError(f"its record of {key} describes another recipe", code="other-recipe", place=place)


def wrong_lineage(error: Exception, place: object) -> LineageError:
    """Return the error of a lineage that cannot be read."""
    fault = complaint(error) if isinstance(error, ValidationError) else f"{type(error).__name__}: {error}"
    return LineageError(f"invalid lineage: {fault}", place=place)
