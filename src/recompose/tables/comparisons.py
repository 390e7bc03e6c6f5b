"""Differences between methods, seed by seed."""

from collections.abc import Iterator
from itertools import chain, combinations
from math import isnan, nan
from statistics import mean

from recompose.claims.estimates import paired
from recompose.papers.declaration import Paper
from recompose.plan import Recipe
from recompose.tables.cells import Cell, absent
from recompose.tables.results import Results
from recompose.tracks import TRACKS


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
    description = TRACKS[track].description_of(metric)
    first, second = (
        [description.factor * results.metrics(pair[side]).get(metric, nan) for pair in matches] for side in (0, 1)
    )
    value, text = _mean_difference(first, second, description.digits)
    return Cell(
        row="",
        column="",
        text=text,
        value=value,
        n=len(first),
        made_from=[evaluation.key for recipes in complete for evaluation in recipes],
        missing=absent(chain(*planned), chain(*complete)),
        names=list(methods),
        benchmark=benchmark,
        metric=metric,
    )


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
