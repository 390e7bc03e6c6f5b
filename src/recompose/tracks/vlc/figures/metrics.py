"""Figures of metrics: several of them of methods, side by side, and trajectories of two metrics between a model before
and after tuning (WiSE-FT).
"""

from functools import partial
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from recompose.palette import SERIES
from recompose.papers.declaration import Paper
from recompose.parts.results import Results, described_metrics, rows_of
from recompose.parts.style import COLUMN_WIDTH, Drawing, panels
from recompose.tracks.vlc.catalogue import UNTRAINED

WIDTH, LINE, AROUND = 7.0, 0.2, 0.75  # inches: width of the page, height of a method, other height of a panel
AT = " at "  # a row "NegCLIP at 0.4" is a point of "NegCLIP"
DASHES: tuple[Any, ...] = ((), (4, 1.5), (1, 1), (3, 1, 1, 1))
MARKERS = "osD^vP"


def draw_holistic(results: Results, paper: Paper, name: str) -> Drawing:
    """Draw a line of panels for each data set, a panel for each metric: means of each row over seeds with standard
    deviations, and a line through the untrained method's.
    """
    about = described_metrics(results, paper, name)
    lines = [
        (series.benchmark, series.row, series.name == UNTRAINED, column, evaluation.labels["seed"], value)
        for series in rows_of(results, paper, name)
        for evaluation in series.complete
        for column, (metric, description) in about.items()
        if metric in results.metrics(evaluation)
        for value in [description.factor * results.metrics(evaluation)[metric]]
    ]
    points = pd.DataFrame(lines, columns=["dataset", "row", "untrained", "metric", "seed", "value"])
    units = {column: description.unit for column, (_, description) in about.items()}
    return Drawing(points, partial(_holistic_figure, points, list(paper.artifacts[name].rows), units))


def _holistic_figure(points: pd.DataFrame, rows: list[str], units: dict[str, str]) -> Figure:
    datasets = list(points["dataset"].unique())
    figure, axes = panels(len(datasets), len(units), WIDTH, LINE * len(rows) + AROUND, sharey=True)
    for line, dataset in zip(axes, datasets, strict=False):
        of_dataset = points[points["dataset"] == dataset]
        for axis, (column, unit) in zip(line, units.items(), strict=True):
            _draw(axis, of_dataset[of_dataset["metric"] == column], rows, unit)
            axis.set_title(column)
        line[0].set_ylabel(dataset)
    return figure


def _draw(axis: plt.Axes, points: pd.DataFrame, rows: list[str], unit: str) -> None:
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
    axis.set(ylim=(len(rows) - 0.5, -0.5), xlabel=unit)
    axis.grid(axis="y", linewidth=0.3)
    sns.despine(ax=axis)


def draw_trajectories(results: Results, paper: Paper, name: str) -> Drawing:
    """Draw the second metric as a function of the first one, a line for each model and data set with intermediate
    points: from the method without alpha, at 0, to the tuned model, at 1, which is marked.

    A line has the seeds that all of its points have.
    """
    about = described_metrics(results, paper, name)
    needed = {metric for metric, _ in about.values()}
    rows = []
    for series in rows_of(results, paper, name):
        for evaluation in series.complete:
            metrics = results.metrics(evaluation)
            if metrics.keys() >= needed:  # a profile may lack suites
                values = [description.factor * metrics[metric] for metric, description in about.values()]
                model, seed = series.row.partition(AT)[0], evaluation.labels["seed"]
                scoring = evaluation.document["settings"].get("scoring") or {}
                alpha = float(scoring.get("alpha", 0.0))  # a method without alpha is at 0
                rows.append((series.benchmark, model, alpha, seed, len(series.planned), *values))
    points = pd.DataFrame(rows, columns=["dataset", "model", "alpha", "seed", "planned", *about])
    labels = {
        column: f"{column} ({description.unit})" if description.unit else column
        for column, (_, description) in about.items()
    }
    return Drawing(points.drop(columns="planned"), partial(_trajectories_figure, trajectories(points), labels))


def _trajectories_figure(lines: dict[tuple[str, str], pd.DataFrame], labels: dict[str, str]) -> Figure:
    figure, axis = plt.subplots(figsize=(1.5 * COLUMN_WIDTH, 1.1 * COLUMN_WIDTH), layout="constrained")
    palette = sns.color_palette(SERIES, max(1, len(lines)))
    for place, ((model, dataset), line) in enumerate(lines.items()):
        mean = line.groupby("alpha")[list(labels)].mean()
        look: Any = {"color": palette[place], "dashes": DASHES[place % len(DASHES)], "linewidth": 1.2}
        marker, seeds = MARKERS[place % len(MARKERS)], line["seed"].nunique()
        across, up = (mean[column] for column in labels)
        axis.plot(across, up, marker=marker, markersize=2.5, label=f"{model}, {dataset} (n = {seeds})", **look)
        axis.plot(across.iloc[-1], up.iloc[-1], marker=marker, markersize=7, color=palette[place])
    x_label, y_label = labels.values()
    axis.set(xlabel=x_label, ylabel=y_label)
    if lines:
        axis.legend(fontsize=7)
    sns.despine(ax=axis)
    return figure


def trajectories(points: pd.DataFrame) -> dict[tuple[str, str], pd.DataFrame]:
    """Return the points of each model and data set, by alpha, from the untrained model on: of seeds that all of them
    have.

    Args:
        points: with columns ``dataset``, ``model``, ``alpha``, ``seed`` and ``planned``, the number of planned seeds.
            The untrained model's alpha is 0; planned once, it is the same for every seed.
    """
    lines: dict[tuple[str, str], pd.DataFrame] = {}
    inside = points["alpha"].between(0, 1, inclusive="neither")
    for model, dataset in points[inside][["model", "dataset"]].drop_duplicates().to_numpy():
        of_dataset = points[points["dataset"] == dataset]
        of_model, first = of_dataset[of_dataset["model"] == model], of_dataset[of_dataset["alpha"] == 0]
        if first["planned"].max() == 1:
            first = first.drop(columns="seed").merge(of_model[["seed"]].drop_duplicates(), how="cross")
        whole = pd.concat([first, of_model])
        alphas = whole.groupby("seed")["alpha"].nunique()
        shared = alphas.index[alphas == whole["alpha"].nunique()]
        if len(shared):
            lines[model, dataset] = whole[whole["seed"].isin(shared)].sort_values("alpha", kind="stable")
    return lines
