"""Plots of metrics over a setting."""

from functools import partial
from math import nan

import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from recompose.papers.declaration import Artifact, Paper
from recompose.parts.results import Results
from recompose.parts.rows import rows_of
from recompose.parts.style import Sheet, panels

MAGNITUDES = 50  # ratio of the largest to the smallest number above which the axis is logarithmic


def draw_sweep(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """Draw metrics over a setting, a column for each benchmark and a row for each metric.

    A metric that an evaluation does not have, since a profile may lack suites, has no point.
    """
    artifact, track = paper.artifacts[name], results.tracks[paper.track]
    view = next(iter(artifact.all_views.values()))
    metrics = {column: (metric, track.description_of(metric)) for column, metric in view.columns.items()}
    rows = [
        {
            "dataset": series.benchmark,
            "x": float(series.row),
            "seed": evaluation.labels["seed"],
            **{
                column: description.factor * results.metrics(evaluation).get(metric, nan)
                for column, (metric, description) in metrics.items()
            },
        }
        for series in rows_of(results, paper, name)
        for evaluation in series.complete
    ]
    points = pd.DataFrame(rows, columns=["dataset", "x", "seed", *metrics])
    sheet.write(points, partial(_figure, points, {name: about.unit for name, (_, about) in metrics.items()}, artifact))


def _figure(points: pd.DataFrame, units: dict[str, str], artifact: Artifact) -> Figure:
    benchmarks = list(points["dataset"].unique())
    figure, axes = panels(len(units), len(benchmarks))
    for line, (column, unit) in zip(axes, units.items(), strict=True):
        for axis, benchmark in zip(line, benchmarks, strict=False):
            _draw_sweep(axis, points[points["dataset"] == benchmark], benchmark, column, unit)
            axis.set_xlabel(artifact.x_label)
    return figure


def _draw_sweep(axis: plt.Axes, points: pd.DataFrame, benchmark: str, column: str, unit: str) -> None:
    """Draw the mean at each number, with the standard deviation over seeds if there are several."""
    by_x = points.groupby("x")[column]
    spread = by_x.std().fillna(0)
    axis.errorbar(by_x.mean().index, by_x.mean(), yerr=spread, marker="o", markersize=3.5, linewidth=1.2, capsize=2)
    axis.set_ylabel(f"{column} ({unit})" if unit else column)
    _set_ticks(axis, sorted(points["x"].unique()))
    axis.tick_params(axis="x", labelsize=7)
    counts = [str(count) for count in sorted(points.groupby("x")["seed"].nunique().unique())]
    axis.set_title(f"{benchmark}, n = {' or '.join(counts)}")
    sns.despine(ax=axis)


def _set_ticks(axis: plt.Axes, numbers: list[float]) -> None:
    """Set a tick at each number; numbers of several magnitudes have a logarithmic axis with room for zero."""
    positive = [number for number in numbers if number > 0]
    if positive and max(positive) > MAGNITUDES * min(positive):
        axis.set_xscale("symlog", linthresh=min(positive), linscale=0.5)
    axis.set_xticks(numbers, [f"{number:g}" for number in numbers])
    axis.tick_params(axis="x", which="minor", bottom=False)
