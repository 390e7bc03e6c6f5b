"""The measured cells of tables, by the kinds that all tracks share."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import mean, stdev
from typing import Any

from recompose.errors import PlanError
from recompose.papers.declaration import Paper, View
from recompose.plan import Recipe
from recompose.report.cells import Cell
from recompose.report.comparisons import difference_cell
from recompose.report.results import Results
from recompose.report.seeds import in_shared_worlds
from recompose.tracks import TRACKS
from recompose.tracks.track import Metric


@dataclass(frozen=True)
class Row:
    """What an artifact shows of a row on a benchmark: the evaluations that the plan wants, and those there are."""

    row: str
    name: str  # method or variant
    benchmark: str
    planned: list[Recipe]
    complete: list[Recipe]
    beside: tuple[str, ...] = ()  # the names of all rows, where some have seeds that others have not

    def at_place(self, cell: Cell, view: str, metric: str) -> Cell:
        """A cell of this row, with what it shows."""
        place = {"names": (self.name,), "benchmark": self.benchmark, "beside": self.beside}
        return replace(cell, view=view, metric=metric, **place)  # type: ignore[arg-type]


def statistics(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """The counts of each data set."""
    for benchmark in results.benchmarks(paper.track):
        data = results.data(paper.track, benchmark)
        counts = results.statistics(data)
        for column, key in paper.artifacts[name].columns.items():
            if key in counts:
                yield of_data(data, paper.datasets.get(benchmark, benchmark), column, counts[key], benchmark)


def of_data(data: Recipe, row: str, column: str, value: float, benchmark: str) -> Cell:
    """A cell that a data set alone determines."""
    source = (data.key,)
    return Cell(
        row, column, "measured", f"{value:g}", value, n=1, made_from=source, expected=source, benchmark=benchmark
    )


def settings(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """Settings of a method on each data set, as its runs had them; of rows that name another, as its own had."""
    artifact = paper.artifacts[name]
    for row in artifact.rows:
        method, setting = artifact.setting_of(row)
        for benchmark in results.benchmarks(paper.track):
            planned = results.planned(paper.track, method, benchmark)
            complete = [evaluation for evaluation in planned if results.is_complete(evaluation)]
            if planned:
                value = _setting(planned[0], setting)
                keys, expected = (tuple(each.key for each in recipes) for recipes in (complete, planned))
                cell = Cell(row, benchmark, "measured", f"{value:g}", value, None, len(complete), keys, expected)
                yield replace(cell, names=(method,), benchmark=benchmark)


def _setting(evaluation: Recipe, setting: str) -> Any:
    """A setting, by its dotted name, of an evaluation or of the run that it scores."""
    for recipe in (evaluation, *([evaluation.needs["run"]] if "run" in evaluation.needs else [])):
        value: Any = recipe.document["settings"]
        for key in setting.split("."):
            value = (value or {}).get(key)
        if value is not None:
            return value
    raise PlanError(f"{evaluation.name} has no setting {setting}")


def metrics(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """The metrics of each row's evaluations, in each view; those that a method does not have are left out."""
    artifact, track = paper.artifacts[name], TRACKS[paper.track]
    for row in rows_of(results, paper, name):
        numbers = [results.metrics(evaluation) for evaluation in row.complete]
        for view, section in artifact.all_views.items():
            if section.baseline:
                yield from _moves(results, paper, view, section, row)
                continue
            for column, metric in section.columns.items():
                values = [of[metric] for of in numbers if metric in of]
                if values or not row.complete:
                    label, about = f"{row.benchmark} {column}", track.description_of(metric)
                    cell = over_seeds(row.row, label, values, row.complete, row.planned, about)
                    yield row.at_place(cell, view, metric)


def _moves(results: Results, paper: Paper, view: str, section: View, row: Row) -> Iterator[Cell]:
    """What a variant moves: its metrics less those of its method, in the seeds that both have, with the 95 % interval
    of the mean where there are two or more.
    """
    declared, base = paper.variants.get(row.name), section.baseline
    if declared is None or declared.method != base:
        return
    for column, metric in section.columns.items():
        cell = difference_cell(results, paper.track, row.benchmark, (row.name, base), metric)
        yield replace(cell, row=row.row, column=f"{row.benchmark} {column}", view=view)


def rows_of(results: Results, paper: Paper, name: str) -> Iterator[Row]:
    """The rows of an artifact on each benchmark where the profile asks for them; of worlds those that all have."""
    rows = paper.artifacts[name].rows
    compared: dict[str, dict[str, list[Recipe]]] = {}
    beside: dict[str, tuple[str, ...]] = {}
    for benchmark in results.benchmarks(paper.track):
        planned = {method: results.planned(paper.track, method, benchmark) for method in rows.values()}
        planned = {method: recipes for method, recipes in planned.items() if recipes}
        shared = in_shared_worlds(list(planned.values()))
        compared[benchmark] = dict(zip(planned, shared, strict=True))
        beside[benchmark] = tuple(planned) if compared[benchmark] != planned else ()
    for row, method in rows.items():
        for benchmark, of_methods in compared.items():
            if method in of_methods:
                recipes = of_methods[method]
                complete = [each for each in recipes if results.is_complete(each)]
                yield Row(row, method, benchmark, recipes, complete, beside[benchmark])


def over_seeds(
    row: str, column: str, values: list[float], complete: list[Recipe], planned: list[Recipe], metric: Metric
) -> Cell:
    """A cell of the mean over seeds, and the sample standard deviation where there are several; values as they are
    kept.
    """
    keys = tuple(evaluation.key for evaluation in complete)
    expected = tuple(evaluation.key for evaluation in planned)
    if not values:
        text = "not measured" if complete else "not run"
        return Cell(row, column, "measured", text, n=0, made_from=keys, expected=expected, better=metric.better)
    values = [metric.factor * value for value in values]
    spread = stdev(values) if len(values) > 1 else None
    digits = metric.digits
    text = f"{mean(values):.{digits}f}" + (f" ± {spread:.{digits}f}" if spread is not None else "")
    each = tuple(values) if len(values) == len(keys) else ()
    return Cell(
        row,
        column,
        "measured",
        text,
        mean(values),
        spread,
        len(values),
        keys,
        expected,
        values=each,
        better=metric.better,
    )
