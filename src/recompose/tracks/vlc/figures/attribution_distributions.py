"""Distributions of token attributions, and similarities of captions to their phrases of composition."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from recompose.palette import SERIES
from recompose.papers.declaration import Paper
from recompose.plan import Recipe
from recompose.tables.results import Results
from recompose.tables.style import Sheet
from recompose.tracks.vlc.attribution.store import FILE, Attributed, read
from recompose.tracks.vlc.figures.retrieval import evaluations_of_one_seed

WIDTH, LINE, AROUND = 7.0, 1.15, 0.55  # inches: width of the page, height of a line of panels, other height of the page
LETTERS = 20  # in a line beside a panel
BINS = 30
LAST = 99.5  # percentile of scores; larger ones are in the last bin
PREFIX = "test/"  # of the metric of a sub-task
KINDS = ("objects", "composition")  # of tokens
COLUMNS = ["dataset", "row", "panel", "of", "n", "mean", "from", "to", "share"]


@dataclass(frozen=True)
class Distribution:
    """The values of a row in a panel."""

    dataset: str
    row: str
    panel: str
    label: str  # the name of the values, in a panel of several
    values: np.ndarray


def draw_scores(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """Draw the scores of object and composition tokens of all captions: a line of panels for each row, a panel for each
    attribution method.

    The results are those of the first seed that all rows have.
    """
    methods = methods_of(paper, name)
    distributions = [
        Distribution(dataset, row, column, kind, token_scores(attributions, method, kind))
        for dataset, attributions_by_row in attributions_of_one_seed(results, paper, name).items()
        for row, attributions in attributions_by_row.items()
        for column, method in methods.items()
        for kind in KINDS
    ]
    _draw(distributions, list(methods), sheet, label="score", share="tokens")


def draw_similarity(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """Draw the cosines of captions and their relation or attribute alone: a panel for each sub-task, all rows in it.

    The results are those of the first seed that all rows have.
    """
    tasks = {column: metric.removeprefix(PREFIX) for column, metric in _columns(paper, name).items()}
    distributions = [
        Distribution(dataset, "", column, row, attributions[task].similarity[~np.isnan(attributions[task].similarity)])
        for dataset, attributions_by_row in attributions_of_one_seed(results, paper, name).items()
        for row, attributions in attributions_by_row.items()
        for column, task in tasks.items()
        if task in attributions
    ]
    _draw(distributions, list(tasks), sheet, label="cosine", share="captions")


def attributions_of_one_seed(results: Results, paper: Paper, name: str) -> dict[str, dict[str, dict[str, Attributed]]]:
    """Return the stored attributions by data set, row and sub-task, of the first seed that all rows have."""
    return {
        dataset: {row: read_attributions(results, evaluation) for row, evaluation in evaluations.items()}
        for dataset, evaluations in evaluations_of_one_seed(results, paper, name).items()
    }


def read_attributions(results: Results, evaluation: Recipe) -> dict[str, Attributed]:
    """Return the stored attributions of an evaluation, by sub-task."""
    return read(results.file(evaluation, FILE))


def token_scores(attributions: Mapping[str, Attributed], method: str, kind: str) -> np.ndarray:
    """Return the scores of all tokens of a kind, ``objects`` or ``composition``, in all captions that have both
    kinds.
    """
    marked_scores = [np.empty(0)]
    for attribution in attributions.values():
        if method in attribution.scores:
            scores = attribution.scores[method]
            both = np.all([(getattr(attribution, part) & ~np.isnan(scores)).any(axis=1) for part in KINDS], axis=0)
            marked = getattr(attribution, kind) & ~np.isnan(scores) & both[:, None]
            marked_scores.append(scores[marked].astype(np.float64))
    return np.concatenate(marked_scores)


def methods_of(paper: Paper, name: str) -> dict[str, str]:
    """Return the attribution method of each column's metric."""
    return {column: metric.split("/")[-2] for column, metric in _columns(paper, name).items()}


def _columns(paper: Paper, name: str) -> Mapping[str, str]:
    return next(iter(paper.artifacts[name].all_views.values())).columns


