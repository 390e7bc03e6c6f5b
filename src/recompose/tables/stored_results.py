"""The source of tables and figures: the planned evaluations, and their stored results; for an audit those
that were asked for when a lineage was written.
"""

from collections.abc import Mapping
from pathlib import Path

from recompose.files import read_json
from recompose.metric_cache import MetricCache
from recompose.parts.results import Results
from recompose.recipes.plan import NOTHING, Plan, Recipe
from recompose.recipes.records import Build, Record
from recompose.tables.lineage import Lineage
from recompose.tables.provenance import Values
from recompose.tracks.track import Track
from recompose.workspace import Workspace


class StoredResults(Results):
    """The results of a workspace.

    Args:
        work: the workspace.
        numbers: the metrics of the evaluations that count as complete, in place of those that the store has.
        made: how results were built that are not in the store.
        keeps: write metrics that were computed, see ``MetricCache``.
    """

    def __init__(
        self,
        work: Workspace,
        numbers: Values | None = None,
        made: Mapping[str, Build] = NOTHING,
        *,
        keeps: bool = False,
    ) -> None:
        self.work, self._numbers, self._made = work, numbers, made
        self._cache, self._metrics = MetricCache(work, keeps=keeps), dict(numbers or {})
        self._complete: dict[str, bool] = {}

    @property
    def plan(self) -> Plan:
        return self.work.plan

    @property
    def tracks(self) -> Mapping[str, Track]:
        return self.work.catalogue

    def planned(self, track: str, name: str, benchmark: str) -> list[Recipe]:
        return self.plan.evaluations(track, name, benchmark)

    def recipe(self, key: str) -> Recipe:
        """Return the planned recipe with a key."""
        return self.plan.by_key[key]

    def record(self, recipe: Recipe) -> Record:
        """Return the record of a complete recipe."""
        return self.work.store.record(recipe)

    def build_info(self, recipe: Recipe) -> Build | None:
        """Return when, where and from which sources a recipe was built, or None if that is not known."""
        return self.record(recipe).made if self.work.store.is_complete(recipe) else self._made.get(recipe.key)

    def is_complete(self, recipe: Recipe) -> bool:
        if self._numbers is not None and recipe.kind == "evaluations":
            return recipe.key in self._numbers
        if recipe.digest not in self._complete:
            self._complete[recipe.digest] = self.work.store.is_complete(recipe)
        return self._complete[recipe.digest]

    def metrics(self, evaluation: Recipe) -> Mapping[str, float]:
        if evaluation.key not in self._metrics:
            self._metrics[evaluation.key] = self._cache.of(evaluation)
        return self._metrics[evaluation.key]

    def file(self, recipe: Recipe, name: str) -> Path:
        return self.work.store.file(recipe, name)

    def statistics(self, data: Recipe) -> dict[str, float]:
        counts: dict[str, float] = read_json(self.file(data, "statistics.json"))
        return counts

    def folder(self, recipe: Recipe) -> Path:
        self.work.store.verify(recipe)
        return self.work.store.folder(recipe)

    def raw(self, data: Recipe) -> Path:
        return data.raw_folder(self.work.data)


class Recorded(StoredResults):
    """The results that were asked for when a lineage was written, with the numbers of an audit."""

    def __init__(self, work: Workspace, numbers: Values, made: Mapping[str, Build], lineage: Lineage) -> None:
        super().__init__(work, numbers, made)
        self._lineage, self._recipes = lineage, lineage.other_recipes | lineage.records

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
