"""Trajectories of two metrics between a model before and after tuning (WiSE-FT)."""

from functools import partial
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from recompose.palette import SERIES
from recompose.papers.declaration import Paper
from recompose.plan import Recipe
from recompose.tables.results import Results
from recompose.tables.rows import series_of
from recompose.tables.style import COLUMN_WIDTH, Sheet
from recompose.tracks import TRACKS

AT = " at "  # a row "NegCLIP at 0.4" is a point of "NegCLIP"
DASHES: tuple[Any, ...] = ((), (4, 1.5), (1, 1), (3, 1, 1, 1))
MARKERS = "osD^vP"


def draw_trajectories(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """Draw the second metric as a function of the first one, a line for each model and data set with intermediate
    points: from the method without alpha, at 0, to the tuned model, at 1, which is marked.

    A line has the seeds that all of its points have.
    """
    view = next(iter(paper.artifacts[name].all_views.values()))
    about = {column: TRACKS[paper.track].description_of(metric) for column, metric in view.columns.items()}
    rows: list[dict[str, object]] = [
        {
            "dataset": series.benchmark,
            "model": series.row.partition(AT)[0],
            "alpha": alpha_of(evaluation),
            "seed": evaluation.labels["seed"],
            "planned": len(series.planned),
            **{
                column: about[column].factor * results.metrics(evaluation)[metric]
                for column, metric in view.columns.items()
            },
        }
        for series in series_of(results, paper, name)
        for evaluation in series.complete
        if results.metrics(evaluation).keys() >= set(view.columns.values())  # a profile may lack suites
    ]
    points = pd.DataFrame(rows, columns=["dataset", "model", "alpha", "seed", "planned", *about])
    labels = {
        column: f"{column} ({description.unit})" if description.unit else column
        for column, description in about.items()
    }
    sheet.write(points.drop(columns="planned"), partial(_figure, trajectories(points), labels))


def _figure(lines: dict[tuple[str, str], pd.DataFrame], labels: dict[str, str]) -> Figure:
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


def alpha_of(evaluation: Recipe) -> float:
    """Return the share of the trained weights in an evaluation; 0 for a method without alpha."""
    scoring = evaluation.document["settings"].get("scoring") or {}
    return float(scoring.get("alpha", 0.0))


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
