"""The source of tables and figures: the planned evaluations, and their stored results."""

from collections.abc import Mapping
from pathlib import Path

from recompose.files import read_json
from recompose.parts.results import Results
from recompose.recipes.plan import Plan, Recipe
from recompose.recipes.records import COSTS
from recompose.recipes.state import CURRENT, state
from recompose.tables.provenance import COST, Values
from recompose.tracks.measuring import METRICS, compute_metrics
from recompose.tracks.track import Track
from recompose.workspace import Workspace


class StoredResults(Results):
    """The results of a workspace.

    Args:
        work: the workspace.
        numbers: the metrics of the evaluations that count as complete, in place of those that the store has.
    """

    def __init__(self, work: Workspace, numbers: Values | None = None) -> None:
        self.work, self._numbers = work, numbers
        self._metrics = dict(numbers or {})
        self._complete: dict[str, bool] = {}

    @property
    def plan(self) -> Plan:
        return self.work.plan

    @property
    def tracks(self) -> Mapping[str, Track]:
        return self.work.catalogue

    def planned(self, track: str, name: str, benchmark: str) -> list[Recipe]:
        return self.plan.evaluations(track, name, benchmark)

    def is_complete(self, recipe: Recipe) -> bool:
        if self._numbers is not None and recipe.kind == "evaluations":
            return recipe.key in self._numbers
        if recipe.digest not in self._complete:
            self._complete[recipe.digest] = self.work.store.is_complete(recipe)
        return self._complete[recipe.digest]

    def metrics(self, evaluation: Recipe) -> Mapping[str, float]:
        if evaluation.key not in self._metrics:
            self._metrics[evaluation.key] = self._stored(evaluation) | self.costs(evaluation)
        return self._metrics[evaluation.key]

    def _stored(self, evaluation: Recipe) -> dict[str, float]:
        """Return the metrics that the store has; where it lacks some, what the scores give now."""
        recipes, store = self.tracks[evaluation.track].metrics_of(evaluation), self.work.store
        if any(state(store, recipe).word != CURRENT for recipe in recipes):
            store.verify(evaluation)
            return self.computed(evaluation)
        return {name: value for recipe in recipes for name, value in read_json(store.file(recipe, METRICS)).items()}

    def computed(self, evaluation: Recipe) -> dict[str, float]:
        """Return the metrics of an evaluation, computed from its scores now, without costs."""
        metrics: dict[str, float] = {}
        for recipe in self.tracks[evaluation.track].metrics_of(evaluation):
            needs = {role: self.work.store.folder(need) for role, need in recipe.needs.items()}
            metrics |= compute_metrics(recipe, needs, metrics)
        return metrics

    def costs(self, evaluation: Recipe) -> dict[str, float]:
        """Return the costs of an evaluation and of its run; the run's value if both have one."""
        run = evaluation.needs.get("run")
        costs: dict[str, float] = {}
        for recipe in (evaluation, *([run] if run else [])):
            if self.work.store.is_complete(recipe) and COSTS in self.work.store.record(recipe).files:
                recorded = read_json(self.file(recipe, COSTS))
                costs |= {f"{COST}{name}": value for name, value in recorded.items() if value is not None}
        return costs

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
