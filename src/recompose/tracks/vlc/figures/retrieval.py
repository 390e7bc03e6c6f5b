"""The captions that models retrieve for images, among all captions of a set."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from recompose.data.pictures import Picture
from recompose.palette import RIGHT, WRONG
from recompose.papers.declaration import Paper
from recompose.parts.results import Results, first_evaluations
from recompose.parts.style import Drawing
from recompose.recipes.plan import Recipe
from recompose.tracks.stored import read_embeddings
from recompose.tracks.vlc.data.index import SUITES, pictures_of, read_suites, texts_of
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.figures import pages
from recompose.tracks.vlc.suites.tasks import Pool

POOL = "coco_counterfactuals"
NEEDED = "suites-"  # prefix of the roles of collections of suites among the needs of an evaluation
NEAREST = 3  # captions of an image
SIDE, GAP = 1.0, 0.12  # inches: of an image, and around it
BETWEEN = 0.4  # lines, between captions
BETTER, WORSE = 3, 1  # images that the last row gets right and the first wrong, and that no row gets right
TICKS = {True: "\u2713", False: "\u2717"}
COLUMNS = ["dataset", "image", "row", "rank", "caption", "cosine", "right"]


class Retrieved(NamedTuple):
    """A caption near an image, in a row's model."""

    caption: str
    cosine: float
    is_right: bool  # it belongs to the image


@dataclass(frozen=True)
class Line:
    """An image of a pool, with the captions nearest to it in each row's model, the nearest first."""

    dataset: str
    picture: Picture
    root: Path  # of its file
    by_row: Mapping[str, Sequence[Retrieved]]


def draw_retrieval(results: Results, paper: Paper, name: str) -> Drawing:
    """Draw an image in each line, with the three captions nearest to it in each row's model, right ones ticked."""
    by_dataset = first_evaluations(results, paper, name)
    lines = [line for dataset, rows in by_dataset.items() for line in _lines(results, dataset, rows)]
    numbers = [
        (line.dataset, line.picture.path, row, rank, *retrieved)
        for line in lines
        for row, nearest in line.by_row.items()
        for rank, retrieved in enumerate(nearest, start=1)
    ]
    rows = list(paper.artifacts[name].rows)
    return Drawing(pd.DataFrame(numbers, columns=COLUMNS), lambda: draw_gallery(rows, lines).figure)


def suite_of(results: Results, evaluation: Recipe, task: str) -> tuple[str, Recipe, Suite] | None:
    """Return the suite of a sub-task among those of an evaluation, with the name and the data of its collection."""
    for role, data in evaluation.needs.items():
        if role.startswith(NEEDED):
            path = results.folder(data) / SUITES / f"{task.partition('/')[0]}.json"
            if path.exists():
                return role.removeprefix(NEEDED), data, Suite.read(path)
    return None


def _lines(results: Results, dataset: str, evaluations: Mapping[str, Recipe]) -> Iterator[Line]:
    """Yield some images of a data set's pool; none if it was evaluated on other suites only."""
    if (collection := suite_of(results, next(iter(evaluations.values())), POOL)) is None:
        return
    _, data, suite = collection
    pool = suite.tasks[POOL]
    assert isinstance(pool, Pool)
    nearest = {row: _nearest(results, evaluation, suite, pool) for row, evaluation in evaluations.items()}
    right = {row: pool.image_of[places] == np.arange(len(places))[:, None] for row, (places, _) in nearest.items()}
    for image in select_images([flags[:, 0] for flags in right.values()]):
        by_row = {
            row: [
                Retrieved(suite.texts[pool.texts[place]], cosine, is_right)
                for place, cosine, is_right in zip(places[image], cosines[image], right[row][image], strict=True)
            ]
            for row, (places, cosines) in nearest.items()
        }
        yield Line(dataset, suite.images[pool.images[image]], results.raw(data), by_row)


def _nearest(results: Results, evaluation: Recipe, suite: Suite, pool: Pool) -> tuple[np.ndarray, np.ndarray]:
    """Return ``nearest_captions`` of a pool, by the stored embeddings of an evaluation's model."""
    embeddings, collection = read_embeddings(results, evaluation), suite_of(results, evaluation, POOL)
    assert collection is not None
    name, suites = collection[0], read_suites(results.folder(collection[1]))
    rows = {picture: row for row, picture in enumerate(pictures_of(suites))}
    places = {text: row for row, text in enumerate(texts_of(suites))}
    features = suite.features(embeddings[f"{name}/images"], embeddings[f"{name}/texts"], rows, places)
    images, texts = features.image_rows[pool.images], features.text_rows[pool.texts]
    return nearest_captions(features.images[images], features.texts[texts])


def nearest_captions(images: np.ndarray, captions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions [images, rank] of the captions [captions, E] with the largest cosines to each image
    [images, E], all of length 1, of equal ones the first; and these cosines.

    Example:
        >>> nearest_captions(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0], [1.0, 0.0]]))[0].tolist()
        [[1, 0]]
    """
    cosines = images @ captions.T
    ranked = np.argsort(-cosines, axis=1, kind="stable")[:, :NEAREST]
    return ranked, np.take_along_axis(cosines, ranked, axis=1)


def select_images(right: list[np.ndarray]) -> list[int]:
    """Return the first images that the last of some models gets right and the first one wrong, then the first that no
    model gets right.

    Args:
        right: whether each model gets each image right [images].

    Example:
        >>> select_images([np.array([True, False, False]), np.array([True, True, False])])
        [1, 2]
    """
    better, none = right[-1] & ~right[0], ~np.any(right, axis=0)
    return [*np.flatnonzero(better)[:BETTER].tolist(), *np.flatnonzero(none)[:WORSE].tolist()]


def draw_gallery(rows: list[str], lines: Sequence[Line]) -> pages.Page:
    """Draw images at the left, and the captions of each row's model in its own column."""
    across = (pages.WIDTH - SIDE - 2 * GAP) / len(rows)
    columns = [SIDE + 2 * GAP + across * place for place in range(len(rows))]

    def drawn(line: Line) -> pages.DrawnLine:
        wrapped = [
            [
                (pages.wrap_text(f"{TICKS[bool(is_right)]} {text}", pages.letters_in(across - GAP)), is_right)
                for text, _, is_right in line.by_row[row]
            ]
            for row in rows
        ]

        def draw(page: pages.Page, top: float) -> None:
            page.image(pages.square_pixels(line.picture, line.root), GAP, top, SIDE)
            for captions, x in zip(wrapped, columns, strict=True):
                below = top
                for caption, is_right in captions:
                    below = page.lines(caption, x, below, color=RIGHT if is_right else WRONG) + BETWEEN * pages.LINE

        heights = (pages.LINE * sum(len(caption) + BETWEEN for caption, _ in captions) for captions in wrapped)
        return max(SIDE, *heights) + GAP, draw

    return pages.draw_page(rows, columns, list(map(drawn, lines)), GAP)
