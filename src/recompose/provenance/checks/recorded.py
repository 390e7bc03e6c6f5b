"""Results as an audit has them: as a lineage recorded what was asked for, and with numbers that were taken anew from
scores.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from recompose.plan import Recipe, recipe_of
from recompose.report.published import PublishedLineage
from recompose.report.results import Results
from recompose.workspace import Workspace

Numbers = Mapping[str, Mapping[str, float]]  # of each evaluation that can be relied on; others count as missing


class Audited(Results):
    """What the current plan asks for, with numbers of an audit."""

    def __init__(self, work: Workspace, published: PublishedLineage, numbers: Numbers) -> None:
        super().__init__(work)
        self._published, self._numbers = published, numbers

    def is_complete(self, recipe: Recipe) -> bool:
        """Whether something is there; an evaluation, whether it can be relied on."""
        return recipe.key in self._numbers if recipe.kind == "evaluations" else super().is_complete(recipe)

    def metrics(self, evaluation: Recipe) -> Mapping[str, float]:
        """The metrics of an evaluation as they follow from its scores."""
        return self._numbers[evaluation.key]

    def build_info(self, recipe: Recipe) -> Mapping[str, Any] | None:
        """By what, where and when something was made, also where it is not on this disk."""
        return (
            self.record(recipe)["made"] if self.work.store.is_complete(recipe) else self._published.made.get(recipe.key)
        )


class Recorded(Audited):
    """What was asked for when a lineage was written."""

    def __init__(
        self, work: Workspace, published: PublishedLineage, numbers: Numbers, lineage: Mapping[str, Any]
    ) -> None:
        super().__init__(work, published, numbers)
        self._lineage = lineage

    @cached_property
    def _recipes(self) -> dict[str, Recipe]:
        recipes: dict[str, Recipe] = {}
        for key, described in {**self._lineage["wanted"], **self._lineage["records"]}.items():
            recipes[key] = recipe_of(described, recipes)
        return recipes

    def recipe(self, key: str) -> Recipe:
        """What was asked for under a key."""
        return self._recipes[key]

    def benchmarks(self, track: str) -> list[str]:
        """The benchmarks that there were."""
        return list(self._lineage["benchmarks"])

    def data(self, track: str, benchmark: str) -> Recipe:
        """The data of a benchmark; where no number was made from it, that of the current plan."""
        key = self._lineage["benchmarks"][benchmark]
        return self._recipes.get(key) or self.plan.by_key[key]

    def planned(self, track: str, name: str, benchmark: str) -> list[Recipe]:
        """The evaluations that were asked for."""
        return [
            self._recipes[key]
            for each in self._lineage["asked"]
            if (each["name"], each["benchmark"]) == (name, benchmark)
            for key in each["evaluations"]
        ]
