"""Figures: one style for all, as vector, bitmap and the numbers drawn."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt

from recompose.files import write_atomically
from recompose.papers.declaration import Artifact
from recompose.plan import Run
from recompose.provenance.lineage import key_of
from recompose.report.cells import Cell
from recompose.report.numbers import read_curve
from recompose.workspace import Workspace

GRID = 101  # points of unseen accuracy at which curves are drawn
COLUMN_WIDTH = 3.4  # inches: one column of a paper

mpl.use("Agg")
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "recompose",  # the same drawing, the same bytes
    "svg.fonttype": "none",
    "figure.dpi": 220,
    "font.size": 8,
    "axes.titlesize": 8,
    "legend.frameon": False,
}


def curves_of(work: Workspace, artifact: Artifact) -> pd.DataFrame:
    """Seen over unseen accuracy, in percent, of each run at a common grid of unseen accuracies."""
    parts = [
        _curve_of(work, run, artifact.world).assign(row=row, dataset=dataset, seed=run.seed)
        for row, method in artifact.measured.items()
        for dataset in work.plan.datasets
        for run in work.plan.runs_of(method, dataset)
        if work.runs.is_complete(run)
    ]
    return pd.concat(parts, ignore_index=True)[["dataset", "row", "seed", "unseen", "seen"]]


def _curve_of(work: Workspace, run: Run, world: str) -> pd.DataFrame:
    points = read_curve(work, run, world)
    grid = np.linspace(0, points.unseen[-1], GRID)
    return pd.DataFrame({"unseen": 100 * grid, "seen": 100 * _highest(points.unseen, points.seen, grid)})


def _highest(unseen: np.ndarray, seen: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """The best seen accuracy that still gives each unseen accuracy: the curve is a staircase."""
    return seen[np.searchsorted(unseen, grid, side="left")]


def cells_of(work: Workspace, artifact: Artifact) -> list[Cell]:
    """A cell per curve, for lineage."""
    cells = []
    for row, method in artifact.measured.items():
        for dataset in work.plan.datasets:
            runs = work.plan.runs_of(method, dataset)
            made = tuple(key_of("runs", run) for run in runs if work.runs.is_complete(run))
            wanted = tuple(key_of("runs", run) for run in runs)
            cells.append(
                Cell(row, f"{dataset} curve", "measured", "curve", n=len(made), made_from=made, expected=wanted)
            )
    return cells


def draw_curves(points: pd.DataFrame, title: str, watermarks: list[str], stem: Path) -> None:
    """Draw the curves of each data set with bands over seeds; writes ``.svg``, ``.png`` and ``.csv`` beside ``stem``."""
    write_atomically(stem.with_suffix(".csv"), lambda path: points.to_csv(path, index=False, float_format="%.4f"))
    datasets = list(points["dataset"].unique())
    with mpl.rc_context(STYLE), sns.axes_style("ticks"):
        figure, axes = plt.subplots(
            1, len(datasets), figsize=(COLUMN_WIDTH * len(datasets), 2.7), squeeze=False, layout="constrained"
        )
        for axis, dataset in zip(axes[0], datasets, strict=True):
            _draw_dataset(axis, points[points["dataset"] == dataset], dataset)
        if watermarks:
            figure.text(0.5, 0.5, "\n".join(watermarks), ha="center", color="firebrick", alpha=0.6, wrap=True)
        for ending, metadata in (("svg", {"Date": None, "Title": title}), ("png", {"Title": title})):
            write_atomically(
                stem.with_suffix(f".{ending}"),
                lambda path, e=ending, m=metadata: figure.savefig(path, format=e, metadata=m),  # type: ignore[misc]
            )
        plt.close(figure)


def _draw_dataset(axis: plt.Axes, points: pd.DataFrame, dataset: str) -> None:
    """A line for each row: both accuracies are averaged over seeds at equal shares of the way along each seed's curve."""
    points = points.assign(step=points.groupby(["row", "seed"]).cumcount())
    rows = list(points["row"].unique())
    palette = dict(zip(rows, sns.color_palette("colorblind", len(rows)), strict=True))
    for row in rows:
        steps = points[points["row"] == row].groupby("step")
        middle, spread = steps[["unseen", "seen"]].mean(), steps["seen"].std().fillna(0)
        sns.lineplot(x=middle["unseen"], y=middle["seen"], ax=axis, label=row, color=palette[row], linewidth=1.2)
        axis.fill_between(
            middle["unseen"],
            middle["seen"] - spread,
            middle["seen"] + spread,
            color=palette[row],
            alpha=0.2,
            linewidth=0,
        )
    axis.set(xlabel="unseen accuracy (%)", ylabel="seen accuracy (%)", xlim=(0, None), ylim=(0, None))
    axis.set_title(dataset, pad=18)
    above: Any = {
        "loc": "lower center",
        "bbox_to_anchor": (0.5, 1.0),
        "borderaxespad": 0.2,
    }  # curves cross the whole frame
    axis.legend(ncols=len(rows), columnspacing=1.2, handlelength=1.2, **above)
    sns.despine(ax=axis)
