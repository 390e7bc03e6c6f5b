"""Figures: one style for all, as vector, bitmap and the numbers drawn."""

from dataclasses import dataclass
from math import ceil
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
from recompose.report.numbers import read_curve, read_metrics
from recompose.workspace import Workspace

GRID = 101  # points of unseen accuracy at which curves are drawn
COLUMN_WIDTH = 3.4  # inches: one column of a paper
LEGEND_COLUMNS = 4

mpl.use("Agg")
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "recompose",  # the same drawing, the same bytes
    "svg.fonttype": "none",
    "figure.dpi": 220,
    "font.size": 8,
    "axes.titlesize": 8,
    "legend.frameon": False,
}


@dataclass(frozen=True)
class Series:
    """The runs that a figure shows of a row on a data set: those there are, and those the plan wants."""

    row: str
    measures: str
    dataset: str
    complete: list[Run]
    planned: list[Run]


def _series(work: Workspace, artifact: Artifact) -> list[Series]:
    found = []
    for row, name in artifact.measured.items():
        for dataset in work.plan.datasets:
            planned = work.plan.runs_of(name, dataset)
            complete = [run for run in planned if work.runs.is_complete(run)]
            if planned:
                found.append(Series(row, name, dataset, complete, planned))
    return found


def cells_of(work: Workspace, artifact: Artifact) -> list[Cell]:
    """A cell per curve or point, for lineage."""
    what = "curve" if artifact.kind == "curves" else "AUC"
    return [
        Cell(
            series.row,
            f"{series.dataset} {what}",
            "measured",
            what,
            n=len(series.complete),
            made_from=tuple(key_of("runs", run) for run in series.complete),
            expected=tuple(key_of("runs", run) for run in series.planned),
            measures=series.measures,
        )
        for series in _series(work, artifact)
    ]


def draw(work: Workspace, artifact: Artifact, title: str, watermarks: list[str], stem: Path) -> None:
    """Draw a figure, a panel for each data set; writes ``.svg``, ``.png`` and, with the numbers drawn, ``.csv`` beside ``stem``."""
    numbers_of, draw_panel = {"curves": (_curves, _draw_curves), "sweep": (_sweep, _draw_sweep)}[artifact.kind]
    parts = [numbers_of(work, artifact, series, run) for series in _series(work, artifact) for run in series.complete]
    points = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["dataset"])
    write_atomically(stem.with_suffix(".csv"), lambda path: points.to_csv(path, index=False, float_format="%.4f"))
    datasets = list(points["dataset"].unique())
    with mpl.rc_context(STYLE), sns.axes_style("ticks"):
        size = (COLUMN_WIDTH * max(1, len(datasets)), 2.7)
        figure, axes = plt.subplots(1, max(1, len(datasets)), figsize=size, squeeze=False, layout="constrained")
        for axis, dataset in zip(axes[0], datasets, strict=False):
            draw_panel(axis, points[points["dataset"] == dataset], dataset)
            axis.set_xlabel(artifact.x_label or axis.get_xlabel())
            sns.despine(ax=axis)
        if watermarks:
            figure.text(0.5, 0.5, "\n".join(watermarks), ha="center", color="firebrick", alpha=0.6, wrap=True)
        for ending, metadata in (("svg", {"Date": None, "Title": title}), ("png", {"Title": title})):
            write_atomically(
                stem.with_suffix(f".{ending}"),
                lambda path, e=ending, m=metadata: figure.savefig(path, format=e, metadata=m),  # type: ignore[misc]
            )
        plt.close(figure)


def _curves(work: Workspace, artifact: Artifact, series: Series, run: Run) -> pd.DataFrame:
    """Seen over unseen accuracy, in percent, of a run at a grid of unseen accuracies."""
    points = read_curve(work, run, artifact.world)
    grid = np.linspace(0, points.unseen[-1], GRID)
    seen = _highest(points.unseen, points.seen, grid)
    frame = pd.DataFrame({"unseen": 100 * grid, "seen": 100 * seen})
    return frame.assign(dataset=series.dataset, row=series.row, seed=run.seed)[
        ["dataset", "row", "seed", "unseen", "seen"]
    ]


def _highest(unseen: np.ndarray, seen: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """The best seen accuracy that still gives each unseen accuracy: the curve is a staircase."""
    return seen[np.searchsorted(unseen, grid, side="left")]


def _sweep(work: Workspace, artifact: Artifact, series: Series, run: Run) -> pd.DataFrame:
    """The AUC of a run, in percent, at the number that its row is called."""
    auc = 100 * read_metrics(work, run)[f"test/{artifact.world}"]["dense"]["auc"]
    return pd.DataFrame({"dataset": [series.dataset], "x": [float(series.row)], "seed": [run.seed], "auc": [auc]})


def _draw_sweep(axis: plt.Axes, points: pd.DataFrame, dataset: str) -> None:
    """Mean AUC at each number, with the standard deviation over seeds where there are several."""
    by_x = points.groupby("x")["auc"]
    spread = by_x.std().fillna(0)
    axis.errorbar(by_x.mean().index, by_x.mean(), yerr=spread, marker="o", markersize=3.5, linewidth=1.2, capsize=2)
    axis.set(ylabel="AUC (%)", xticks=sorted(points["x"].unique()))
    axis.set_title(f"{dataset}, n = {points['seed'].nunique()}")


def _draw_curves(axis: plt.Axes, points: pd.DataFrame, dataset: str) -> None:
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
    columns = min(len(rows), LEGEND_COLUMNS)
    axis.set_title(dataset, pad=5 + 13 * ceil(len(rows) / columns))  # above the legend
    above: Any = {
        "loc": "lower center",
        "bbox_to_anchor": (0.5, 1.0),
        "borderaxespad": 0.2,
    }  # curves cross the whole frame
    axis.legend(ncols=columns, columnspacing=1.2, handlelength=1.2, **above)
