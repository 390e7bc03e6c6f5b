"""Several metrics of methods, side by side."""

from functools import partial

import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from recompose.palette import SERIES
from recompose.papers.declaration import Paper
from recompose.tables.metric import Metric
from recompose.tables.results import Results
from recompose.tables.rows import series_of
from recompose.tables.style import Sheet
from recompose.tracks import TRACKS
from recompose.tracks.vlc.catalogue import UNTRAINED

WIDTH, LINE, AROUND = 7.0, 0.2, 0.75  # inches: width of the page, height of a method, other height of a panel


def draw_holistic(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """Draw a line of panels for each data set, a panel for each metric: means of each row over seeds with standard
    deviations, and a line through the untrained method's.
    """
    view = next(iter(paper.artifacts[name].all_views.values()))
    about = {column: TRACKS[paper.track].description_of(metric) for column, metric in view.columns.items()}
    lines: list[dict[str, object]] = [
        {
            "dataset": series.benchmark,
            "row": series.row,
            "untrained": series.name == UNTRAINED,
            "metric": column,
            "seed": evaluation.labels["seed"],
            "value": about[column].factor * results.metrics(evaluation)[metric],
        }
        for series in series_of(results, paper, name)
        for evaluation in series.complete
        for column, metric in view.columns.items()
        if metric in results.metrics(evaluation)
    ]
    points = pd.DataFrame(lines, columns=["dataset", "row", "untrained", "metric", "seed", "value"])
    sheet.write(points, partial(_figure, points, list(paper.artifacts[name].rows), about))


def _figure(points: pd.DataFrame, rows: list[str], about: dict[str, Metric]) -> Figure:
    datasets = list(points["dataset"].unique())
    size = (WIDTH, (LINE * len(rows) + AROUND) * max(1, len(datasets)))
    figure, axes = plt.subplots(
        max(1, len(datasets)), len(about), figsize=size, squeeze=False, sharey=True, layout="constrained"
    )
    for panels, dataset in zip(axes, datasets, strict=False):
        of_dataset = points[points["dataset"] == dataset]
        for axis, (column, metric) in zip(panels, about.items(), strict=True):
            _draw(axis, of_dataset[of_dataset["metric"] == column], rows, metric)
            axis.set_title(column)
        panels[0].set_ylabel(dataset)
    return figure


def _draw(axis: plt.Axes, points: pd.DataFrame, rows: list[str], metric: Metric) -> None:
    """Draw a method in each line, the first one at the top."""
    colours = sns.color_palette(SERIES, len(rows))
    for place, (row, colour) in enumerate(zip(rows, colours, strict=True)):
        values = points[points["row"] == row]["value"]
        if len(values):
            spread = values.std() if len(values) > 1 else 0.0
            axis.errorbar(values.mean(), place, xerr=spread, marker="o", markersize=4, capsize=2, color=colour)
    untrained = points[points["untrained"]]["value"]
    if len(untrained):
        axis.axvline(untrained.mean(), color="black", linewidth=0.7, linestyle="dotted")
    axis.set_yticks(range(len(rows)), rows)
    axis.set(ylim=(len(rows) - 0.5, -0.5), xlabel=metric.unit)
    axis.grid(axis="y", linewidth=0.3)
    sns.despine(ax=axis)
