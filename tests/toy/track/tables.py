"""The track's own kind of table, and its numbers for plots."""

from collections.abc import Iterator

from recompose.papers.declaration import Paper
from recompose.parts.cells import Cell, data_cell
from recompose.parts.results import Results
from recompose.tracks.toy.computing import read


def extremes(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """The shortest and the longest length of each part of the data."""
    for benchmark in results.benchmarks(paper.track):
        data = results.data(paper.track, benchmark)
        for part in ("train", "test"):
            lengths = read(results.file(data, f"{part}.csv"))
            yield data_cell(data, part, f"{benchmark} shortest", min(lengths), benchmark)
            yield data_cell(data, part, f"{benchmark} longest", max(lengths), benchmark)


def errors(results: Results) -> str:
    """The error of each method and seed as CSV."""
    lines = [
        f"{name},{each.labels['seed']},{results.metrics(each)['test/error']:.4f}"
        for (name, _), planned in results.plan.tracks["toy"].evaluations.items()
        for each in planned
        if results.is_complete(each)
    ]
    return "\n".join(["name,seed,error", *lines]) + "\n"
