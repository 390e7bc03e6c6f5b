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
from recompose.report.seeds import shared_replicates
from recompose.tracks import TRACKS
from recompose.tracks.track import Metric


@dataclass(frozen=True)
class MeasuredRow:
    """A row of an artifact on one benchmark: its planned evaluations, and the complete ones of them."""

    row: str
    name: str  # method or variant
    benchmark: str
    planned: list[Recipe]
    complete: list[Recipe]
    beside: tuple[str, ...] = ()  # the names of all rows, if some rows have more seeds than others

    def place_cell(self, cell: Cell, view: str, metric: str) -> Cell:
        """Return a cell with the view, the metric, and the names of this row."""
        return replace(cell, view=view, metric=metric, names=(self.name,), benchmark=self.benchmark, beside=self.beside)


def statistics(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """Yield the counts of each data set."""
    for benchmark in results.benchmarks(paper.track):
        data = results.data(paper.track, benchmark)
        counts = results.statistics(data)
        for column, key in paper.artifacts[name].columns.items():
            if key in counts:
                yield data_cell(data, paper.datasets.get(benchmark, benchmark), column, counts[key], benchmark)


def data_cell(data: Recipe, row: str, column: str, value: float, benchmark: str) -> Cell:
    """Return a cell that a data set alone determines."""
    source = (data.key,)
    return Cell(
        row, column, "measured", f"{value:g}", value, n=1, made_from=source, expected=source, benchmark=benchmark
    )


def settings(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """Yield settings of a method on each data set, as its runs had them; a row may name a method of its own."""
    artifact = paper.artifacts[name]
    for row in artifact.rows:
        method, setting = artifact.setting_of(row)
        for benchmark in results.benchmarks(paper.track):
            planned = results.planned(paper.track, method, benchmark)
            complete = [evaluation for evaluation in planned if results.is_complete(evaluation)]
            if planned:
                value = _setting(planned[0], setting)
                keys, expected = (tuple(recipe.key for recipe in recipes) for recipes in (complete, planned))
                cell = Cell(row, benchmark, "measured", f"{value:g}", value, None, len(complete), keys, expected)
                yield replace(cell, names=(method,), benchmark=benchmark)


def _setting(evaluation: Recipe, setting: str) -> Any:
    """Return a setting, by its dotted name, of an evaluation or of the run that it scores."""
    for recipe in (evaluation, *([evaluation.needs["run"]] if "run" in evaluation.needs else [])):
        value: Any = recipe.document["settings"]
        for key in setting.split("."):
            value = (value or {}).get(key)
        if value is not None:
            return value
    raise PlanError(f"{evaluation.name} has no setting {setting}", code="unknown-setting", place=setting)


def metrics(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """Yield the metrics of each row's evaluations, in each view, without those that a method does not have."""
    artifact, track = paper.artifacts[name], TRACKS[paper.track]
    for row in rows_of(results, paper, name):
        measured = [results.metrics(evaluation) for evaluation in row.complete]
        for view, section in artifact.all_views.items():
            if section.baseline:
                yield from _differences_from_baseline(results, paper, view, section, row)
                continue
            for column, metric in section.columns.items():
                values = [numbers[metric] for numbers in measured if metric in numbers]
                if values or not row.complete:
                    label, description = f"{row.benchmark} {column}", track.description_of(metric)
                    cell = mean_cell(row.row, label, values, row.complete, row.planned, description)
                    yield row.place_cell(cell, view, metric)


def _differences_from_baseline(
    results: Results, paper: Paper, view: str, section: View, row: MeasuredRow
) -> Iterator[Cell]:
    """Yield the metrics of a variant less those of its method, see ``difference_cell``."""
    variant, baseline = paper.variants.get(row.name), section.baseline
    if variant is None or variant.method != baseline:
        return
    for column, metric in section.columns.items():
        cell = difference_cell(results, paper.track, row.benchmark, (row.name, baseline), metric)
        yield replace(cell, row=row.row, column=f"{row.benchmark} {column}", view=view)


def rows_of(results: Results, paper: Paper, name: str) -> Iterator[MeasuredRow]:
    """Yield the rows of an artifact on each benchmark that they are planned on, in the replicates that all have."""
    rows = paper.artifacts[name].rows
    compared: dict[str, dict[str, list[Recipe]]] = {}
    beside: dict[str, tuple[str, ...]] = {}
    for benchmark in results.benchmarks(paper.track):
        planned = {method: results.planned(paper.track, method, benchmark) for method in rows.values()}
        planned = {method: recipes for method, recipes in planned.items() if recipes}
        shared = shared_replicates(list(planned.values()))
        compared[benchmark] = dict(zip(planned, shared, strict=True))
        beside[benchmark] = tuple(planned) if compared[benchmark] != planned else ()
    for row, method in rows.items():
        for benchmark, by_method in compared.items():
            if method in by_method:
                recipes = by_method[method]
                complete = [evaluation for evaluation in recipes if results.is_complete(evaluation)]
                yield MeasuredRow(row, method, benchmark, recipes, complete, beside[benchmark])


def mean_cell(
    row: str, column: str, values: list[float], complete: list[Recipe], planned: list[Recipe], metric: Metric
) -> Cell:
    """Return a cell of the mean over seeds, with the sample standard deviation if there are several seeds.

    Args:
        row: of the cell.
        column: of the cell.
        values: as they are stored, before they are converted to the metric's unit.
        complete: the evaluations that were made.
        planned: the evaluations that the plan has.
        metric: the description of the metric.
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
        values=tuple(values) if len(values) == len(keys) else (),
        better=metric.better,
    )
