"""Accuracy as a function of the share of attribution to composition."""

from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
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
    points: list[dict[str, object]] = []
    of_datasets = evaluations_of_one_seed(results, paper, name)
    figure, axes = panels(max(1, len(of_datasets)), len(methods))
    for line, (dataset, evaluations) in zip(axes, of_datasets.items(), strict=False):
        of_rows = {row: _relations(results, evaluation) for row, evaluation in evaluations.items()}
        for axis, (column, method) in zip(line, methods.items(), strict=True):
            for row, colour in zip(rows, sns.color_palette(SERIES, len(rows)), strict=True):
                relations = of_rows[row]
                if relations is None or method not in relations[0].scores:
                    continue
                attribution, right = relations
                item_ratios = ratios(attribution, method)
                ratio, share = _thin(*cumulative_accuracy(item_ratios, right))
                about = {"dataset": dataset, "row": row, "attribution": column}
                points += [{**about, "ratio": r, "accuracy": 100 * s} for r, s in zip(ratio, share, strict=True)]
                if len(ratio):
                    _draw_line(axis, ratio, share, row, colour)
                    if row == rows[0]:
                        _draw_items(axis, item_ratios[~np.isnan(item_ratios)])
            axis.set(xlabel="ratio of attribution", ylabel="cumulative accuracy (%)")
            axis.set_title(f"{dataset}, {column}")
            sns.despine(ax=axis)
    if len(rows) > 1 and of_datasets:
        axes[0, 0].legend()
    sheet.write(figure, pd.DataFrame(points, columns=COLUMNS))


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
