"""Images and their captions with what is attributed to their parts, model by model."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from PIL import Image, ImageOps

from recompose.papers.declaration import Paper
from recompose.plan import Recipe
from recompose.report.figures.style import Sheet
from recompose.report.results import Results
from recompose.tracks.vlc.attribution.attribution_store import Attributed
from recompose.tracks.vlc.data.index import SUITES
from recompose.tracks.vlc.data.suite import Choices, Suite
from recompose.tracks.vlc.figures.attribution_distributions import attributed, methods_of
from recompose.tracks.vlc.figures.page import LETTER, LINE, SIZE, WIDTH, Page, Word, letters_in, plain, wrapped
from recompose.tracks.vlc.figures.retrieval import collections, of_one_seed

SHOWN = 2  # pictures of a sub-task, at most
SIDE, GAP, PIXELS = 1.5, 0.15, 224
MAP, SHADE = "inferno", "Oranges"  # colours of patches, and of words
OPAQUE = 0.55  # of the map over the image
COLUMNS = ["dataset", "image", "row", "part", "place", "score"]


@dataclass(frozen=True)
class Shown:
    """A picture and its caption with what one model attributes to them."""

    patches: np.ndarray  # [rows, columns], from 0 to 1
    words: tuple[tuple[str, float], ...]  # each with its score from 0 to 1, NaN where it has none
    numbers: tuple[tuple[str, str, float], ...]  # patches and words, where they are, and their scores as kept


@dataclass(frozen=True)
class Line:
    """A picture with what all models attribute to it."""

    dataset: str
    path: str
    pixels: np.ndarray
    by_row: Mapping[str, Shown]


def draw_maps(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """A picture in each line, plain and then under each row's map, with the caption below, its words shaded.

    By the attribution of the artifact's first column, and of the first seed that all rows have; the first pictures that
    were kept.
    """
    method = next(iter(methods_of(paper, name).values()))
    rows = list(paper.artifacts[name].rows)
    lines = [
        line
        for dataset, evaluations in of_one_seed(results, paper, name).items()
        for line in _lines(results, dataset, evaluations, method)
    ]
    numbers = [
        [line.dataset, line.path, row, *number]
        for line in lines
        for row, shown in line.by_row.items()
        for number in shown.numbers
    ]
    sheet.write(draw_lines(rows, lines).figure, pd.DataFrame(numbers, columns=COLUMNS))


def _lines(results: Results, dataset: str, evaluations: Mapping[str, Recipe], method: str) -> Iterator[Line]:
    """The pictures of a data set that all rows have kept."""
    kept = {row: attributed(results, evaluation) for row, evaluation in evaluations.items()}
    first = next(iter(evaluations.values()))
    for task in sorted(next(iter(kept.values())), reverse=True):  # relations first
        of_rows = {row: tasks[task] for row, tasks in kept.items() if task in tasks and method in tasks[task].patches}
        found = suite_of(results, first, task)
        if found is None or len(of_rows) < len(kept):
            continue
        root, suite = found
        choices = suite.tasks[task]
        assert isinstance(choices, Choices)
        places = [{int(each.items[text]): place for place, text in enumerate(each.shown)} for each in of_rows.values()]
        for item in [item for item in places[0] if all(item in other for other in places)][:SHOWN]:
            picture = suite.images[int(choices.asked[item])]
            caption = suite.texts[int(choices.offered[item, choices.true[item]])]
            pixels = np.asarray(ImageOps.fit(picture.open(root).convert("RGB"), (PIXELS, PIXELS)))
            by_row = {
                row: shown_of(each, method, of_row[item], caption)
                for (row, each), of_row in zip(of_rows.items(), places, strict=True)
            }
            yield Line(dataset, picture.path, pixels, by_row)


def suite_of(results: Results, evaluation: Recipe, task: str) -> tuple[Path, Suite] | None:
    """The raw files and the suite of a sub-task, among those of an evaluation."""
    for _, data in collections(evaluation):
        path = results.folder(data) / SUITES / f"{task.partition('/')[0]}.json"
        if path.exists():
            return results.raw(data), Suite.read(path)
    return None


def shown_of(kept: Attributed, method: str, place: int, caption: str) -> Shown:
    """What one model attributes to a picture and to its caption.

    Args:
        kept: of the model and the sub-task.
        method: of attribution.
        place: of the picture among those that are kept.
        caption: the item's true one.
    """
    patches, text = kept.patches[method][place].astype(np.float64), int(kept.shown[place])
    side = round(len(patches) ** 0.5)
    grid = patches.reshape(side, side)
    words = list(words_of(caption, kept.spans[text], kept.scores[method][text]))
    shades = scaled(np.array([score for _, score in words], dtype=np.float64))
    numbers = [("patch", f"{row} {column}", float(grid[row, column])) for row in range(side) for column in range(side)]
    numbers += [("word", word, score) for word, score in words]
    shaded = tuple((word, float(shade)) for (word, _), shade in zip(words, shades, strict=True))
    return Shown(scaled(grid), shaded, tuple(numbers))


def words_of(caption: str, spans: np.ndarray, scores: np.ndarray) -> Iterator[tuple[str, float]]:
    """The words of a caption, each with the mean score of its tokens; NaN where none of them has one.

    Args:
        caption: whose words stand between white space.
        spans: [tokens, 2], the letters that tokens stand for.
        scores: [tokens], NaN where there is none.

    Example:
        >>> spans = np.array([[-1, -1], [0, 1], [2, 4], [4, 5]])
        >>> [(word, round(score, 2)) for word, score in words_of("a red", spans, np.array([9.0, 0.1, 0.2, 0.4]))]
        [('a', 0.1), ('red', 0.3)]
    """
    for word in re.finditer(r"\S+", caption):
        inside = (spans[:, 0] >= word.start()) & (spans[:, 1] <= word.end()) & ~np.isnan(scores)
        yield word.group(), float(scores[inside].mean()) if inside.any() else float("nan")


def scaled(values: np.ndarray) -> np.ndarray:
    """Values from the least one, 0, to the largest, 1; all 0 where they are equal. NaN stays.

    Example:
        >>> scaled(np.array([2.0, np.nan, 4.0, 3.0])).tolist()
        [0.0, nan, 1.0, 0.5]
    """
    known = values[~np.isnan(values)]
    low, high = (known.min(), known.max()) if len(known) else (0.0, 0.0)
    made: np.ndarray = (values - low) / (high - low) if high > low else values * 0.0
    return made


def overlaid(pixels: np.ndarray, patches: np.ndarray) -> np.ndarray:
    """An image [side, side, 3] under the map [rows, columns], from 0 to 1, of its patches, which is drawn smoothly."""
    side = len(pixels)
    smooth = np.asarray(Image.fromarray(patches.astype(np.float32)).resize((side, side), Image.Resampling.BILINEAR))
    colours = mpl.colormaps[MAP](np.clip(smooth, 0.0, 1.0))[..., :3]
    blended: np.ndarray = (1 - OPAQUE) * pixels + OPAQUE * 255 * colours
    return blended.round().astype(np.uint8)


def draw_lines(rows: Sequence[str], lines: Sequence[Line]) -> Page:
    """Plain pictures at the left, and each row's maps in a column of their own."""
    across = (WIDTH - GAP) / (len(rows) + 1)
    side = min(SIDE, across - GAP)
    letters = letters_in(across - GAP)
    told = [
        {row: wrapped([Word(word) for word, _ in shown.words], letters) for row, shown in line.by_row.items()}
        for line in lines
    ]
    heights = [side + LINE * (1.5 + max(len(of_row) for of_row in by_row.values())) + GAP for by_row in told]
    page = Page(sum(heights) + 3 * LINE)
    lefts = [GAP + across * place for place in range(len(rows) + 1)]
    for row, left in zip(rows, lefts[1:], strict=True):
        page.lines([plain(row)], left, GAP / 2, weight="bold")
    top = 2 * LINE
    for line, by_row, height in zip(lines, told, heights, strict=True):
        page.image(line.pixels, lefts[0], top, side)
        page.lines(wrapped(plain(line.dataset), letters), lefts[0], top + side + 0.5 * LINE, weight="bold")
        for row, left in zip(rows, lefts[1:], strict=True):
            page.image(overlaid(line.pixels, line.by_row[row].patches), left, top, side)
            _shade(page, by_row[row], [shade for _, shade in line.by_row[row].words], left, top + side + 0.5 * LINE)
        top += height
    return page


def _shade(page: Page, lines: Sequence[Sequence[Word]], shades: Sequence[float], left: float, top: float) -> None:
    """Words in lines, each on a ground as dark as its shade; one without a score on none."""
    axis, rest = page.figure.axes[0], iter(shades)
    for line in lines:
        place = left
        for word in line:
            shade = next(rest)
            ground: Any = {"facecolor": mpl.colormaps[SHADE](0.8 * shade), "edgecolor": "none", "pad": 0.6}
            look: Any = {} if np.isnan(shade) else {"bbox": ground}
            axis.text(place, top + 0.75 * LINE, word.text, family="monospace", size=SIZE, va="baseline", **look)
            place += LETTER * (len(word.text) + 1)
        top += LINE
