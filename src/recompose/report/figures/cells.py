"""The cells of a figure's lineage."""

from collections.abc import Iterator
from dataclasses import replace

from recompose.claims.cells import verdicts
from recompose.exhibits.cells import Cell
from recompose.exhibits.results import Results
from recompose.exhibits.rows import rows_of
from recompose.papers.declaration import FOREST, Paper


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
        for series in rows_of(results, paper, name)
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
