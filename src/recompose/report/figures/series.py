"""The evaluations that a figure shows."""

from collections.abc import Iterator
from dataclasses import replace

from recompose.papers.declaration import FOREST, Paper
from recompose.plan import Recipe
from recompose.report.cells import Cell
from recompose.report.claims import verdicts
from recompose.report.measured import MeasuredRow, rows_of
from recompose.report.results import Results


def series_of(results: Results, paper: Paper, name: str) -> list[MeasuredRow]:
    """Return the rows of a figure, row by row and benchmark by benchmark."""
    return list(rows_of(results, paper, name))


def first_evaluations(results: Results, paper: Paper, name: str) -> dict[str, dict[str, Recipe]]:
    """Return the first complete evaluation of each row: benchmark -> row -> evaluation.

    Benchmarks where a row has none are left out. All evaluations of a benchmark have the same data: those of the first
    replicate that every row has an evaluation of.
    """
    rows: dict[str, dict[str, dict[str, Recipe]]] = {}
    for series in series_of(results, paper, name):
        by_data: dict[str, Recipe] = {}
        for evaluation in series.complete:
            by_data.setdefault(evaluation.needs["data"].digest, evaluation)
        rows.setdefault(series.benchmark, {})[series.row] = by_data
    evaluations = {}
    for benchmark, by_row in rows.items():
        common = [data for data in next(iter(by_row.values())) if all(data in by_data for by_data in by_row.values())]
        if common and len(by_row) == len(paper.artifacts[name].rows):
            evaluations[benchmark] = {row: by_data[common[0]] for row, by_data in by_row.items()}
    return evaluations


def figure_cells(results: Results, paper: Paper, name: str) -> list[Cell]:
    """Return the cells of a figure's lineage: one for each row and benchmark.

    A forest plot has one for each benchmark, since its verdicts rest on all comparisons, and so has a figure without
    rows, which shows data alone.
    """
    kind = paper.artifacts[name].kind
    if kind == FOREST:
        return list(_forest_cells(results, paper, name))
    if not paper.artifacts[name].rows:
        return list(_data_cells(results, paper, kind))
    return [
        Cell(
            series.row,
            f"{series.benchmark} {kind}",
            "measured",
            kind,
            n=len(series.complete),
            made_from=tuple(evaluation.key for evaluation in series.complete),
            expected=tuple(evaluation.key for evaluation in series.planned),
            names=(series.name,),
            benchmark=series.benchmark,
            beside=series.beside,
        )
        for series in series_of(results, paper, name)
    ]


def _forest_cells(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    by_benchmark = {cell.benchmark: cell for cell in verdicts(results, paper, name) if cell.part == "verdict"}
    for benchmark, cell in by_benchmark.items():
        column, n = f"{benchmark} {FOREST}", len(cell.made_from)
        yield replace(cell, row="all claims", column=column, text=FOREST, part="", metric="", n=n)


def _data_cells(results: Results, paper: Paper, kind: str) -> Iterator[Cell]:
    for benchmark in results.benchmarks(paper.track):
        source = (results.data(paper.track, benchmark).key,)
        column = f"{benchmark} {kind}"
        yield Cell("data", column, "measured", kind, n=1, made_from=source, expected=source, benchmark=benchmark)
