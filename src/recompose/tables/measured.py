"""The measured cells of tables, by the kinds that all tracks share."""

from collections.abc import Iterator, Mapping
from itertools import chain, combinations
from math import isnan, nan
from statistics import mean
from typing import Any

from recompose.claims.estimates import paired
from recompose.errors import PlanError
from recompose.papers.declaration import Artifact, Paper, View
from recompose.parts.cells import Cell, cell_of, data_cell, mean_cell
from recompose.parts.results import Results
from recompose.parts.rows import MeasuredRow, rows_of
from recompose.plan import Recipe
from recompose.tables.differing import value_text

OVER_ROWS = "mean over rows, then over seeds"


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
                cell, value = cell_of(complete, planned, [method], benchmark), _setting(planned[0], setting)
                is_number = isinstance(value, int | float)
                text = f"{value:g}" if is_number else value_text(value)
                yield cell.but(row=row, column=benchmark, text=text, value=value if is_number else None)


def _setting(evaluation: Recipe, setting: str) -> Any:
    """Return a setting, by its dotted name, of an evaluation or of the run that it scores."""
    for recipe in (evaluation, *([evaluation.needs["run"]] if "run" in evaluation.needs else [])):
        value: Any = recipe.document["settings"]
        for key in setting.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        if value is not None:
            return value
    raise PlanError(f"{evaluation.name} has no setting {setting}", code="unknown-setting", place=setting)


def metrics(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """Yield the metrics of each row's evaluations, in each view, without those that a method does not have."""
    rows, views = list(rows_of(results, paper, name)), paper.artifacts[name].all_views
    for row in rows:
        for view, section in views.items():
            if section.baseline:
                yield from _differences_from_baseline(results, paper, view, section, row)
            else:
                yield from (cell.but(view=view) for cell, _ in _mean_cells(results, paper, row, section.columns))
    yield from means_over_rows(results, paper, name, rows)


def _mean_cells(
    results: Results, paper: Paper, row: MeasuredRow, columns: Mapping[str, str]
) -> Iterator[tuple[Cell, list[float]]]:
    """Yield the mean of each metric over a row's evaluations, with their values; not of one that it lacks."""
    measured = [results.metrics(evaluation) for evaluation in row.complete]
    for column, metric in columns.items():
        values = [numbers[metric] for numbers in measured if metric in numbers]
        if values or not row.complete:
            cell = mean_cell(row.cell, values, results.tracks[paper.track].description_of(metric))
            yield cell.but(column=f"{row.benchmark} {column}", metric=metric), values


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


def means_over_rows(results: Results, paper: Paper, name: str, rows: list[MeasuredRow]) -> Iterator[Cell]:
    """Yield the means over rows of a table that it declares, on each benchmark that has all of these rows.

    They are over the rows at each seed that all of them have, then over seeds; they compete with no row for the best
    value.
    """
    artifact = paper.artifacts[name]
    for title, parts in artifact.means.items():
        for benchmark in dict.fromkeys(row.benchmark for row in rows):
            averaged = [row for row in rows if row.benchmark == benchmark and row.row in parts]
            if len(averaged) == len(parts):
                yield from _means(results, paper.track, artifact, title, averaged)


def _means(results: Results, track: str, artifact: Artifact, title: str, rows: list[MeasuredRow]) -> Iterator[Cell]:
    complete, planned = (matches_by_seed(*sides) for sides in ([r.complete for r in rows], [r.planned for r in rows]))
    measured = [[results.metrics(evaluation) for evaluation in match] for match in complete]
    names, benchmark, beside = [row.name for row in rows], rows[0].benchmark, rows[0].beside
    basis = cell_of([*chain(*complete)], chain(*planned), names, benchmark).but(beside=[*beside])
    for view, section in artifact.all_views.items():
        for column, metric in section.columns.items() if not section.baseline else ():
            with_metric = [of_seed for of_seed in measured if all(metric in numbers for numbers in of_seed)]
            values = [mean(numbers[metric] for numbers in of_seed) for of_seed in with_metric]
            if values or not complete:
                cell = mean_cell(basis, values, results.tracks[track].description_of(metric))
                place = {"row": title, "column": f"{benchmark} {column}", "view": view, "metric": metric}
                yield cell.but(**place, values=[], better=0, rule=OVER_ROWS)


def intervals(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """Yield, for each row, the mean over seeds with its sample standard deviation, and the ends of its interval.

    The ends of the 95 % interval of Student's t have a row each and one digit more. Fewer than two seeds have none.
    """
    columns = next(iter(paper.artifacts[name].all_views.values())).columns
    for row in rows_of(results, paper, name):
        for cell, values in _mean_cells(results, paper, row, columns):
            yield cell
            if len(values) < 2:
                continue
            description = results.tracks[paper.track].description_of(cell.metric)
            scaled = [description.factor * value for value in values]
            for end, value in zip(("from", "to"), paired(scaled).interval(), strict=True):
                text = f"{value:.{description.digits + 1}f}"
                row_of_end = f"{row.row}, interval {end}"
                yield cell.but(row=row_of_end, text=text, value=value, spread=None, values=[], better=0)


def comparisons(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """Yield the difference of every two rows of a table in the metric of each view: row less column."""
    artifact = paper.artifacts[name]
    for view, section in artifact.all_views.items():
        for benchmark in results.benchmarks(paper.track):
            planned = [row for row, method in artifact.rows.items() if results.planned(paper.track, method, benchmark)]
            for baseline, row in combinations(planned, 2):
                methods = artifact.rows[row], artifact.rows[baseline]
                cell = difference_cell(results, paper.track, benchmark, methods, section.of)
                yield cell.but(row=row, column=f"{benchmark} - {baseline}", view=view)


def difference_cell(results: Results, track: str, benchmark: str, methods: tuple[str, str], metric: str) -> Cell:
    """Return the difference of a metric of two methods, the first less the second, at their common seeds.

    The text adds the 95 % interval of the mean if there are two seeds or more.
    """
    planned = [results.planned(track, name, benchmark) for name in methods]
    complete = [[evaluation for evaluation in recipes if results.is_complete(evaluation)] for recipes in planned]
    matches = matches_by_seed(*complete)
    description = results.tracks[track].description_of(metric)
    first, second = (
        [description.factor * results.metrics(pair[side]).get(metric, nan) for pair in matches] for side in (0, 1)
    )
    value, text = _mean_difference(first, second, description.digits)
    cell = cell_of([*chain(*complete)], chain(*planned), methods, benchmark)
    return cell.but(text=text, value=value, n=len(first), metric=metric)


def _mean_difference(first: list[float], second: list[float], digits: int) -> tuple[float | None, str]:
    """Return the mean difference of paired values, and its text."""
    if not first:
        return None, "not run"
    differences = [a - b for a, b in zip(first, second, strict=True)]
    value = mean(differences)
    if isnan(value):
        return None, "not measured"
    text = f"{value:+.{digits}f}"
    if len(first) > 1:
        low, high = paired(differences).interval()
        text += f" ({low:+.{digits}f} to {high:+.{digits}f})"
    return value, text


def matches_by_seed(*sides: list[Recipe]) -> list[tuple[Recipe, ...]]:
    """Return an evaluation of each method at each seed that all of them have, by rising seed."""
    by_seed = [{int(evaluation.labels["seed"]): evaluation for evaluation in side} for side in sides]
    seeds = set.intersection(*(set(side) for side in by_seed))
    return [tuple(side[seed] for side in by_seed) for seed in sorted(seeds)]
