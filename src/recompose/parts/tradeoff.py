"""Trade-offs between the accuracies of what training does not show and of what it shows: as a bias grows, the first one
rises and the second one falls.
"""

from collections.abc import Callable
from functools import partial
from math import ceil
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from recompose.palette import SERIES
from recompose.papers.declaration import Paper
from recompose.parts.results import Results, rows_of
from recompose.parts.style import Drawing, panels
from recompose.recipes.plan import Recipe

UNSEEN, SEEN = "unseen", "seen"  # the accuracy that rises and the one that falls
GRID = 101  # points of the rising accuracy on each curve
LEGEND_COLUMNS = 4
# the unseen and the seen accuracies of an evaluation [points] by rising bias, as fractions
Read: TypeAlias = Callable[[Results, Recipe], tuple[np.ndarray, np.ndarray]]


def draw_curves(results: Results, paper: Paper, name: str, read: Read) -> Drawing:
    """Draw seen over unseen accuracy, a panel for each data set."""
    parts = [
        _sampled(*read(results, evaluation)).assign(
            dataset=series.benchmark, row=series.row, seed=evaluation.labels["seed"]
        )
        for series in rows_of(results, paper, name)
        for evaluation in series.complete
    ]
    columns = ["dataset", "row", "seed", UNSEEN, SEEN]
    points = pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)
    return Drawing(points, partial(_figure, points))


def _figure(points: pd.DataFrame) -> Figure:
    datasets = list(points["dataset"].unique())
    figure, axes = panels(1, len(datasets))
    for axis, dataset in zip(axes[0], datasets, strict=False):
        _draw_curves(axis, points[points["dataset"] == dataset], dataset)
    return figure


def mean_curves(results: Results, track: str, read: Read) -> str:
    """Return the mean falling accuracy of each method at each whole percent of the rising one, as CSV.

    It is for the track's first data set; a method's column ends at its highest rising accuracy.
    """
    plan = results.plan.tracks[track]
    benchmark = next(iter(plan.benchmarks))
    columns = {
        method: _mean_curve([read(results, evaluation) for evaluation in complete])
        for method in plan.methods
        if (complete := results.complete(track, method, benchmark))
    }
    curves = pd.DataFrame({UNSEEN: range(101), **columns})
    text: str = curves.to_csv(index=False, float_format="%.3f", lineterminator="\n")
    return text


def _mean_curve(curves: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return the falling accuracy [101] at whole percents of the rising one; NaN where a seed does not reach it."""
    grid = np.linspace(0, 1, 101)
    resampled = []
    for rising, falling in curves:
        place = np.searchsorted(rising, grid)
        resampled.append(np.append(falling, np.nan)[place])
    return 100 * np.mean(resampled, axis=0)


def _sampled(rising: np.ndarray, falling: np.ndarray) -> pd.DataFrame:
    """Return both accuracies in percent at a grid of the rising one, each with the highest falling one."""
    grid = np.linspace(0, rising[-1], GRID)
    highest = falling[np.searchsorted(rising, grid, side="left")]  # the curve is a staircase
    return pd.DataFrame({UNSEEN: 100 * grid, SEEN: 100 * highest})


def _draw_curves(axis: plt.Axes, points: pd.DataFrame, dataset: str) -> None:
    """Draw a line for each row: both accuracies are averaged over seeds at equal fractions of each seed's curve."""
    points = points.assign(step=points.groupby(["row", "seed"]).cumcount())
    rows = list(points["row"].unique())
    palette = dict(zip(rows, sns.color_palette(SERIES, len(rows)), strict=True))
    styles = dict(zip(rows, [(), *[(4, 1.5), (1, 1), (3, 1, 1, 1)] * len(rows)], strict=False))
    for row in rows:
        steps = points[points["row"] == row].groupby("step")
        middle, spread = steps[[UNSEEN, SEEN]].mean(), steps[SEEN].std().fillna(0)
        look = {"color": palette[row], "dashes": styles[row], "linewidth": 1.2}
        axis.plot(middle[UNSEEN], middle[SEEN], label=row, **look)
        low, high = middle[SEEN] - spread, middle[SEEN] + spread
        axis.fill_between(middle[UNSEEN], low, high, color=palette[row], alpha=0.2, linewidth=0)
    axis.set(xlabel=f"{UNSEEN} accuracy (%)", ylabel=f"{SEEN} accuracy (%)", xlim=(0, None), ylim=(0, None))
    columns = min(len(rows), LEGEND_COLUMNS)
    axis.set_title(dataset, pad=5 + 13 * ceil(len(rows) / columns))  # above the legend
    above: Any = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "borderaxespad": 0.2}
    axis.legend(ncols=columns, columnspacing=1.2, handlelength=1.8, **above)  # curves cross the whole frame
    sns.despine(ax=axis)
