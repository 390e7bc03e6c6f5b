"""Figures of attribution: distributions over tokens, similarities of captions to their phrases of composition, accuracy
as a function of the share of attribution to composition, and images and captions with the attributions of their parts.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, product
from textwrap import wrap
from typing import Any, TypeAlias

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter
from PIL import Image

from recompose.palette import SERIES
from recompose.papers.declaration import Paper
from recompose.parts.results import Results, first_evaluations
from recompose.parts.style import Drawing, panels
from recompose.recipes.plan import Recipe
from recompose.tracks.vlc.attribution.faithfulness import RELATIONS, right_relations
from recompose.tracks.vlc.attribution.store import FILE, Attributed, cumulative_accuracy, ratios, read
from recompose.tracks.vlc.figures import pages
from recompose.tracks.vlc.figures.retrieval import suite_of
from recompose.tracks.vlc.suites.scores import FILE as SCORES
from recompose.tracks.vlc.suites.scores import read_scores
from recompose.tracks.vlc.suites.tasks import Choices

PANEL, AROUND = 1.15, 0.55  # inches: height of a line of panels, other height of the page
LETTERS = 20  # in a line beside a panel
BINS = 30
LAST = 99.5  # percentile of scores; larger ones are in the last bin
PREFIX = "test/"  # of the metric of a sub-task
KINDS = ("objects", "composition")  # of tokens
DISTRIBUTION = ["dataset", "row", "panel", "of", "n", "mean", "from", "to", "share"]


Values: TypeAlias = Mapping[str, Mapping[str, np.ndarray]]  # of a line of panels: panel -> label -> values
Lines: TypeAlias = Mapping[tuple[str, str], Values]  # data set and row -> values


def draw_scores(results: Results, paper: Paper, name: str) -> Drawing:
    """Draw the scores of object and composition tokens of all captions: a line of panels for each row, a panel for each
    attribution method.

    The results are those of the first seed that all rows have.
    """
    methods = methods_of(paper, name)
    lines = {
        (dataset, row): {
            column: {kind: token_scores(attributions, method, kind) for kind in KINDS}
            for column, method in methods.items()
        }
        for dataset, attributions_by_row in attributions_of_one_seed(results, paper, name).items()
        for row, attributions in attributions_by_row.items()
    }
    return _draw_distributions(lines, list(methods), label="score", share="tokens")


def draw_similarity(results: Results, paper: Paper, name: str) -> Drawing:
    """Draw the cosines of captions and their relation or attribute alone: a panel for each sub-task, all rows in it.

    The results are those of the first seed that all rows have.
    """
    tasks = {column: metric.removeprefix(PREFIX) for column, metric in _columns(paper, name).items()}
    lines = {
        (dataset, ""): {
            column: {
                row: attributions[task].similarity[~np.isnan(attributions[task].similarity)]
                for row, attributions in attributions_by_row.items()
                if task in attributions
            }
            for column, task in tasks.items()
        }
        for dataset, attributions_by_row in attributions_of_one_seed(results, paper, name).items()
    }
    return _draw_distributions(lines, list(tasks), label="cosine", share="captions")


def attributions_of_one_seed(results: Results, paper: Paper, name: str) -> dict[str, dict[str, dict[str, Attributed]]]:
    """Return the stored attributions by data set, row and sub-task, of the first seed that all rows have."""
    return {
        dataset: {row: read(results.file(evaluation, FILE)) for row, evaluation in evaluations.items()}
        for dataset, evaluations in first_evaluations(results, paper, name).items()
    }


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


def _draw_distributions(lines: Lines, panels: list[str], *, label: str, share: str) -> Drawing:
    """Draw a line of panels for each data set and row; the panels of a data set in one column share their bins."""
    numbers: list[list[object]] = []
    for (dataset, row), by_panel in lines.items():
        for panel in panels:
            edges = bins([values for (own, _), of in lines.items() if own == dataset for values in of[panel].values()])
            for name, values in by_panel[panel].items():
                if len(values):
                    shares = np.histogram(np.minimum(values, edges[-1]), edges)[0] / len(values)
                    about = [dataset, row, panel, name, len(values), values.mean()]
                    numbers += [[*about, *part] for part in zip(edges[:-1], edges[1:], shares, strict=True)]
    table = pd.DataFrame(numbers, columns=DISTRIBUTION)
    return Drawing(table, partial(_distribution_figure, table, list(lines), panels, label, share))


def _distribution_figure(
    numbers: pd.DataFrame, lines: Sequence[tuple[str, str]], panels: list[str], label: str, share: str
) -> Figure:
    drawn = lines or [("", "")]
    size = (pages.WIDTH, PANEL * len(drawn) + AROUND + (PANEL if len(drawn) == 1 else 0))
    figure, axes = plt.subplots(len(drawn), len(panels), figsize=size, squeeze=False, layout="constrained")
    names = list(dict.fromkeys(numbers["of"]))
    colours = dict(zip(names, sns.color_palette(SERIES, len(names)), strict=True))
    for place, (axes_of_line, (dataset, row)) in enumerate(zip(axes, drawn, strict=True)):
        line = numbers[(numbers["dataset"] == dataset) & (numbers["row"] == row)]
        for axis, panel in zip(axes_of_line, panels, strict=True):
            for name, part in line[line["panel"] == panel].groupby("of", sort=False):
                _draw_one(axis, str(name), part, colours[name])
            axis.set_title(panel if place == 0 else "")
            axis.set_xlabel(label if place == len(drawn) - 1 else "")
            sns.despine(ax=axis)
        label_lines = (wrap(text, LETTERS, break_on_hyphens=False) for text in (dataset, row, f"share of {share}"))
        axes_of_line[0].set_ylabel("\n".join(chain(*label_lines)), fontsize=6)
    if lines:
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(names))
    return figure


def bins(values: list[np.ndarray]) -> np.ndarray:
    """Return the edges of bins for several sets of values, from the minimum to the percentile ``LAST`` of all."""
    whole = np.concatenate([np.empty(0), *values])
    if not len(whole):
        return np.linspace(0.0, 1.0, BINS + 1)
    low, high = float(whole.min()), float(np.percentile(whole, LAST))
    return np.linspace(low, high if high > low else low + 1.0, BINS + 1)


def _draw_one(axis: plt.Axes, label: str, bins: pd.DataFrame, colour: Any) -> None:
    """Draw shares of values as steps, and their mean as a line."""
    shares, edges = bins["share"].to_numpy(), [*bins["from"], bins["to"].iloc[-1]]
    axis.stairs(shares, edges, color=colour, alpha=0.3, fill=True)
    axis.stairs(shares, edges, color=colour, linewidth=1.0, label=label)
    axis.axvline(min(bins["mean"].iloc[0], edges[-1]), color=colour, linewidth=0.9, linestyle="dashed")


# accuracy by the share of attribution

POINTS = 500  # of a line, at most: there are tens of thousands of items
ENDS = (2.5, 97.5)  # percentiles of ratios that limit the panels
WIDE = 100.0  # ratio of the ends above which positive ratios have a logarithmic scale
TICKS = 4
CURVE = ["dataset", "row", "attribution", "ratio", "accuracy"]


def draw_cumulative(results: Results, paper: Paper, name: str) -> Drawing:
    """Draw the accuracy on ARO's relations of all items up to a ratio of attribution, composition over objects, as a
    function of that ratio: a panel for each data set and attribution method, a line for each row. Grey: the histogram
    of the ratios of the first row.

    The results are those of the first seed that all rows have.
    """
    methods, rows = methods_of(paper, name), list(paper.artifacts[name].rows)
    points: list[tuple[str, str, str, float, float]] = []
    backgrounds: dict[tuple[str, str], np.ndarray] = {}
    by_dataset = first_evaluations(results, paper, name)
    for dataset, evaluations in by_dataset.items():
        relations = {row: _relations(results, evaluations[row]) for row in rows}
        for (column, method), (row, stored) in product(methods.items(), relations.items()):
            if stored is not None and method in stored[0].scores:
                items = ratios(stored[0], method)
                curve = zip(*_thin(*cumulative_accuracy(items, stored[1])), strict=True)
                points += [(dataset, row, column, ratio, 100 * share) for ratio, share in curve]
                if row == rows[0]:
                    backgrounds[dataset, column] = items[~np.isnan(items)]
    numbers = pd.DataFrame(points, columns=CURVE)
    return Drawing(numbers, partial(_cumulative_figure, numbers, backgrounds, list(by_dataset), list(methods), rows))


def _cumulative_figure(
    numbers: pd.DataFrame,
    backgrounds: Mapping[tuple[str, str], np.ndarray],
    datasets: list[str],
    columns: list[str],
    rows: list[str],
) -> Figure:
    colours = dict(zip(rows, sns.color_palette(SERIES, len(rows)), strict=True))
    figure, axes = panels(max(1, len(datasets)), len(columns))
    for line, dataset in zip(axes, datasets, strict=False):
        for axis, column in zip(line, columns, strict=True):
            inside = numbers[(numbers["dataset"] == dataset) & (numbers["attribution"] == column)]
            for row in inside["row"].unique().tolist():
                points = inside[inside["row"] == row]
                _draw_line(axis, points["ratio"].to_numpy(), points["accuracy"].to_numpy(), row, colours[row])
                if row == rows[0]:
                    _draw_items(axis, backgrounds[dataset, column])
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
    attribution = read(results.file(evaluation, FILE)).get(RELATIONS)
    collection = suite_of(results, evaluation, RELATIONS)
    if attribution is None or collection is None:
        return None
    task = collection[2].tasks[RELATIONS]
    assert isinstance(task, Choices)
    scores = read_scores(results.file(evaluation, SCORES))[RELATIONS]
    return attribution, right_relations(task, scores, attribution.items)


def _thin(ratio: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return points of a line at equal distances in their order, including the first and the last."""
    places = (
        np.unique(np.linspace(0, len(ratio) - 1, POINTS).round().astype(int)) if len(ratio) > POINTS else slice(None)
    )
    return ratio[places], share[places]


