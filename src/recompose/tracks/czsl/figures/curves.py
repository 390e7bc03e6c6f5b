"""Curves of seen over unseen accuracy as the calibration bias grows."""

from math import ceil
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt

from recompose.palette import SERIES
from recompose.papers.declaration import Paper
from recompose.plan import Recipe
from recompose.report.figures.series import series_of
from recompose.report.figures.style import Sheet, panels
from recompose.report.results import Results
from recompose.tracks.czsl.stored import read_curve

GRID = 101  # points of unseen accuracy at which curves are drawn
LEGEND_COLUMNS = 4


def draw_curves(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """Seen over unseen accuracy, a panel for each data set."""
    view = next(iter(paper.artifacts[name].all_views.values()))
    world = view.of.partition("/")[2]
    parts = [
        _curve(results, evaluation, world).assign(
            dataset=series.benchmark, row=series.row, seed=evaluation.labels["seed"]
        )
        for series in series_of(results, paper, name)
        for evaluation in series.complete
    ]
    points = _joined(parts, ["dataset", "row", "seed", "unseen", "seen"])
    datasets = list(points["dataset"].unique())
    figure, axes = panels(1, len(datasets))
    for axis, dataset in zip(axes[0], datasets, strict=False):
        _draw_curves(axis, points[points["dataset"] == dataset], dataset)
    sheet.write(figure, points)


def mean_curves(results: Results) -> str:
    """The mean seen accuracy of each method at each unseen accuracy, in percent, as CSV.

    Of the first data set, in the closed world; a method's column ends where its unseen accuracy does.
    """
    track = results.plan.tracks["czsl"]
    benchmark = next(iter(track.benchmarks))
    columns = {
        method: _mean_curve(results, complete)
        for method in track.methods
        if (complete := results.complete("czsl", method, benchmark))
    }
    lines = [",".join(["unseen", *columns])]
    for unseen in range(101):
        values = [curve[unseen] for curve in columns.values()]
        lines.append(",".join([str(unseen), *("" if np.isnan(value) else f"{value:.3f}" for value in values)]))
    return "\n".join(lines) + "\n"


def _mean_curve(results: Results, evaluations: list[Recipe]) -> np.ndarray:
    """Seen accuracy [101] at whole percents of unseen accuracy; NaN where a seed does not reach it."""
    grid = np.linspace(0, 1, 101)
    seen = []
    for evaluation in evaluations:
        points = read_curve(results, evaluation, "closed")
        place = np.searchsorted(points.unseen, grid)
        seen.append(np.append(points.seen, np.nan)[place])
    return 100 * np.mean(seen, axis=0)


def _joined(parts: list[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def _curve(results: Results, evaluation: Recipe, world: str) -> pd.DataFrame:
    """Seen over unseen accuracy, in percent, of an evaluation at a grid of unseen accuracies."""
    points = read_curve(results, evaluation, world)
    grid = np.linspace(0, points.unseen[-1], GRID)
    return pd.DataFrame({"unseen": 100 * grid, "seen": 100 * _highest(points.unseen, points.seen, grid)})


def _highest(unseen: np.ndarray, seen: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """The best seen accuracy that still gives each unseen accuracy: the curve is a staircase."""
    return seen[np.searchsorted(unseen, grid, side="left")]


def _draw_curves(axis: plt.Axes, points: pd.DataFrame, dataset: str) -> None:
    """A line for each row: both accuracies are averaged over seeds at equal shares of the way along each seed's
    curve.
    """
    points = points.assign(step=points.groupby(["row", "seed"]).cumcount())
    rows = list(points["row"].unique())
    palette = dict(zip(rows, sns.color_palette(SERIES, len(rows)), strict=True))
    styles = dict(zip(rows, [(), *[(4, 1.5), (1, 1), (3, 1, 1, 1)] * len(rows)], strict=False))
    for row in rows:
        steps = points[points["row"] == row].groupby("step")
        middle, spread = steps[["unseen", "seen"]].mean(), steps["seen"].std().fillna(0)
        look = {"color": palette[row], "dashes": styles[row], "linewidth": 1.2}
        axis.plot(middle["unseen"], middle["seen"], label=row, **look)
        low, high = middle["seen"] - spread, middle["seen"] + spread
        axis.fill_between(middle["unseen"], low, high, color=palette[row], alpha=0.2, linewidth=0)
    axis.set(xlabel="unseen accuracy (%)", ylabel="seen accuracy (%)", xlim=(0, None), ylim=(0, None))
    columns = min(len(rows), LEGEND_COLUMNS)
    axis.set_title(dataset, pad=5 + 13 * ceil(len(rows) / columns))  # above the legend
    above: Any = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "borderaxespad": 0.2}
    axis.legend(ncols=columns, columnspacing=1.2, handlelength=1.8, **above)  # curves cross the whole frame
    sns.despine(ax=axis)
