"""Rows of tables that are means over other rows."""

from collections.abc import Iterable, Iterator
from statistics import mean

from recompose.papers.declaration import Artifact, Paper
from recompose.plan import Recipe
from recompose.tables.cells import Cell, mean_cell
from recompose.tables.comparisons import matches_by_seed
from recompose.tables.results import Results
from recompose.tables.rows import MeasuredRow
from recompose.tracks import TRACKS

OVER_ROWS = "mean over rows, then over seeds"


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
    names = [row.name for row in rows]
    for view, section in artifact.all_views.items():
        for column, metric in section.columns.items() if not section.baseline else ():
            with_metric = [of_seed for of_seed in measured if all(metric in numbers for numbers in of_seed)]
            values = [mean(numbers[metric] for numbers in of_seed) for of_seed in with_metric]
            if values or not complete:
                label, description = f"{rows[0].benchmark} {column}", TRACKS[track].description_of(metric)
                cell = mean_cell(title, label, values, _flat(complete), _flat(planned), description)
                cell = rows[0].place_cell(cell, view, metric)
                yield cell.but(names=names, values=[], better=0, rule=OVER_ROWS)


def _flat(matches: Iterable[tuple[Recipe, ...]]) -> list[Recipe]:
    return [evaluation for match in matches for evaluation in match]
