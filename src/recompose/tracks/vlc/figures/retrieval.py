"""What models find for images among all captions of a set."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import ImageOps
from safetensors.numpy import load_file

from recompose.palette import RIGHT, WRONG
from recompose.papers.declaration import Paper
from recompose.plan import Recipe
from recompose.report.figures.series import series_of
from recompose.report.figures.style import Sheet
from recompose.report.results import Results
from recompose.tracks.vlc.data.index import SUITES, pictures_of, read_suites, texts_of
from recompose.tracks.vlc.data.suite import Pool, Suite
from recompose.tracks.vlc.figures.page import LINE, WIDTH, Page, Word, letters_in, plain, wrapped

POOL = "coco_counterfactuals"
EMBEDDINGS = "embeddings.safetensors"  # of an evaluation that keeps them
NEEDED = "suites-"  # what roles of collections of suites begin with, among what an evaluation needs
NEAREST = 3  # captions that are shown
SIDE, GAP = 1.0, 0.12  # inches: of an image, and around it
BETWEEN = 0.4  # lines, between captions
BETTER, WORSE = 3, 1  # images shown: that the last row alone tells right of the first and it, and that none does
PIXELS = 224
TICKS = {True: "\u2713", False: "\u2717"}
COLUMNS = ["dataset", "image", "row", "rank", "caption", "cosine", "right"]


@dataclass(frozen=True)
class Found:
    """What a row's model finds for each image of a pool."""

    captions: np.ndarray  # [images, rank], places of captions in the pool, the nearest first
    cosines: np.ndarray  # [images, rank]


@dataclass(frozen=True)
class Gallery:
    """The images and captions of a pool."""

    root: Path
    suite: Suite
    pool: Pool

    def caption(self, place: int) -> str:
        """The caption at a place of the pool."""
        return self.suite.texts[int(self.pool.texts[place])]

    def path(self, image: int) -> str:
        """The file of an image of the pool, below the root."""
        return self.suite.images[int(self.pool.images[image])].path

    def pixels(self, image: int) -> np.ndarray:
        """An image, cut to the square in its middle.

        Raises:
            DataError: it is no readable image.
        """
        picture = self.suite.images[int(self.pool.images[image])].open(self.root)
        return np.asarray(ImageOps.fit(picture.convert("RGB"), (PIXELS, PIXELS)))

    def right(self, found: Found) -> np.ndarray:
        """Whether each of the captions found [images, rank] is of the image."""
        of_image: np.ndarray = self.pool.image_of[found.captions] == np.arange(len(found.captions))[:, None]
        return of_image


