"""The cells of a figure's lineage."""

from collections.abc import Iterator

from recompose.claims.cells import verdicts
from recompose.papers.declaration import FOREST, Paper
from recompose.tables.cells import Cell, absent
from recompose.tables.results import Results
from recompose.tables.rows import rows_of


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
            row=series.row,
            column=f"{series.benchmark} {kind}",
            text=kind,
            n=len(series.complete),
            made_from=[evaluation.key for evaluation in series.complete],
            missing=absent(series.planned, series.complete),
            names=[series.name],
            benchmark=series.benchmark,
            beside=list(series.beside),
        )
        for series in rows_of(results, paper, name)
    ]


def _forest_cells(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    by_benchmark = {cell.benchmark: cell for cell in verdicts(results, paper, name) if cell.part == "verdict"}
    for benchmark, cell in by_benchmark.items():
        column, n = f"{benchmark} {FOREST}", len(cell.made_from)
        yield cell.but(row="all claims", column=column, text=FOREST, part="", metric="", n=n)


def _data_cells(results: Results, paper: Paper, kind: str) -> Iterator[Cell]:
    for benchmark in results.benchmarks(paper.track):
        source, column = [results.data(paper.track, benchmark).key], f"{benchmark} {kind}"
        yield Cell(row="data", column=column, text=kind, n=1, made_from=source, benchmark=benchmark)
