"""Differences between methods, seed by seed."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from math import isnan, nan
from statistics import mean

from recompose.papers.declaration import Paper
from recompose.plan import Recipe
from recompose.report.cells import Cell
from recompose.report.inference import paired
from recompose.report.results import Results
from recompose.tracks import TRACKS


def comparisons(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """Every two rows of a table: how much more the row has than the one that names the column, in the metric of each
    view.
    """
    artifact = paper.artifacts[name]
    for view, section in artifact.all_views.items():
        for benchmark in results.benchmarks(paper.track):
            planned = {row: bool(results.planned(paper.track, of, benchmark)) for row, of in artifact.rows.items()}
            for other, row in combinations((row for row, is_there in planned.items() if is_there), 2):
                methods = artifact.rows[row], artifact.rows[other]
                cell = difference_cell(results, paper.track, benchmark, methods, section.of)
                yield replace(cell, row=row, column=f"{benchmark} - {other}", view=view)


def difference_cell(results: Results, track: str, benchmark: str, methods: tuple[str, str], metric: str) -> Cell:
    """How much more of a metric the first of two methods has, in the seeds that both have, with the 95 % interval of
    the mean where there are two or more.
    """
    planned = [results.planned(track, name, benchmark) for name in methods]
    there = [[each for each in of_name if results.is_complete(each)] for of_name in planned]
    complete = _by_seed(*there)
    keys, expected = (tuple(each.key for of_name in both for each in of_name) for both in (there, planned))
    about = TRACKS[track].description_of(metric)
    own, others = (
        [about.factor * results.metrics(both[side]).get(metric, nan) for both in complete] for side in (0, 1)
    )
    moved, text = _difference(own, others, about.digits)
    cell = Cell("", "", "measured", text, moved, n=len(own), made_from=keys, expected=expected)
    return replace(cell, names=methods, benchmark=benchmark, metric=metric)


def _difference(own: list[float], others: list[float], digits: int) -> tuple[float | None, str]:
    """The mean difference of values that belong together, and what is said of it."""
    if not own:
        return None, "not run"
    moved = mean(one - other for one, other in zip(own, others, strict=True))
    if isnan(moved):
        return None, "not measured"
    text = f"{moved:+.{digits}f}"
    if len(own) > 1:
        estimate = paired(own, others)
        text += f" ({estimate.low:+.{digits}f} to {estimate.high:+.{digits}f})"
    return moved, text


def _by_seed(first: list[Recipe], second: list[Recipe]) -> list[tuple[Recipe, Recipe]]:
    """Of each seed that both have an evaluation of, these two."""
    of_first, of_second = ({int(each.labels["seed"]): each for each in side} for side in (first, second))
    return [(of_first[seed], of_second[seed]) for seed in sorted(of_first.keys() & of_second.keys())]
