"""What tables and figures are made from: evaluations as the plan asks for them, and what is stored of them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recompose.files import read_json
from recompose.metric_cache import MetricCache
from recompose.plan import Plan, Recipe
from recompose.tracks import TRACKS
from recompose.workspace import Workspace


class Results:
    """The results of a workspace, as far as they are there."""

    def __init__(self, work: Workspace) -> None:
        self.work = work
        self._metrics = MetricCache(work.store, work.results)
        self._taken: dict[str, dict[str, float]] = {}
        self._complete: dict[str, bool] = {}
        self._records: dict[str, dict[str, Any]] = {}

    @property
    def plan(self) -> Plan:
        """What is asked for."""
        return self.work.plan

    def benchmarks(self, track: str) -> list[str]:
        """The benchmarks of a track."""
        return self.plan.benchmarks(track)

    def data(self, track: str, benchmark: str) -> Recipe:
        """The data of a benchmark."""
        return self.plan.tracks[track].benchmarks[benchmark]

    def planned(self, track: str, name: str, benchmark: str) -> list[Recipe]:
        """The evaluations of a method or a variant that are asked for, by seed."""
        return self.plan.evaluations(track, name, benchmark)

    def complete(self, track: str, name: str, benchmark: str) -> list[Recipe]:
        """Those of them that are there."""
        return [evaluation for evaluation in self.planned(track, name, benchmark) if self.is_complete(evaluation)]

    def recipe(self, key: str) -> Recipe:
        """What is asked for under a key."""
        return self.plan.by_key[key]

    def record(self, recipe: Recipe) -> dict[str, Any]:
        """The record of something that is there."""
        if recipe.digest not in self._records:
            self._records[recipe.digest] = self.work.store.record(recipe)
        return self._records[recipe.digest]

    def made(self, recipe: Recipe) -> Mapping[str, Any] | None:
        """By what, where and when something was made; None where it is not here."""
        return self.record(recipe)["made"] if self.is_complete(recipe) else None

    def is_complete(self, recipe: Recipe) -> bool:
        """Whether something is there."""
        if recipe.digest not in self._complete:
            self._complete[recipe.digest] = self.work.store.is_complete(recipe)
        return self._complete[recipe.digest]

    def metrics(self, evaluation: Recipe) -> Mapping[str, float]:
        """All metrics of a complete evaluation, and its costs, by name.

        Raises:
            DamagedError: what they follow from was changed.
        """
        if evaluation.digest not in self._taken:
            self._taken[evaluation.digest] = self._metrics.of(evaluation)
        return self._taken[evaluation.digest]

    def file(self, recipe: Recipe, name: str) -> Path:
        """The path of a stored file, its bytes checked.

        Raises:
            DamagedError: it is missing or was changed.
        """
        return self.work.store.file(recipe, name)

    def statistics(self, data: Recipe) -> dict[str, Any]:
        """The counts of a data set, as its index has them."""
        counts: dict[str, Any] = read_json(self.file(data, "statistics.json"))
        return counts

    def folder(self, recipe: Recipe) -> Path:
        """The folder of what was made of a recipe, its bytes checked.

        Raises:
            DamagedError: a file is missing or was changed.
        """
        self.work.store.verify(recipe)
        return self.work.store.folder(recipe)

    def raw(self, data: Recipe) -> Path:
        """The folder of a data set's raw files."""
        return TRACKS[data.track].root(data, self.work.data)