def draw_retrieval(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """An image in each line, with the three captions that each row's model finds nearest to it, right ones ticked."""
    lines: list[tuple[Gallery, int, dict[str, Found]]] = []
    shown: list[dict[str, Any]] = []
    rows = list(paper.artifacts[name].rows)
    for dataset, evaluations in of_one_seed(results, paper, name).items():
        gallery = read_gallery(results, evaluations[rows[0]])
        if gallery is None:
            continue
        found = {row: read_found(results, evaluation, gallery) for row, evaluation in evaluations.items()}
        for image in chosen([gallery.right(each)[:, 0] for each in found.values()]):
            lines.append((gallery, image, found))
            shown += _numbers(dataset, gallery, image, found)
    page = draw_gallery(rows, lines)
    sheet.write(page.figure, pd.DataFrame(shown, columns=COLUMNS))


def of_one_seed(results: Results, paper: Paper, name: str) -> dict[str, dict[str, Recipe]]:
    """By data set the evaluations of all rows with the first seed that all have: where seeds draw suites of their own,
    these are then the same.
    """
    by_dataset: dict[str, dict[str, dict[int, Recipe]]] = {}
    for series in series_of(results, paper, name):
        of_seed = {int(each.labels["seed"]): each for each in series.complete}
        by_dataset.setdefault(series.benchmark, {})[series.row] = of_seed
    found = {}
    for dataset, of_rows in by_dataset.items():
        common = set.intersection(*(set(of_seed) for of_seed in of_rows.values()))
        if common and len(of_rows) == len(paper.artifacts[name].rows):
            found[dataset] = {row: of_seed[min(common)] for row, of_seed in of_rows.items()}
    return found


def read_gallery(results: Results, evaluation: Recipe) -> Gallery | None:
    """The pool that an evaluation was of; None where it was of other suites alone."""
    for _, data in collections(evaluation):
        path = results.folder(data) / SUITES / f"{POOL}.json"
        if path.exists():
            suite = Suite.read(path)
            pool = suite.tasks[POOL]
            assert isinstance(pool, Pool)
            return Gallery(results.raw(data), suite, pool)
    return None


def collections(evaluation: Recipe) -> Iterator[tuple[str, Recipe]]:
    """The collections of suites that an evaluation was of, by their names."""
    for role, data in evaluation.needs.items():
        if role.startswith(NEEDED):
            yield role.removeprefix(NEEDED), data


def read_found(results: Results, evaluation: Recipe, gallery: Gallery) -> Found:
    """What an evaluation's model finds in the pool, by the embeddings that were kept of it."""
    kept = load_file(results.file(evaluation, EMBEDDINGS))
    for name, data in collections(evaluation):
        index = results.folder(data)
        if (index / SUITES / f"{POOL}.json").exists():
            suites = read_suites(index)
            image_row = {picture: row for row, picture in enumerate(pictures_of(suites))}
            text_row = {text: row for row, text in enumerate(texts_of(suites))}
            images = [image_row[gallery.suite.images[int(image)]] for image in gallery.pool.images]
            captions = [text_row[gallery.caption(place)] for place in range(len(gallery.pool.texts))]
            return nearest(kept[f"{name}/images"][images], kept[f"{name}/texts"][captions])
    raise AssertionError(f"{evaluation.name} is of no {POOL}")


def nearest(images: np.ndarray, captions: np.ndarray) -> Found:
    """The captions [captions, E] with the largest cosines to each image [images, E], all of length 1; of equal ones
    the first.

    Example:
        >>> nearest(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0], [1.0, 0.0]])).captions.tolist()
        [[1, 0]]
    """
    cosines = images @ captions.T
    found = np.argsort(-cosines, axis=1, kind="stable")[:, :NEAREST]
    return Found(found, np.take_along_axis(cosines, found, axis=1))


def chosen(right: list[np.ndarray]) -> list[int]:
    """The first images that the last of some models tells right and the first one wrong, then the first that none
    tells right.

    Args:
        right: of each model, whether it tells each image right [images].

    Example:
        >>> chosen([np.array([True, False, False]), np.array([True, True, False])])
        [1, 2]
    """
    better, none = right[-1] & ~right[0], ~np.any(right, axis=0)
    return [*np.flatnonzero(better)[:BETTER].tolist(), *np.flatnonzero(none)[:WORSE].tolist()]


def draw_gallery(rows: list[str], lines: list[tuple[Gallery, int, dict[str, Found]]]) -> Page:
    """Images at the left, and what each row's model finds in a column of its own."""
    across = (WIDTH - SIDE - 2 * GAP) / len(rows)
    letters = letters_in(across - GAP)
    told = [{row: _told(gallery, image, found[row], letters) for row in rows} for gallery, image, found in lines]
    heights = [
        max(SIDE, *(LINE * sum(len(lines) + BETWEEN for lines in of) for of in each.values())) + GAP for each in told
    ]
    page = Page(sum(heights) + 3 * LINE)
    lefts = [SIDE + 2 * GAP + across * place for place in range(len(rows))]
    for row, left in zip(rows, lefts, strict=True):
        page.lines([plain(row)], left, GAP / 2, weight="bold")
    top = 2 * LINE
    for (gallery, image, found), of_rows, height in zip(lines, told, heights, strict=True):
        page.image(gallery.pixels(image), GAP, top, SIDE)
        for row, left in zip(rows, lefts, strict=True):
            right, below = gallery.right(found[row])[image], top
            for caption, is_right in zip(of_rows[row], right, strict=True):
                below = page.lines(caption, left, below, color=RIGHT if is_right else WRONG) + BETWEEN * LINE
        top += height
    return page


def _told(gallery: Gallery, image: int, found: Found, letters: int) -> list[list[list[Word]]]:
    """The captions found for an image, each with its tick, in lines."""
    return [
        wrapped(plain(f"{TICKS[bool(right)]} {gallery.caption(place)}"), letters)
        for place, right in zip(found.captions[image], gallery.right(found)[image], strict=True)
    ]


def _numbers(dataset: str, gallery: Gallery, image: int, found: dict[str, Found]) -> list[dict[str, Any]]:
    """What is shown of an image, for the file beside the figure."""
    lines = []
    for row, each in found.items():
        ranked = zip(each.captions[image], each.cosines[image], gallery.right(each)[image], strict=True)
        for rank, (place, cosine, right) in enumerate(ranked, start=1):
            numbers = (dataset, gallery.path(image), row, rank, gallery.caption(place), cosine, right)
            lines.append(dict(zip(COLUMNS, numbers, strict=True)))
    return lines
