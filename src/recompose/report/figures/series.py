"""The evaluations that a figure shows."""

from collections.abc import Iterator
from dataclasses import replace

from recompose.papers.declaration import FOREST, Paper
from recompose.plan import Recipe
from recompose.report.cells import Cell
from recompose.report.claims import verdicts
from recompose.report.measured import Row, rows_of
from recompose.report.results import Results


def series_of(results: Results, paper: Paper, name: str) -> list[Row]:
    """What a figure shows, row by row and benchmark by benchmark."""
    return list(rows_of(results, paper, name))


def by_benchmark(results: Results, paper: Paper, name: str) -> dict[str, dict[str, Recipe]]:
    """The first complete evaluation of each row, by benchmark: of those benchmarks where every row has one.

    All are of the same data: where seeds draw data of their own, of the first that every row has an evaluation of.
    """
    rows: dict[str, dict[str, dict[str, Recipe]]] = {}
    for series in series_of(results, paper, name):
        of_data: dict[str, Recipe] = {}
        for evaluation in series.complete:
            of_data.setdefault(evaluation.needs["data"].digest, evaluation)
        rows.setdefault(series.benchmark, {})[series.row] = of_data
    found = {}
    for benchmark, of_rows in rows.items():
        first, *others = of_rows.values()
        common = [data for data in first if all(data in other for other in others)]
        if common and len(of_rows) == len(paper.artifacts[name].rows):
            found[benchmark] = {row: of_data[common[0]] for row, of_data in of_rows.items()}
    return found


def cells_of(results: Results, paper: Paper, name: str) -> list[Cell]:
    """A cell per row and benchmark, for lineage; of claims one per benchmark: a verdict rests on all comparisons. A
    figure without rows shows data alone.
    """
    kind = paper.artifacts[name].kind
    if kind == FOREST:
        return list(_of_claims(results, paper, name))
    if not paper.artifacts[name].rows:
        return list(_of_benchmarks(results, paper, kind))
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


def _of_claims(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    of_benchmark = {cell.benchmark: cell for cell in verdicts(results, paper, name) if cell.part == "verdict"}
    for benchmark, cell in of_benchmark.items():
        place = {"row": "all claims", "column": f"{benchmark} {FOREST}", "text": FOREST, "part": "", "metric": ""}
        yield replace(cell, **place, n=len(cell.made_from))  # type: ignore[arg-type]


def _of_benchmarks(results: Results, paper: Paper, kind: str) -> Iterator[Cell]:
    for benchmark in results.benchmarks(paper.track):
        source = (results.data(paper.track, benchmark).key,)
        place = f"{benchmark} {kind}"
        yield Cell("data", place, "measured", kind, n=1, made_from=source, expected=source, benchmark=benchmark)
