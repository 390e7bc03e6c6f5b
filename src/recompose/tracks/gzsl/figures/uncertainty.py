"""The distribution of uncertainty over images during training."""

from functools import partial

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from recompose.papers.declaration import Paper
from recompose.plan import Recipe
from recompose.tables.results import Results
from recompose.tables.rows import series_of
from recompose.tables.style import Sheet, panels
from recompose.tracks.gzsl.stored import read_uncertainty

EPOCHS = 5  # shown, from the first to the last


def draw_uncertainty(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """Draw the density of the fused uncertainty of images that training does not show, at some epochs, over all seeds;
    a panel for each data set.
    """
    frames = [
        _frame(results, evaluation).assign(dataset=series.benchmark, seed=evaluation.labels["seed"])
        for series in series_of(results, paper, name)
        for evaluation in series.complete
    ]
    columns = ["dataset", "seed", "epoch", "uncertainty"]
    points = pd.concat(frames, ignore_index=True)[columns] if frames else pd.DataFrame(columns=columns)
    sheet.write(points, partial(_figure, points))


def _figure(points: pd.DataFrame) -> Figure:
    datasets = list(points["dataset"].unique())
    figure, axes = panels(1, len(datasets))
    for axis, dataset in zip(axes[0], datasets, strict=False):
        of_dataset = points[points["dataset"] == dataset]
        colours = sns.color_palette("crest", of_dataset["epoch"].nunique())
        look = {"common_norm": False, "warn_singular": False, "linewidth": 1.2, "clip": (0, 1)}
        sns.kdeplot(of_dataset, x="uncertainty", hue="epoch", palette=colours, ax=axis, **look)
        axis.set(title=f"{dataset}, n = {of_dataset['seed'].nunique()}", xlabel="uncertainty", ylabel="density")
        sns.despine(ax=axis)
    return figure


def _frame(results: Results, evaluation: Recipe) -> pd.DataFrame:
    """Return the uncertainty of each image at the epochs of the figure."""
    by_epoch = read_uncertainty(results, evaluation.needs["run"])
    epochs = np.unique(np.linspace(0, len(by_epoch) - 1, EPOCHS).round().astype(int))
    return pd.DataFrame(
        {"epoch": np.repeat(epochs + 1, by_epoch.shape[1]), "uncertainty": by_epoch[epochs].astype(float).ravel()}
    )