def _draw(distributions: Sequence[Distribution], panels: list[str], sheet: Sheet, *, label: str, share: str) -> None:
    """Draw a line of panels for each data set and row; the panels of a data set in one column share their bins."""
    edges = {
        (dataset, panel): bins(
            [part.values for part in distributions if (part.dataset, part.panel) == (dataset, panel)]
        )
        for dataset, panel in dict.fromkeys((part.dataset, part.panel) for part in distributions)
    }
    histograms = [
        Histogram(part, edges[part.dataset, part.panel])
        for dataset, row in dict.fromkeys((part.dataset, part.row) for part in distributions)
        for panel in panels
        for part in distributions
        if (part.dataset, part.row, part.panel) == (dataset, row, panel) and len(part.values)
    ]
    rows = [row for histogram in histograms for row in histogram.rows]
    draw = partial(_figure, distributions, histograms, panels, label, share)
    sheet.write(pd.DataFrame(rows, columns=COLUMNS), draw)


@dataclass(frozen=True)
class Histogram:
    """The shares of a distribution's values in bins; larger ones are in the last bin."""

    part: Distribution
    edges: np.ndarray

    @property
    def shares(self) -> np.ndarray:
        """The shares [bins]."""
        values = self.part.values
        shares: np.ndarray = np.histogram(np.minimum(values, self.edges[-1]), self.edges)[0] / len(values)
        return shares

    @property
    def rows(self) -> list[list[Any]]:
        """The rows of the table beside the figure."""
        part = self.part
        about = [part.dataset, part.row, part.panel, part.label, len(part.values), part.values.mean()]
        return [[*about, *each] for each in zip(self.edges[:-1], self.edges[1:], self.shares, strict=True)]


def _figure(
    distributions: Sequence[Distribution], histograms: Sequence[Histogram], panels: list[str], label: str, share: str
) -> Figure:
    lines = list(dict.fromkeys((part.dataset, part.row) for part in distributions)) or [("", "")]
    size = (WIDTH, LINE * len(lines) + AROUND + (LINE if len(lines) == 1 else 0))
    figure, axes = plt.subplots(len(lines), len(panels), figsize=size, squeeze=False, layout="constrained")
    labels = list(dict.fromkeys(part.label for part in distributions))
    colours = dict(zip(labels, sns.color_palette(SERIES, len(labels)), strict=True))
    for place, (line, (dataset, row)) in enumerate(zip(axes, lines, strict=True)):
        for axis, panel in zip(line, panels, strict=True):
            for histogram in histograms:
                part = histogram.part
                if (part.dataset, part.row, part.panel) == (dataset, row, panel):
                    _draw_one(axis, part, histogram.edges, histogram.shares, colours[part.label])
            axis.set_title(panel if place == 0 else "")
            axis.set_xlabel(label if place == len(lines) - 1 else "")
            sns.despine(ax=axis)
        label_lines = (wrap(text, LETTERS, break_on_hyphens=False) for text in (dataset, row, f"share of {share}"))
        line[0].set_ylabel("\n".join(chain(*label_lines)), fontsize=6)
    if distributions:
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(labels))
    return figure


def bins(values: Sequence[np.ndarray]) -> np.ndarray:
    """Return the edges of bins for several sets of values, from the minimum to the percentile ``LAST`` of all."""
    whole = np.concatenate([np.empty(0), *values])
    if not len(whole):
        return np.linspace(0.0, 1.0, BINS + 1)
    low, high = float(whole.min()), float(np.percentile(whole, LAST))
    return np.linspace(low, high if high > low else low + 1.0, BINS + 1)


def _draw_one(axis: plt.Axes, distribution: Distribution, edges: np.ndarray, shares: np.ndarray, colour: Any) -> None:
    """Draw shares of values as steps, and their mean as a line."""
    axis.stairs(shares, edges, color=colour, alpha=0.3, fill=True)
    axis.stairs(shares, edges, color=colour, linewidth=1.0, label=distribution.label)
    axis.axvline(min(distribution.values.mean(), edges[-1]), color=colour, linewidth=0.9, linestyle="dashed")
