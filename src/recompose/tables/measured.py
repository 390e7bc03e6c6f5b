"""The measured cells of tables, by the kinds that all tracks share."""

from collections.abc import Iterator
from typing import Any

from recompose.errors import PlanError
from recompose.papers.declaration import Paper, View
from recompose.plan import Recipe
from recompose.tables.cells import Cell, absent, data_cell, mean_cell
from recompose.tables.comparisons import difference_cell
from recompose.tables.means import means_over_rows
from recompose.tables.results import Results
from recompose.tables.rows import MeasuredRow, rows_of
from recompose.tracks import TRACKS


def statistics(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """Yield the counts of each data set."""
    for benchmark in results.benchmarks(paper.track):
        data = results.data(paper.track, benchmark)
        counts = results.statistics(data)
        for column, key in paper.artifacts[name].columns.items():
            if key in counts:
                yield data_cell(data, paper.datasets.get(benchmark, benchmark), column, counts[key], benchmark)


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
                yield Cell(
                    row=row,
                    column=benchmark,
                    text=f"{value:g}",
                    value=value,
                    n=len(complete),
                    made_from=[recipe.key for recipe in complete],
                    missing=absent(planned, complete),
                    names=[method],
                    benchmark=benchmark,
                )


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
    rows = list(rows_of(results, paper, name))
    for row in rows:
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
    yield from means_over_rows(results, paper, name, rows)


def _differences_from_baseline(
    results: Results, paper: Paper, view: str, section: View, row: MeasuredRow
) -> Iterator[Cell]:
    """Yield the metrics of a variant less those of its method, see ``difference_cell``."""
    variant, baseline = paper.variants.get(row.name), section.baseline
    if variant is None or variant.method != baseline:
        return
    for column, metric in section.columns.items():
        cell = difference_cell(results, paper.track, row.benchmark, (row.name, baseline), metric)
        yield cell.but(row=row.row, column=f"{row.benchmark} {column}", view=view)