def _draw_line(axis: plt.Axes, ratio: np.ndarray, accuracy: np.ndarray, row: str, colour: Any) -> None:
    axis.plot(ratio, accuracy, color=colour, linewidth=1.2, label=row)
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


# maps

PICTURES = 2  # of a sub-task, at most
SIDE, GAP = 1.5, 0.15
MAP, SHADE = "inferno", "Oranges"  # colours of patches, and of words
OPAQUE = 0.55  # of the map over the image
MAPPED = ["dataset", "image", "row", "part", "place", "score"]


@dataclass(frozen=True)
class AttributionView:
    """The attributions of one model to a picture and its caption."""

    patches: np.ndarray  # [rows, columns], from 0 to 1
    words: tuple[tuple[str, float], ...]  # with scores from 0 to 1, NaN without one
    numbers: tuple[tuple[str, str, float], ...]  # kind of part, place or word, and stored score


@dataclass(frozen=True)
class Line:
    """A picture with the attributions of all models."""

    dataset: str
    path: str
    pixels: np.ndarray
    by_row: Mapping[str, AttributionView]


def draw_maps(results: Results, paper: Paper, name: str) -> Drawing:
    """Draw a picture in each line, plain and under each row's map, with the caption below, its words shaded.

    The attribution method is that of the artifact's first column, the seed is the first that all rows have, and the
    pictures are the first stored ones.
    """
    method = next(iter(methods_of(paper, name).values()))
    rows = list(paper.artifacts[name].rows)
    lines = [
        line
        for dataset, evaluations in first_evaluations(results, paper, name).items()
        for line in _lines(results, dataset, evaluations, method)
    ]
    numbers = [
        [line.dataset, line.path, row, *number]
        for line in lines
        for row, view in line.by_row.items()
        for number in view.numbers
    ]
    return Drawing(pd.DataFrame(numbers, columns=MAPPED), lambda: draw_lines(rows, lines).figure)


