"""Accuracy over how much of what is attributed goes to composition."""

from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

from recompose.palette import SERIES
from recompose.papers.declaration import Paper
from recompose.plan import Recipe
from recompose.report.figures.style import Sheet, panels
from recompose.report.results import Results
from recompose.tracks.vlc.attribution.attribution_store import Attributed, cumulative_accuracy, ratios
from recompose.tracks.vlc.attribution.cae_metrics import RELATIONS, right_relations
from recompose.tracks.vlc.data.suite import Choices
from recompose.tracks.vlc.figures.attribution_distributions import attributed, methods_of
from recompose.tracks.vlc.figures.attribution_maps import suite_of
from recompose.tracks.vlc.figures.retrieval import of_one_seed
from recompose.tracks.vlc.suites.scores import FILE, read_scores

POINTS = 500  # of a line, at most: items are by the ten thousands
ENDS = (2.5, 97.5)  # percentiles of ratios between which panels are
WIDE = 100.0  # times: where the ends are farther apart, and ratios are positive, their logarithms are drawn
BINS, TICKS = 30, 4
COLUMNS = ["dataset", "row", "attribution", "ratio", "accuracy"]


def draw_cumulative(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """The accuracy on ARO's relations of all items whose ratio of attribution, composition over objects, is no larger
    than a value, over that value: a panel for each data set and way of attribution, a line for each row. Grey: how many
    items of the first row have which ratio.

    Of the first seed that all rows have.
    """
    methods = methods_of(paper, name)
    rows = list(paper.artifacts[name].rows)
    found: list[dict[str, Any]] = []
    of_datasets = of_one_seed(results, paper, name)
    figure, axes = panels(max(1, len(of_datasets)), len(methods))
    for line, (dataset, evaluations) in zip(axes, of_datasets.items(), strict=False):
        of_rows = {row: _relations(results, evaluation) for row, evaluation in evaluations.items()}
        for axis, (column, method) in zip(line, methods.items(), strict=True):
            for row, colour in zip(rows, sns.color_palette(SERIES, len(rows)), strict=True):
                known = of_rows[row]
                if known is None or method not in known[0].scores:
                    continue
                kept, right = known
                of_items = ratios(kept, method)
                ratio, share = _thinned(*cumulative_accuracy(of_items, right))
                about = {"dataset": dataset, "row": row, "attribution": column}
                found += [{**about, "ratio": r, "accuracy": 100 * s} for r, s in zip(ratio, share, strict=True)]
                if len(ratio):
                    _draw_line(axis, ratio, share, row, colour)
                    if row == rows[0]:
                        _draw_items(axis, of_items[~np.isnan(of_items)])
            axis.set(xlabel="ratio of attribution", ylabel="cumulative accuracy (%)")
            axis.set_title(f"{dataset}, {column}")
            sns.despine(ax=axis)
    if len(rows) > 1 and of_datasets:
        axes[0, 0].legend()
    sheet.write(figure, pd.DataFrame(found, columns=COLUMNS))


def _relations(results: Results, evaluation: Recipe) -> tuple[Attributed, np.ndarray] | None:
    """What an evaluation kept of ARO's relations, and which of these items [texts] are told right; None without."""
    kept, found = attributed(results, evaluation).get(RELATIONS), suite_of(results, evaluation, RELATIONS)
    if kept is None or found is None:
        return None
    task = found[1].tasks[RELATIONS]
    assert isinstance(task, Choices)
    scores = read_scores(results.file(evaluation, FILE))[RELATIONS]
    return kept, right_relations(task, scores, kept.items)


def _thinned(ratio: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points of a line at equal distances in their order, the first and the last among them."""
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


def _draw_items(axis: plt.Axes, of_items: np.ndarray) -> None:
    """How many items have which ratio, behind the lines, on no scale."""
    behind = axis.twinx()
    space = np.geomspace if axis.get_xscale() == "log" else np.linspace
    behind.hist(of_items, space(*axis.get_xlim(), BINS + 1).tolist(), color="0.85")
    behind.set_axis_off()
    axis.set_zorder(behind.get_zorder() + 1)
    axis.patch.set_visible(False)
