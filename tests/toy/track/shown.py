"""The track's own kind of figure."""

from functools import partial

import pandas as pd
from matplotlib.figure import Figure

from recompose.files import read_json
from recompose.papers.declaration import Paper
from recompose.parts.results import Results, rows_of
from recompose.parts.style import Drawing, panels


def draw_guesses(results: Results, paper: Paper, name: str) -> Drawing:
    """The guess of each seed, a line for each row."""
    points = pd.DataFrame(
        {"row": series.row, "seed": each.labels["seed"], "guess": read_json(results.file(each, "scores.json"))["guess"]}
        for series in rows_of(results, paper, name)
        for each in series.complete
    )
    return Drawing(points, partial(_figure, points))


def _figure(points: pd.DataFrame) -> Figure:
    figure, axes = panels(1, 1)
    for row, of_row in points.groupby("row"):
        axes[0][0].plot(of_row["seed"], of_row["guess"], marker="o", label=row)
    axes[0][0].legend()
    return figure
