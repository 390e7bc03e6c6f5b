"""Trade-offs: of two accuracies one rises and one falls as a bias grows."""

from collections.abc import Callable
from dataclasses import dataclass
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

GRID = 101  # points of unseen accuracy at which curves are drawn
LEGEND_COLUMNS = 4


@dataclass(frozen=True)
class Tradeoff:
    """Two kinds of accuracy, how they are called and where an evaluation's are read.

    ``read`` gives accuracies [points] by rising bias, as fractions: those that rise, and those that fall.
    """

    rising: str
    falling: str
    read: Callable[[Results, Recipe], tuple[np.ndarray, np.ndarray]]


def draw_curves(results: Results, paper: Paper, name: str, sheet: Sheet, tradeoff: Tradeoff) -> None:
    """The accuracy that falls over the one that rises, a panel for each data set."""
    parts = [
        _sampled(tradeoff, *tradeoff.read(results, evaluation)).assign(
            dataset=series.benchmark, row=series.row, seed=evaluation.labels["seed"]
        )
        for series in series_of(results, paper, name)
        for evaluation in series.complete
    ]
    columns = ["dataset", "row", "seed", tradeoff.rising, tradeoff.falling]
    points = pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)
    datasets = list(points["dataset"].unique())
    figure, axes = panels(1, len(datasets))
    for axis, dataset in zip(axes[0], datasets, strict=False):
        _draw_curves(axis, points[points["dataset"] == dataset], dataset, tradeoff)
    sheet.write(figure, points)


def mean_curves(results: Results, track: str, tradeoff: Tradeoff) -> str:
    """The mean of the accuracy that falls of each method at each whole percent of the one that rises, as CSV.

    Of the track's first data set; a method's column ends where the accuracy that rises does.
    """
    plan = results.plan.tracks[track]
    benchmark = next(iter(plan.benchmarks))
    columns = {
        method: _mean_curve([tradeoff.read(results, each) for each in complete])
        for method in plan.methods
        if (complete := results.complete(track, method, benchmark))
    }
    lines = [",".join([tradeoff.rising, *columns])]
    for percent in range(101):
        values = [curve[percent] for curve in columns.values()]
        lines.append(",".join([str(percent), *("" if np.isnan(value) else f"{value:.3f}" for value in values)]))
    return "\n".join(lines) + "\n"


def _mean_curve(curves: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """What falls [101] at whole percents of what rises; NaN where a seed does not reach it."""
    grid = np.linspace(0, 1, 101)
    falling = []
    for rises, falls in curves:
        place = np.searchsorted(rises, grid)
        falling.append(np.append(falls, np.nan)[place])
    return 100 * np.mean(falling, axis=0)


def _sampled(tradeoff: Tradeoff, rises: np.ndarray, falls: np.ndarray) -> pd.DataFrame:
    """What falls over what rises, in percent, at a grid of the latter: the highest that still gives each."""
    grid = np.linspace(0, rises[-1], GRID)
    highest = falls[np.searchsorted(rises, grid, side="left")]  # the curve is a staircase
    return pd.DataFrame({tradeoff.rising: 100 * grid, tradeoff.falling: 100 * highest})


def _draw_curves(axis: plt.Axes, points: pd.DataFrame, dataset: str, tradeoff: Tradeoff) -> None:
    """A line for each row: both accuracies are averaged over seeds at equal shares of the way along each seed's
    curve.
    """
    x, y = tradeoff.rising, tradeoff.falling
    points = points.assign(step=points.groupby(["row", "seed"]).cumcount())
    rows = list(points["row"].unique())
    palette = dict(zip(rows, sns.color_palette(SERIES, len(rows)), strict=True))
    styles = dict(zip(rows, [(), *[(4, 1.5), (1, 1), (3, 1, 1, 1)] * len(rows)], strict=False))
    for row in rows:
        steps = points[points["row"] == row].groupby("step")
        middle, spread = steps[[x, y]].mean(), steps[y].std().fillna(0)
        look = {"color": palette[row], "dashes": styles[row], "linewidth": 1.2}
        axis.plot(middle[x], middle[y], label=row, **look)
        low, high = middle[y] - spread, middle[y] + spread
        axis.fill_between(middle[x], low, high, color=palette[row], alpha=0.2, linewidth=0)
    axis.set(xlabel=f"{x} accuracy (%)", ylabel=f"{y} accuracy (%)", xlim=(0, None), ylim=(0, None))
    columns = min(len(rows), LEGEND_COLUMNS)
    axis.set_title(dataset, pad=5 + 13 * ceil(len(rows) / columns))  # above the legend
    above: Any = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "borderaxespad": 0.2}
    axis.legend(ncols=columns, columnspacing=1.2, handlelength=1.8, **above)  # curves cross the whole frame
    sns.despine(ax=axis)
