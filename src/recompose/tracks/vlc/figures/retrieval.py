"""The captions that models retrieve for images, among all captions of a set."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from recompose.palette import RIGHT, WRONG
from recompose.papers.declaration import Paper
from recompose.plan import Recipe
from recompose.tables.results import Results
from recompose.tables.rows import series_of
from recompose.tables.style import Sheet
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


@dataclass(frozen=True)
class NearestCaptions:
    """The captions nearest to each image of a pool in a row's model."""

    captions: np.ndarray  # [images, rank], positions of captions in the pool, the nearest first
    cosines: np.ndarray  # [images, rank]


@dataclass(frozen=True)
class Gallery:
    """The images and captions of a pool."""

    root: Path
    suite: Suite
    pool: Pool

    def caption(self, place: int) -> str:
        """Return the caption at a position of the pool."""
        return self.suite.texts[int(self.pool.texts[place])]

    def path(self, image: int) -> str:
        """Return the file of an image of the pool, below the root."""
        return self.suite.images[int(self.pool.images[image])].path

    def pixels(self, image: int) -> np.ndarray:
        """Return an image, cropped to the square in its middle.

        Raises:
            DataError: it is no readable image.
        """
        return pages.square_pixels(self.suite.images[int(self.pool.images[image])], self.root)

    def right(self, nearest: NearestCaptions) -> np.ndarray:
        """Return whether each of the retrieved captions [images, rank] belongs to the image."""
        of_image: np.ndarray = self.pool.image_of[nearest.captions] == np.arange(len(nearest.captions))[:, None]
        return of_image


