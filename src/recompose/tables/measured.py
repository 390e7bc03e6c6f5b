"""The measured cells of tables, by the kinds that all tracks share."""

from collections.abc import Iterator, Mapping
from itertools import chain, combinations
from math import isnan, nan
from statistics import mean
from typing import Any

from recompose.claims.cells import basis_of, family_basis
from recompose.claims.differences import number_text
from recompose.claims.estimates import interval_of_mean
from recompose.claims.verdicts import ClaimTests, TestedComparison
from recompose.errors import PlanError
from recompose.papers.declaration import Artifact, Paper
from recompose.parts.cells import Cell, cell_of, data_cell, mean_cell
from recompose.parts.results import MeasuredRow, Results, rows_of
from recompose.recipes.plan import Recipe
from recompose.tables.differing import value_text

OVER_ROWS = "mean over rows, then over seeds"
ADJUSTED = ", adjusted p"  # the end of the columns of p in tables against baselines


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
            if planned := results.planned(paper.track, method, benchmark):
                cell, value = basis_of(results, paper, benchmark, [method]), _setting(planned[0], setting)
                is_number = isinstance(value, int | float)
                text = f"{value:g}" if is_number else value_text(value)
                yield cell.but(row=row, column=benchmark, text=text, value=value if is_number else None)


def _setting(evaluation: Recipe, setting: str) -> Any:
    """Return a setting, by its dotted name, of an evaluation or of the run that it scores."""
    for recipe in filter(None, (evaluation, evaluation.needs.get("run"))):
        value: Any = recipe.document["settings"]
        for key in setting.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        if value is not None:
            return value
    raise PlanError(f"{evaluation.name} has no setting {setting}", code="unknown-setting", place=setting)


def metrics(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """Yield the metrics of each row's evaluations, in each view, without those that a method does not have.

    A view with a baseline has those of the baseline's variants less the baseline's, see ``difference_cell``.
    """
    rows, views = list(rows_of(results, paper, name)), paper.artifacts[name].all_views
    for row in rows:
        variant = paper.variants.get(row.name)
        for view, section in views.items():
            if not section.baseline:
                yield from (cell.but(view=view) for cell, _ in _mean_cells(results, paper, row, section.columns))
            elif variant and variant.method == section.baseline:
                for column, metric in section.columns.items():
                    cell = difference_cell(results, paper, row.benchmark, (row.name, section.baseline), metric)
                    yield cell.but(row=row.row, column=f"{row.benchmark} {column}", view=view)
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
    complete = matches_by_seed(*(row.complete for row in rows))
    measured = [[results.metrics(evaluation) for evaluation in match] for match in complete]
    names, benchmark, beside = [row.name for row in rows], rows[0].benchmark, rows[0].beside
    basis = cell_of([*chain(*complete)], names, benchmark).but(beside=[*beside])
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

    The ends of the 95 % interval of Student's t have a row each and one digit more. One seed has none, nor have two
    equal ones.
    """
    columns = next(iter(paper.artifacts[name].all_views.values())).columns
    for row in rows_of(results, paper, name):
        for cell, values in _mean_cells(results, paper, row, columns):
            yield cell
            description = results.tracks[paper.track].description_of(cell.metric)
            ends = interval_of_mean([description.factor * value for value in values]) or ()
            for end, value in zip(("from", "to"), ends, strict=False):
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
                cell = difference_cell(results, paper, benchmark, methods, section.of)
                yield cell.but(row=row, column=f"{benchmark} - {baseline}", view=view)


def difference_cell(results: Results, paper: Paper, benchmark: str, methods: tuple[str, str], metric: str) -> Cell:
    """Return the difference of a metric of two methods, the first less the second, at their common seeds."""
    description = results.tracks[paper.track].description_of(metric)
    matches = matches_by_seed(*(results.complete(paper.track, name, benchmark) for name in methods))
    sides = ([description.factor * results.metrics(side).get(metric, nan) for side in match] for match in matches)
    differences = [first - second for first, second in sides]
    value, text = _mean_difference(differences, description.digits)
    return basis_of(results, paper, benchmark, methods).but(text=text, value=value, n=len(matches), metric=metric)


def _mean_difference(differences: list[float], digits: int) -> tuple[float | None, str]:
    """Return the mean of differences, and its text with the 95 % interval of the mean if it has one."""
    value = mean(differences) if differences else nan
    if isnan(value):
        return None, "not measured" if differences else "not run"
    text = f"{value:+.{digits}f}"
    if interval := interval_of_mean(differences):
        low, high = interval
        text += f" ({low:+.{digits}f} to {high:+.{digits}f})"
    return value, text


def matches_by_seed(*sides: list[Recipe]) -> list[tuple[Recipe, ...]]:
    """Return an evaluation of each method at each seed that all of them have, by rising seed."""
    by_seed = [{int(evaluation.labels["seed"]): evaluation for evaluation in side} for side in sides]
    seeds = set.intersection(*(set(side) for side in by_seed))
    return [tuple(side[seed] for side in by_seed) for seed in sorted(seeds)]


def against(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """Yield the means of each row, then its difference from each baseline in each metric, and the p of that.

    The differences are those of the claims about the table, each of a row against a baseline in a metric.
    """
    artifact = paper.artifacts[name]
    means, *differences = artifact.views
    columns = artifact.views[means].columns
    for row in rows_of(results, paper, name):
        yield from (cell.but(view=means) for cell, _ in _mean_cells(results, paper, row, columns))
    labels = {metric: label for label, metric in columns.items()}
    views = {artifact.views[view].baseline: view for view in differences}
    rows = {method: row for row, method in artifact.rows.items()}
    for benchmark in paper.benchmarks_among(results.benchmarks(paper.track)):
        tests = ClaimTests.of(results, paper, benchmark)
        family = family_basis(results, paper, benchmark, rows)
        for claim in (claim for claim in tests.claims.values() if claim.artifact == name):
            (tested,) = tests.of_claim(claim)
            pair = basis_of(results, paper, benchmark, claim.methods)
            for cell in _against_cells(tested, labels[claim.metric], pair, family):
                yield cell.but(row=rows[claim.higher], view=views[claim.lower[0]], metric=claim.metric)


def _against_cells(tested: TestedComparison, label: str, pair: Cell, family: Cell) -> Iterator[Cell]:
    """Yield a difference with its interval, and its p, which rests on all rows."""
    result, benchmark = tested.difference, pair.benchmark
    text = result.obstacle
    if result.value is not None:
        interval = f"({tested.interval_text})" if result.test else f"({result.obstacle})"
        text = f"{number_text(result.value, tested.digits, '+')} {interval}"
    values = list(result.by_seed)
    yield pair.but(column=f"{benchmark} {label}", text=text, value=result.value, n=result.n, values=values)
    column = f"{benchmark} {label}{ADJUSTED}"
    yield family.but(column=column, text=tested.p_text, value=tested.adjusted, n=result.n)
