"""The track's own kinds of tables and figures."""

from collections.abc import Iterator
from functools import partial

import pandas as pd
from matplotlib.figure import Figure

from recompose.files import read_json
from recompose.papers.declaration import Paper
from recompose.parts.cells import Cell, data_cell
from recompose.parts.results import Results
from recompose.parts.rows import rows_of
from recompose.parts.style import Sheet, panels
from recompose.tracks.toy.computing import read


def extremes(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """The shortest and the longest length of each part of the data."""
    for benchmark in results.benchmarks(paper.track):
        data = results.data(paper.track, benchmark)
        for part in ("train", "test"):
            lengths = read(results.file(data, f"{part}.csv"))
            yield data_cell(data, part, f"{benchmark} shortest", min(lengths), benchmark)
            yield data_cell(data, part, f"{benchmark} longest", max(lengths), benchmark)


def draw_guesses(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """The guess of each seed, a line for each row."""
    points = pd.DataFrame(
        {"row": series.row, "seed": each.labels["seed"], "guess": read_json(results.file(each, "scores.json"))["guess"]}
        for series in rows_of(results, paper, name)
        for each in series.complete
    )
    sheet.write(points, partial(_figure, points))


def _figure(points: pd.DataFrame) -> Figure:
    figure, axes = panels(1, 1)
    for row, of_row in points.groupby("row"):
        axes[0][0].plot(of_row["seed"], of_row["guess"], marker="o", label=row)
    axes[0][0].legend()
    return figure


def errors(results: Results) -> str:
    """The error of each method and seed as CSV."""
    lines = [
        f"{name},{each.labels['seed']},{results.metrics(each)['test/error']:.4f}"
        for (name, _), planned in results.plan.tracks["toy"].evaluations.items()
        for each in planned
        if results.is_complete(each)
    ]
    return "\n".join(["name,seed,error", *lines]) + "\n"
