"""Results for an audit: with numbers recomputed from scores, and with the plan that a lineage recorded."""

from collections.abc import Mapping
from functools import cached_property

from recompose.plan import Recipe, recipe_of
from recompose.records import BuildInfo
from recompose.tables.lineage import Lineage
from recompose.tables.published import PublishedLineage
from recompose.tables.stored_results import StoredResults
from recompose.workspace import Workspace

Numbers = Mapping[str, Mapping[str, float]]  # of each valid evaluation; all others count as missing


class Audited(StoredResults):
    """The results of the current plan, with the numbers of an audit."""

    def __init__(self, work: Workspace, published: PublishedLineage, numbers: Numbers) -> None:
        super().__init__(work)
        self._published, self._numbers = published, numbers

    def is_complete(self, recipe: Recipe) -> bool:
        return recipe.key in self._numbers if recipe.kind == "evaluations" else super().is_complete(recipe)

    def metrics(self, evaluation: Recipe) -> Mapping[str, float]:
        return self._numbers[evaluation.key]

    def build_info(self, recipe: Recipe) -> BuildInfo | None:
        """Return when, where and from which sources a recipe was built, also if it is not on this disk."""
        return self.record(recipe).made if self.work.store.is_complete(recipe) else self._published.made.get(recipe.key)


class Recorded(Audited):
    """The results that were asked for when a lineage was written."""

    def __init__(self, work: Workspace, published: PublishedLineage, numbers: Numbers, lineage: Lineage) -> None:
        super().__init__(work, published, numbers)
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
