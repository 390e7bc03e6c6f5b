"""Images and captions with the attributions of their parts, model by model."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from PIL import Image

from recompose.papers.declaration import Paper
from recompose.plan import Recipe
from recompose.tables.results import Results
from recompose.tables.style import Sheet
from recompose.tracks.vlc.attribution.store import Attributed
from recompose.tracks.vlc.data.index import SUITES
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.figures.attribution_distributions import methods_of, read_attributions
from recompose.tracks.vlc.figures.page import (
    LINE,
    WIDTH,
    Page,
    Word,
    letters_in,
    square_pixels,
    wrap_text,
    wrap_words,
)
from recompose.tracks.vlc.figures.retrieval import collections, evaluations_of_one_seed
from recompose.tracks.vlc.suites.tasks import Choices

PICTURES = 2  # of a sub-task, at most
SIDE, GAP = 1.5, 0.15
MAP, SHADE = "inferno", "Oranges"  # colours of patches, and of words
OPAQUE = 0.55  # of the map over the image
COLUMNS = ["dataset", "image", "row", "part", "place", "score"]


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


def draw_maps(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """Draw a picture in each line, plain and under each row's map, with the caption below, its words shaded.

    The attribution method is that of the artifact's first column, the seed is the first that all rows have, and the
    pictures are the first stored ones.
    """
    method = next(iter(methods_of(paper, name).values()))
    rows = list(paper.artifacts[name].rows)
    lines = [
        line
        for dataset, evaluations in evaluations_of_one_seed(results, paper, name).items()
        for line in _lines(results, dataset, evaluations, method)
    ]
    numbers = [
        [line.dataset, line.path, row, *number]
        for line in lines
        for row, view in line.by_row.items()
        for number in view.numbers
    ]
    sheet.write(pd.DataFrame(numbers, columns=COLUMNS), lambda: draw_lines(rows, lines).figure)


def _lines(results: Results, dataset: str, evaluations: Mapping[str, Recipe], method: str) -> Iterator[Line]:
    """Yield the pictures of a data set whose attributions all rows store."""
    attributions = {row: read_attributions(results, evaluation) for row, evaluation in evaluations.items()}
    first = next(iter(evaluations.values()))
    for task in sorted(next(iter(attributions.values())), reverse=True):  # relations first
        of_rows = {
            row: tasks[task] for row, tasks in attributions.items() if task in tasks and method in tasks[task].patches
        }
        suite_files = suite_of(results, first, task)
        if suite_files is None or len(of_rows) < len(attributions):
            continue
        root, suite = suite_files
        choices = suite.tasks[task]
        assert isinstance(choices, Choices)
        places = [
            {int(attribution.items[text]): place for place, text in enumerate(attribution.shown)}
            for attribution in of_rows.values()
        ]
        for item in [item for item in places[0] if all(item in row_places for row_places in places)][:PICTURES]:
            picture = suite.images[int(choices.asked[item])]
            caption = suite.texts[int(choices.offered[item, choices.true[item]])]
            pixels = square_pixels(picture, root)
            by_row = {
                row: attribution_view(attribution, method, of_row[item], caption)
                for (row, attribution), of_row in zip(of_rows.items(), places, strict=True)
            }
            yield Line(dataset, picture.path, pixels, by_row)


def suite_of(results: Results, evaluation: Recipe, task: str) -> tuple[Path, Suite] | None:
    """Return the raw files and the suite of a sub-task, among those of an evaluation."""
    for _, data in collections(evaluation):
        path = results.folder(data) / SUITES / f"{task.partition('/')[0]}.json"
        if path.exists():
            return results.raw(data), Suite.read(path)
    return None


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
    rescaled: np.ndarray = (values - low) / (high - low) if high > low else values * 0.0
    return rescaled


def overlay_map(pixels: np.ndarray, patches: np.ndarray) -> np.ndarray:
    """Blend an image [side, side, 3] with the smoothed map [rows, columns] of its patches, from 0 to 1."""
    side = len(pixels)
    smooth = np.asarray(Image.fromarray(patches.astype(np.float32)).resize((side, side), Image.Resampling.BILINEAR))
    colours = mpl.colormaps[MAP](np.clip(smooth, 0.0, 1.0))[..., :3]
    blended: np.ndarray = (1 - OPAQUE) * pixels + OPAQUE * 255 * colours
    return blended.round().astype(np.uint8)


def draw_lines(rows: Sequence[str], lines: Sequence[Line]) -> Page:
    """Draw plain pictures at the left, and each row's maps in its own column."""
    across = (WIDTH - GAP) / (len(rows) + 1)
    side = min(SIDE, across - GAP)
    letters = letters_in(across - GAP)
    captions = [
        {row: wrap_words([_shaded(*word) for word in view.words], letters) for row, view in line.by_row.items()}
        for line in lines
    ]
    heights = [side + LINE * (1.5 + max(len(of_row) for of_row in by_row.values())) + GAP for by_row in captions]
    page = Page(sum(heights) + 3 * LINE)
    columns = [GAP + across * place for place in range(len(rows) + 1)]
    page.headings(rows, columns[1:], GAP / 2)
    top = 2 * LINE
    for line, by_row, height in zip(lines, captions, heights, strict=True):
        page.image(line.pixels, columns[0], top, side)
        page.lines(wrap_text(line.dataset, letters), columns[0], top + side + 0.5 * LINE, weight="bold")
        for row, x in zip(rows, columns[1:], strict=True):
            page.image(overlay_map(line.pixels, line.by_row[row].patches), x, top, side)
            page.lines(by_row[row], x, top + side + 0.5 * LINE)
        top += height
    return page


def _shaded(word: str, shade: float) -> Word:
    """Return a word on a ground as dark as its shade; without a ground if it has no score."""
    return Word(word, ground=None if np.isnan(shade) else mpl.colormaps[SHADE](0.8 * shade))
