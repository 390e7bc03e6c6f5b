"""How what is attributed to tokens is distributed, and how near captions are to what they say of composition."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt

from recompose.palette import SERIES
from recompose.papers.declaration import Paper
from recompose.plan import Recipe
from recompose.report.figures.style import Sheet
from recompose.report.results import Results
from recompose.tracks.vlc.attribution.attribution_store import FILE, Attributed, read
from recompose.tracks.vlc.figures.retrieval import of_one_seed

WIDTH, LINE, AROUND = 7.0, 1.15, 0.55  # inches: of the page, of a line of panels, of what the page needs besides
LETTERS = 20  # of a line beside a panel
BINS = 30
LAST = 99.5  # percentile of scores; what lies beyond is drawn in the last bin
PREFIX = "test/"  # of the metric of a sub-task
KINDS = ("objects", "composition")  # of tokens
COLUMNS = ["dataset", "row", "panel", "of", "n", "mean", "from", "to", "share"]


@dataclass(frozen=True)
class Distribution:
    """Values of a row in a panel."""

    dataset: str
    row: str
    panel: str
    of: str  # what they are of, where a panel has several
    values: np.ndarray


def draw_scores(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """The scores of object and of composition tokens of all captions: a line of panels for each row, a panel for each
    way of attribution.

    Of the first seed that all rows have.
    """
    methods = methods_of(paper, name)
    drawn = [
        Distribution(dataset, row, column, kind, token_scores(kept, method, kind))
        for dataset, kept_by_row in attributed_of_one_seed(results, paper, name).items()
        for row, kept in kept_by_row.items()
        for column, method in methods.items()
        for kind in KINDS
    ]
    _draw(drawn, list(methods), sheet, label="score", share="tokens")


def draw_similarity(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """The cosines of captions and of their relation or attribute by itself: a panel for each sub-task, all rows in it.

    Of the first seed that all rows have.
    """
    tasks = {column: metric.removeprefix(PREFIX) for column, metric in _columns(paper, name).items()}
    drawn = [
        Distribution(dataset, "", column, row, kept[task].similarity[~np.isnan(kept[task].similarity)])
        for dataset, kept_by_row in attributed_of_one_seed(results, paper, name).items()
        for row, kept in kept_by_row.items()
        for column, task in tasks.items()
        if task in kept
    ]
    _draw(drawn, list(tasks), sheet, label="cosine", share="captions")


def attributed_of_one_seed(results: Results, paper: Paper, name: str) -> dict[str, dict[str, dict[str, Attributed]]]:
    """By data set and row what was kept of attribution, by sub-task; of the first seed that all rows have."""
    return {
        dataset: {row: attributed(results, evaluation) for row, evaluation in evaluations.items()}
        for dataset, evaluations in of_one_seed(results, paper, name).items()
    }


def attributed(results: Results, evaluation: Recipe) -> dict[str, Attributed]:
    """What an evaluation kept of attribution, by sub-task."""
    return read(results.file(evaluation, FILE))


def token_scores(kept: Mapping[str, Attributed], method: str, kind: str) -> np.ndarray:
    """The scores of all tokens of a kind, ``objects`` or ``composition``, in all captions that have both kinds."""
    found = [np.empty(0)]
    for each in kept.values():
        if method in each.scores:
            scores = each.scores[method]
            both = np.all([(getattr(each, of) & ~np.isnan(scores)).any(axis=1) for of in KINDS], axis=0)
            marked = getattr(each, kind) & ~np.isnan(scores) & both[:, None]
            found.append(scores[marked].astype(np.float64))
    return np.concatenate(found)


def methods_of(paper: Paper, name: str) -> dict[str, str]:
    """By column the method of attribution that its metric is of."""
    return {column: metric.split("/")[-2] for column, metric in _columns(paper, name).items()}


def _columns(paper: Paper, name: str) -> Mapping[str, str]:
    return next(iter(paper.artifacts[name].all_views.values())).columns


def _draw(drawn: Sequence[Distribution], panels: list[str], sheet: Sheet, *, label: str, share: str) -> None:
    """A line of panels for each data set and row, the same bins in all panels of a data set below each other."""
    lines = list(dict.fromkeys((each.dataset, each.row) for each in drawn)) or [("", "")]
    size = (WIDTH, LINE * len(lines) + AROUND + (LINE if len(lines) == 1 else 0))
    figure, axes = plt.subplots(len(lines), len(panels), figsize=size, squeeze=False, layout="constrained")
    shown = list(dict.fromkeys(each.of for each in drawn))
    colours = dict(zip(shown, sns.color_palette(SERIES, len(shown)), strict=True))
    rows: list[list[Any]] = []
    for place, (line, (dataset, row)) in enumerate(zip(axes, lines, strict=True)):
        for axis, panel in zip(line, panels, strict=True):
            below = [each for each in drawn if (each.dataset, each.panel) == (dataset, panel)]
            edges = bins([each.values for each in below])
            for each in below:
                if each.row == row and len(each.values):
                    shares = np.histogram(np.minimum(each.values, edges[-1]), edges)[0] / len(each.values)
                    _draw_one(axis, each, edges, shares, colours[each.of])
                    about = [dataset, row, panel, each.of, len(each.values), each.values.mean()]
                    rows += [[*about, *each_bin] for each_bin in zip(edges[:-1], edges[1:], shares, strict=True)]
            axis.set_title(panel if place == 0 else "")
            axis.set_xlabel(label if place == len(lines) - 1 else "")
            sns.despine(ax=axis)
        lines_of = (wrap(each, LETTERS, break_on_hyphens=False) for each in (dataset, row, f"share of {share}"))
        line[0].set_ylabel("\n".join(chain(*lines_of)), fontsize=6)
    if drawn:
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(shown))
    sheet.write(figure, pd.DataFrame(rows, columns=COLUMNS))


def bins(values: Sequence[np.ndarray]) -> np.ndarray:
    """The edges of bins for several sets of values, from the least one to the percentile ``LAST`` of all."""
    whole = np.concatenate([np.empty(0), *values])
    if not len(whole):
        return np.linspace(0.0, 1.0, BINS + 1)
    low, high = float(whole.min()), float(np.percentile(whole, LAST))
    return np.linspace(low, high if high > low else low + 1.0, BINS + 1)


def _draw_one(axis: plt.Axes, drawn: Distribution, edges: np.ndarray, shares: np.ndarray, colour: Any) -> None:
    """Shares of values as steps, and their mean as a line."""
    axis.stairs(shares, edges, color=colour, alpha=0.3, fill=True)
    axis.stairs(shares, edges, color=colour, linewidth=1.0, label=drawn.of)
    axis.axvline(min(drawn.values.mean(), edges[-1]), color=colour, linewidth=0.9, linestyle="dashed")