def _lines(results: Results, dataset: str, evaluations: Mapping[str, Recipe], method: str) -> Iterator[Line]:
    """Yield the pictures of a data set whose attributions all rows store."""
    attributions = {row: read(results.file(evaluation, FILE)) for row, evaluation in evaluations.items()}
    first = next(iter(evaluations.values()))
    for task in sorted(next(iter(attributions.values())), reverse=True):  # relations first
        of_rows = {
            row: tasks[task] for row, tasks in attributions.items() if task in tasks and method in tasks[task].patches
        }
        collection = suite_of(results, first, task)
        if collection is None or len(of_rows) < len(attributions):
            continue
        _, data, suite = collection
        choices = suite.tasks[task]
        assert isinstance(choices, Choices)
        places = [
            {int(attribution.items[text]): place for place, text in enumerate(attribution.shown)}
            for attribution in of_rows.values()
        ]
        for item in [item for item in places[0] if all(item in row_places for row_places in places)][:PICTURES]:
            picture = suite.images[int(choices.asked[item])]
            caption = suite.texts[int(choices.offered[item, choices.true[item]])]
            pixels = pages.square_pixels(picture, results.raw(data))
            by_row = {
                row: attribution_view(attribution, method, of_row[item], caption)
                for (row, attribution), of_row in zip(of_rows.items(), places, strict=True)
            }
            yield Line(dataset, picture.path, pixels, by_row)