def draw_retrieval(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """Draw an image in each line, with the three captions nearest to it in each row's model, right ones ticked."""
    lines: list[tuple[Gallery, int, dict[str, NearestCaptions]]] = []
    table: list[tuple[object, ...]] = []
    rows = list(paper.artifacts[name].rows)
    for dataset, evaluations in evaluations_of_one_seed(results, paper, name).items():
        gallery = read_gallery(results, evaluations[rows[0]])
        if gallery is None:
            continue
        nearest = {row: read_nearest_captions(results, evaluation, gallery) for row, evaluation in evaluations.items()}
        for image in select_images([gallery.right(captions)[:, 0] for captions in nearest.values()]):
            lines.append((gallery, image, nearest))
            table += _numbers(dataset, gallery, image, nearest)
    sheet.write(pd.DataFrame(table, columns=COLUMNS), lambda: draw_gallery(rows, lines).figure)


def evaluations_of_one_seed(results: Results, paper: Paper, name: str) -> dict[str, dict[str, Recipe]]:
    """Return the evaluations of all rows by data set, with the first seed that all rows have: if replicates have their
    own suites, these are then the same.
    """
    by_dataset: dict[str, dict[str, dict[int, Recipe]]] = {}
    for series in series_of(results, paper, name):
        of_seed = {int(evaluation.labels["seed"]): evaluation for evaluation in series.complete}
        by_dataset.setdefault(series.benchmark, {})[series.row] = of_seed
    evaluations = {}
    for dataset, of_rows in by_dataset.items():
        common = set.intersection(*(set(of_seed) for of_seed in of_rows.values()))
        if common and len(of_rows) == len(paper.artifacts[name].rows):
            evaluations[dataset] = {row: of_seed[min(common)] for row, of_seed in of_rows.items()}
    return evaluations


def read_gallery(results: Results, evaluation: Recipe) -> Gallery | None:
    """Return the pool of an evaluation; None if it was on other suites only."""
    if (found := suite_of(results, evaluation, POOL)) is None:
        return None
    pool = found[1].tasks[POOL]
    assert isinstance(pool, Pool)
    return Gallery(*found, pool)


def suite_of(results: Results, evaluation: Recipe, task: str) -> tuple[Path, Suite] | None:
    """Return the raw files and the suite of a sub-task, among those of an evaluation."""
    for _, data in collections(evaluation):
        path = results.folder(data) / SUITES / f"{task.partition('/')[0]}.json"
        if path.exists():
            return results.raw(data), Suite.read(path)
    return None


def collections(evaluation: Recipe) -> Iterator[tuple[str, Recipe]]:
    """Yield the collections of suites of an evaluation with their names."""
    for role, data in evaluation.needs.items():
        if role.startswith(NEEDED):
            yield role.removeprefix(NEEDED), data


def read_nearest_captions(results: Results, evaluation: Recipe, gallery: Gallery) -> NearestCaptions:
    """Return the captions nearest to the images of the pool, by the stored embeddings of an evaluation's model."""
    embeddings = read_embeddings(results, evaluation)
    for name, data in collections(evaluation):
        index = results.folder(data)
        if (index / SUITES / f"{POOL}.json").exists():
            suites = read_suites(index)
            image_row = {picture: row for row, picture in enumerate(pictures_of(suites))}
            text_row = {text: row for row, text in enumerate(texts_of(suites))}
            images = [image_row[gallery.suite.images[int(image)]] for image in gallery.pool.images]
            captions = [text_row[gallery.caption(place)] for place in range(len(gallery.pool.texts))]
            return nearest_captions(embeddings[f"{name}/images"][images], embeddings[f"{name}/texts"][captions])
    raise AssertionError(f"{evaluation.name} is of no {POOL}")


def nearest_captions(images: np.ndarray, captions: np.ndarray) -> NearestCaptions:
    """Return the captions [captions, E] with the largest cosines to each image [images, E], all of length 1; of equal
    ones the first.

    Example:
        >>> nearest_captions(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0], [1.0, 0.0]])).captions.tolist()
        [[1, 0]]
    """
    cosines = images @ captions.T
    ranked = np.argsort(-cosines, axis=1, kind="stable")[:, :NEAREST]
    return NearestCaptions(ranked, np.take_along_axis(cosines, ranked, axis=1))


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


def draw_gallery(rows: list[str], lines: list[tuple[Gallery, int, dict[str, NearestCaptions]]]) -> pages.Page:
    """Draw images at the left, and the captions of each row's model in its own column."""
    across = (pages.WIDTH - SIDE - 2 * GAP) / len(rows)
    columns = [SIDE + 2 * GAP + across * place for place in range(len(rows))]

    def line(gallery: Gallery, image: int, nearest: dict[str, NearestCaptions]) -> pages.DrawnLine:
        captions = [_caption_lines(gallery, image, nearest[row], pages.letters_in(across - GAP)) for row in rows]

        def draw(page: pages.Page, top: float) -> None:
            page.image(gallery.pixels(image), GAP, top, SIDE)
            for row, column, x in zip(rows, captions, columns, strict=True):
                below = top
                for caption, is_right in zip(column, gallery.right(nearest[row])[image], strict=True):
                    below = page.lines(caption, x, below, color=RIGHT if is_right else WRONG) + BETWEEN * pages.LINE

        heights = (pages.LINE * sum(len(caption) + BETWEEN for caption in column) for column in captions)
        return max(SIDE, *heights) + GAP, draw

    return pages.draw_page(rows, columns, [line(*each) for each in lines], GAP)


def _caption_lines(
    gallery: Gallery, image: int, nearest: NearestCaptions, letters: int
) -> list[list[list[pages.Word]]]:
    """Return the nearest captions of an image, each with its tick, in lines."""
    return [
        pages.wrap_text(f"{TICKS[bool(right)]} {gallery.caption(position)}", letters)
        for position, right in zip(nearest.captions[image], gallery.right(nearest)[image], strict=True)
    ]


def _numbers(
    dataset: str, gallery: Gallery, image: int, nearest: dict[str, NearestCaptions]
) -> Iterator[tuple[object, ...]]:
    """Yield the rows of the table of an image, for the file beside the figure."""
    for row, found in nearest.items():
        ranked = zip(found.captions[image], found.cosines[image], gallery.right(found)[image], strict=True)
        for rank, (position, cosine, right) in enumerate(ranked, start=1):
            yield dataset, gallery.path(image), row, rank, gallery.caption(position), cosine, right
