"""Results for an audit: those that were asked for when a lineage was written."""

from collections.abc import Mapping
from functools import cached_property

from recompose.plan import Recipe, recipe_of
from recompose.records import BuildInfo
from recompose.tables.lineage import Lineage, Values
from recompose.tables.stored_results import StoredResults
from recompose.workspace import Workspace


class Recorded(StoredResults):
    """The results that were asked for when a lineage was written, with the numbers of an audit."""

    def __init__(self, work: Workspace, numbers: Values, made: Mapping[str, BuildInfo], lineage: Lineage) -> None:
        super().__init__(work, numbers, made)
        self._lineage = lineage

    @cached_property
    def _recipes(self) -> dict[str, Recipe]:
        recipes: dict[str, Recipe] = {}
        for key, described in {**self._lineage.other_recipes, **self._lineage.records}.items():
            recipes[key] = recipe_of(described, recipes)
        return recipes

    def recipe(self, key: str) -> Recipe:
        return self._recipes[key]

    def benchmarks(self, track: str) -> list[str]:
        return list(self._lineage.benchmarks)

    def data(self, track: str, benchmark: str) -> Recipe:
        """Return the data of a benchmark, from the current plan where the lineage has no record of it."""
        key = self._lineage.benchmarks[benchmark]
        return self._recipes.get(key) or self.plan.by_key[key]

    def planned(self, track: str, name: str, benchmark: str) -> list[Recipe]:
        entries = (each for each in self._lineage.planned if (each.name, each.benchmark) == (name, benchmark))
        return [self._recipes[key] for entry in entries for key in entry.evaluations]