def attribution_view(attribution: Attributed, method: str, place: int, caption: str) -> AttributionView:
    """Return the attributions of one model to a picture and its caption.

    Args:
        attribution: the attribution of the model for the sub-task.
        method: the attribution method.
        place: the position of the picture among the stored ones.
        caption: the true caption of the item.
    """
    patches, text = attribution.patches[method][place].astype(np.float64), int(attribution.shown[place])
    side = round(len(patches) ** 0.5)
    grid = patches.reshape(side, side)
    words = list(words_of(caption, attribution.spans[text], attribution.scores[method][text]))
    shades = rescale(np.array([score for _, score in words], dtype=np.float64))
    numbers = [("patch", f"{row} {column}", float(grid[row, column])) for row in range(side) for column in range(side)]
    numbers += [("word", word, score) for word, score in words]
    shaded = tuple((word, float(shade)) for (word, _), shade in zip(words, shades, strict=True))
    return AttributionView(rescale(grid), shaded, tuple(numbers))


def words_of(caption: str, spans: np.ndarray, scores: np.ndarray) -> Iterator[tuple[str, float]]:
    """Yield the words of a caption with the mean score of their tokens; NaN if none of these has a score.

    Args:
        caption: its words are separated by white space.
        spans: [tokens, 2], the positions of the tokens in the caption.
        scores: [tokens], NaN without one.

    Example:
        >>> spans = np.array([[-1, -1], [0, 1], [2, 4], [4, 5]])
        >>> [(word, round(score, 2)) for word, score in words_of("a red", spans, np.array([9.0, 0.1, 0.2, 0.4]))]
        [('a', 0.1), ('red', 0.3)]
    """
    for word in re.finditer(r"\S+", caption):
        inside = (spans[:, 0] >= word.start()) & (spans[:, 1] <= word.end()) & ~np.isnan(scores)
        yield word.group(), float(scores[inside].mean()) if inside.any() else float("nan")


def rescale(values: np.ndarray) -> np.ndarray:
    """Return values scaled from the minimum, 0, to the maximum, 1; all 0 if they are equal. NaN stays.

    Example:
        >>> rescale(np.array([2.0, np.nan, 4.0, 3.0])).tolist()
        [0.0, nan, 1.0, 0.5]
    """
    finite = values[~np.isnan(values)]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
    return (values - low) / (high - low) if high > low else values * 0.0


def overlay_map(pixels: np.ndarray, patches: np.ndarray) -> np.ndarray:
    """Blend an image [side, side, 3] with the smoothed map [rows, columns] of its patches, from 0 to 1."""
    side = len(pixels)
    smooth = np.asarray(Image.fromarray(patches.astype(np.float32)).resize((side, side), Image.Resampling.BILINEAR))
    colours = mpl.colormaps[MAP](np.clip(smooth, 0.0, 1.0))[..., :3]
    return ((1 - OPAQUE) * pixels + OPAQUE * 255 * colours).round().astype(np.uint8)


def draw_lines(rows: Sequence[str], lines: Sequence[Line]) -> pages.Page:
    """Draw plain pictures at the left, and each row's maps in its own column."""
    across = (pages.WIDTH - GAP) / (len(rows) + 1)
    side, letters = min(SIDE, across - GAP), pages.letters_in(across - GAP)
    left, *columns = (GAP + across * place for place in range(len(rows) + 1))

    def drawn(line: Line) -> pages.DrawnLine:
        captions = {
            row: pages.wrap_words([_shaded(*word) for word in view.words], letters) for row, view in line.by_row.items()
        }

        def draw(page: pages.Page, top: float) -> None:
            page.image(line.pixels, left, top, side)
            page.lines(pages.wrap_text(line.dataset, letters), left, top + side + 0.5 * pages.LINE, weight="bold")
            for row, x in zip(rows, columns, strict=True):
                page.image(overlay_map(line.pixels, line.by_row[row].patches), x, top, side)
                page.lines(captions[row], x, top + side + 0.5 * pages.LINE)

        return side + pages.LINE * (1.5 + max(map(len, captions.values()))) + GAP, draw

    return pages.draw_page(rows, columns, list(map(drawn, lines)), GAP)


def _shaded(word: str, shade: float) -> pages.Word:
    """Return a word on a ground as dark as its shade; without a ground if it has no score."""
    return pages.Word(word, ground=None if np.isnan(shade) else mpl.colormaps[SHADE](0.8 * shade))
