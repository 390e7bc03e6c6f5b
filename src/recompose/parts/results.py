"""The results that tables and figures show, and the rows of these, each with its evaluations."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from recompose.papers.declaration import Paper
from recompose.parts.cells import Cell, cell_of
from recompose.recipes.plan import Plan, Recipe
from recompose.tables.metric import Metric

if TYPE_CHECKING:
    from recompose.tracks.track import Track


class Results(Protocol):
    """The planned evaluations, and their stored results as far as they are complete."""

    @property
    def plan(self) -> Plan:
        """The plan of the workspace."""

    @property
    def tracks(self) -> "Mapping[str, Track]":
        """The tracks of the workspace, with what plugins bring, by name."""

    def benchmarks(self, track: str) -> list[str]:
        """Return the benchmarks of a track."""
        return self.plan.benchmarks(track)

    def data(self, track: str, benchmark: str) -> Recipe:
        """Return the data of a benchmark."""
        return self.plan.tracks[track].benchmarks[benchmark]

    def planned(self, track: str, name: str, benchmark: str) -> list[Recipe]:
        """Return the planned evaluations of a method or a variant, by seed."""

    def complete(self, track: str, name: str, benchmark: str) -> list[Recipe]:
        """Return the complete ones of the planned evaluations."""
        return [evaluation for evaluation in self.planned(track, name, benchmark) if self.is_complete(evaluation)]

    def is_complete(self, recipe: Recipe) -> bool:
        """Return True if the store has the result of a recipe."""

    def metrics(self, evaluation: Recipe) -> Mapping[str, float]:
        """Return all metrics of a complete evaluation, and its costs, by name.

        Raises:
            DamagedError: a file that they follow from was changed.
        """

    def statistics(self, data: Recipe) -> Mapping[str, float]:
        """Return the counts of a data set, as its index has them."""

    def file(self, recipe: Recipe, name: str) -> Path:
        """Return the path of a stored file, its bytes checked.

        Raises:
            DamagedError: it is missing or was changed.
        """

    def folder(self, recipe: Recipe) -> Path:
        """Return the folder of the result of a recipe, its bytes checked.

        Raises:
            DamagedError: a file is missing or was changed.
        """

    def raw(self, data: Recipe) -> Path:
        """Return the folder of a data set's raw files."""


Cells: TypeAlias = Callable[[Results, Paper, str], Iterator[Cell]]  # yields the measured cells of a table of a paper


@dataclass(frozen=True)
class MeasuredRow:
    """A row of an artifact on one benchmark: its planned evaluations, and the complete ones of them."""

    row: str
    name: str  # method or variant
    benchmark: str
    planned: list[Recipe]
    complete: list[Recipe]
    beside: tuple[str, ...] = ()  # the names of all rows, if some rows have more seeds than others

    @property
    def cell(self) -> Cell:
        """A cell of this row, without what it shows."""
        cell = cell_of(self.complete, [self.name], self.benchmark)
        return cell.but(row=self.row, beside=[*self.beside])


def rows_of(results: Results, paper: Paper, name: str) -> Iterator[MeasuredRow]:
    """Yield the rows of an artifact on each benchmark that they are planned on, in the replicates that all have."""
    rows = paper.artifacts[name].rows
    compared: dict[str, tuple[dict[str, list[Recipe]], tuple[str, ...]]] = {}
    for benchmark in paper.benchmarks_among(results.benchmarks(paper.track)):
        planned = {method: results.planned(paper.track, method, benchmark) for method in rows.values()}
        planned = {method: recipes for method, recipes in planned.items() if recipes}
        shared = shared_replicates(planned)
        compared[benchmark] = shared, tuple(planned) if shared != planned else ()
    for row, method in rows.items():
        for benchmark, (shared, beside) in compared.items():
            if recipes := shared.get(method):
                complete = [evaluation for evaluation in recipes if results.is_complete(evaluation)]
                yield MeasuredRow(row, method, benchmark, recipes, complete, beside)


def described_metrics(results: Results, paper: Paper, name: str) -> dict[str, tuple[str, Metric]]:
    """Return the metric of each column of an artifact's first view, with its description."""
    columns = next(iter(paper.artifacts[name].all_views.values())).columns
    track = results.tracks[paper.track]
    return {column: (metric, track.description_of(metric)) for column, metric in columns.items()}


def first_evaluations(results: Results, paper: Paper, name: str) -> dict[str, dict[str, Recipe]]:
    """Return the first complete evaluation of each row: benchmark -> row -> evaluation.

    Benchmarks where a row has none are left out. All evaluations of a benchmark have the same data: those of the first
    replicate that every row has an evaluation of, or of the first seed where an evaluation is on data of another kind.
    """
    rows: dict[str, dict[str, dict[object, Recipe]]] = {}
    for series in rows_of(results, paper, name):
        by_data: dict[object, Recipe] = {}
        for evaluation in series.complete:
            data = evaluation.needs.get("data")
            by_data.setdefault(data.digest if data else evaluation.labels["seed"], evaluation)
        rows.setdefault(series.benchmark, {})[series.row] = by_data
    evaluations = {}
    for benchmark, by_row in rows.items():
        common = [data for data in next(iter(by_row.values())) if all(data in by_data for by_data in by_row.values())]
        if common and len(by_row) == len(paper.artifacts[name].rows):
            evaluations[benchmark] = {row: by_data[common[0]] for row, by_data in by_row.items()}
    return evaluations


def shared_replicates(planned: Mapping[str, Sequence[Recipe]]) -> dict[str, list[Recipe]]:
    """Restrict the evaluations of several methods to the seeds that all of them have, if seeds have data of their own.

    All evaluations are returned if the methods share no seed, or if all seeds have the same data. A method that trains
    nothing and was evaluated once, such as chance, restricts no other; one without evaluations is left out.
    """
    compared = {name: [*evaluations] for name, evaluations in planned.items() if evaluations}
    seeds = [
        {evaluation.labels["seed"] for evaluation in evaluations}
        for evaluations in compared.values()
        if len(evaluations) > 1 or any("run" in evaluation.needs for evaluation in evaluations)
    ]
    shared = set.intersection(*seeds) if seeds else set()
    if not shared or not any(map(_has_replicates, compared.values())):
        return compared
    return {
        name: [evaluation for evaluation in evaluations if evaluation.labels["seed"] in shared] or evaluations
        for name, evaluations in compared.items()
    }


def _has_replicates(planned: Sequence[Recipe]) -> bool:
    """Return True if evaluations of one method on one benchmark have different data."""
    data = {
        frozenset(need.digest for need in evaluation.needs.values() if need.kind == "data") for evaluation in planned
    }
    return len(data) > 1
