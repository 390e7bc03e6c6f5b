"""Accuracy as a function of the share of attribution to composition."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

from recompose.palette import SERIES
from recompose.papers.declaration import Paper
from recompose.plan import Recipe
from recompose.tables.results import Results
from recompose.tables.style import Sheet, panels
from recompose.tracks.vlc.attribution.faithfulness import RELATIONS, right_relations
from recompose.tracks.vlc.attribution.store import Attributed, cumulative_accuracy, ratios
from recompose.tracks.vlc.figures.attribution_distributions import methods_of, read_attributions
from recompose.tracks.vlc.figures.attribution_maps import suite_of
from recompose.tracks.vlc.figures.retrieval import evaluations_of_one_seed
from recompose.tracks.vlc.suites.scores import FILE, read_scores
from recompose.tracks.vlc.suites.tasks import Choices

POINTS = 500  # of a line, at most: there are tens of thousands of items
ENDS = (2.5, 97.5)  # percentiles of ratios that limit the panels
WIDE = 100.0  # ratio of the ends above which positive ratios have a logarithmic scale
BINS, TICKS = 30, 4
COLUMNS = ["dataset", "row", "attribution", "ratio", "accuracy"]


def draw_cumulative(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """Draw the accuracy on ARO's relations of all items up to a ratio of attribution, composition over objects, as a
    function of that ratio: a panel for each data set and attribution method, a line for each row. Grey: the histogram
    of the ratios of the first row.

    The results are those of the first seed that all rows have.
    """
    methods = methods_of(paper, name)
    rows = list(paper.artifacts[name].rows)
    of_datasets = evaluations_of_one_seed(results, paper, name)
    curves = [
        curve
        for dataset, evaluations in of_datasets.items()
        for curve in _curves(dataset, {row: _relations(results, evaluations[row]) for row in rows}, methods)
    ]
    points = [
        {
            "dataset": curve.dataset,
            "row": curve.row,
            "attribution": curve.column,
            "ratio": ratio,
            "accuracy": 100 * share,
        }
        for curve in curves
        for ratio, share in zip(curve.ratio, curve.share, strict=True)
    ]
    numbers = pd.DataFrame(points, columns=COLUMNS)
    sheet.write(numbers, partial(_figure, curves, list(of_datasets), list(methods), rows))


@dataclass(frozen=True)
class Curve:
    """The share of right items up to each ratio of attribution."""

    dataset: str
    row: str
    column: str
    items: np.ndarray  # the ratio of each item, NaN without one
    ratio: np.ndarray
    share: np.ndarray


def _curves(
    dataset: str, of_rows: Mapping[str, tuple[Attributed, np.ndarray] | None], methods: Mapping[str, str]
) -> Iterator[Curve]:
    """Yield the curves of a data set, by attribution method and row, of those that have the method's scores."""
    for column, method in methods.items():
        for row, relations in of_rows.items():
            if relations is not None and method in relations[0].scores:
                items = ratios(relations[0], method)
                yield Curve(dataset, row, column, items, *_thin(*cumulative_accuracy(items, relations[1])))


def _figure(curves: Sequence[Curve], datasets: list[str], columns: list[str], rows: list[str]) -> Figure:
    colours = dict(zip(rows, sns.color_palette(SERIES, len(rows)), strict=True))
    figure, axes = panels(max(1, len(datasets)), len(columns))
    for line, dataset in zip(axes, datasets, strict=False):
        for axis, column in zip(line, columns, strict=True):
            for curve in curves:
                if (curve.dataset, curve.column) == (dataset, column) and len(curve.ratio):
                    _draw_line(axis, curve.ratio, curve.share, curve.row, colours[curve.row])
                    if curve.row == rows[0]:
                        _draw_items(axis, curve.items[~np.isnan(curve.items)])
            axis.set(xlabel="ratio of attribution", ylabel="cumulative accuracy (%)")
            axis.set_title(f"{dataset}, {column}")
            sns.despine(ax=axis)
    if len(rows) > 1 and datasets:
        axes[0, 0].legend()
    return figure


def _relations(results: Results, evaluation: Recipe) -> tuple[Attributed, np.ndarray] | None:
    """Return the attributions of an evaluation to ARO's relations, and whether each of these items [texts] is right;
    None without them.
    """
    attribution = read_attributions(results, evaluation).get(RELATIONS)
    suite_files = suite_of(results, evaluation, RELATIONS)
    if attribution is None or suite_files is None:
        return None
    task = suite_files[1].tasks[RELATIONS]
    assert isinstance(task, Choices)
    scores = read_scores(results.file(evaluation, FILE))[RELATIONS]
    return attribution, right_relations(task, scores, attribution.items)


def _thin(ratio: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return points of a line at equal distances in their order, including the first and the last."""
    places = (
        np.unique(np.linspace(0, len(ratio) - 1, POINTS).round().astype(int)) if len(ratio) > POINTS else slice(None)
    )
    return ratio[places], share[places]


def _draw_line(axis: plt.Axes, ratio: np.ndarray, share: np.ndarray, row: str, colour: Any) -> None:
    axis.plot(ratio, 100 * share, color=colour, linewidth=1.2, label=row)
    low, high = (float(end) for end in np.percentile(ratio, ENDS))
    if low > 0 and high > WIDE * low:
        axis.set_xscale("log")
        axis.xaxis.set_major_locator(LogLocator(numticks=TICKS))
        axis.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xlim(low, high if high > low else low + 1.0)


def _draw_items(axis: plt.Axes, item_ratios: np.ndarray) -> None:
    """Draw the histogram of ratios behind the lines, without a scale."""
    background = axis.twinx()
    space = np.geomspace if axis.get_xscale() == "log" else np.linspace
    background.hist(item_ratios, space(*axis.get_xlim(), BINS + 1).tolist(), color="0.85")
    background.set_axis_off()
    axis.set_zorder(background.get_zorder() + 1)
    axis.patch.set_visible(False)
