"""Curves of seen over unseen accuracy as a calibration bias grows."""

from collections.abc import Callable
from math import ceil
from typing import Any, Protocol

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

GRID = 101  # points of unseen accuracy at which curves are drawn
LEGEND_COLUMNS = 4


class Curve(Protocol):
    """A staircase: accuracies [points] by rising bias, as fractions."""

    @property
    def seen(self) -> np.ndarray:
        """Accuracy of seen ones, which falls."""

    @property
    def unseen(self) -> np.ndarray:
        """Accuracy of unseen ones, which rises."""


Read = Callable[[Results, Recipe], Curve]


def draw_curves(results: Results, paper: Paper, name: str, sheet: Sheet, read: Read) -> None:
    """Seen over unseen accuracy, a panel for each data set."""
    parts = [
        _sampled(read(results, evaluation)).assign(
            dataset=series.benchmark, row=series.row, seed=evaluation.labels["seed"]
        )
        for series in series_of(results, paper, name)
        for evaluation in series.complete
    ]
    columns = ["dataset", "row", "seed", "unseen", "seen"]
    points = pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)
    datasets = list(points["dataset"].unique())
    figure, axes = panels(1, len(datasets))
    for axis, dataset in zip(axes[0], datasets, strict=False):
        _draw_curves(axis, points[points["dataset"] == dataset], dataset)
    sheet.write(figure, points)


def mean_curves(results: Results, track: str, read: Read) -> str:
    """The mean seen accuracy of each method at each unseen accuracy, in percent, as CSV.

    Of the track's first data set; a method's column ends where its unseen accuracy does.
    """
    plan = results.plan.tracks[track]
    benchmark = next(iter(plan.benchmarks))
    columns = {
        method: _mean_curve([read(results, each) for each in complete])
        for method in plan.methods
        if (complete := results.complete(track, method, benchmark))
    }
    lines = [",".join(["unseen", *columns])]
    for unseen in range(101):
        values = [curve[unseen] for curve in columns.values()]
        lines.append(",".join([str(unseen), *("" if np.isnan(value) else f"{value:.3f}" for value in values)]))
    return "\n".join(lines) + "\n"


def _mean_curve(curves: list[Curve]) -> np.ndarray:
    """Seen accuracy [101] at whole percents of unseen accuracy; NaN where a seed does not reach it."""
    grid = np.linspace(0, 1, 101)
    seen = []
    for curve in curves:
        place = np.searchsorted(curve.unseen, grid)
        seen.append(np.append(curve.seen, np.nan)[place])
    return 100 * np.mean(seen, axis=0)


def _sampled(curve: Curve) -> pd.DataFrame:
    """Seen over unseen accuracy, in percent, at a grid of unseen accuracies."""
    grid = np.linspace(0, curve.unseen[-1], GRID)
    return pd.DataFrame({"unseen": 100 * grid, "seen": 100 * _highest(curve.unseen, curve.seen, grid)})


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
