"""Galleries: images of a data set, with the predictions of methods."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from recompose.data.pictures import open_rgb
from recompose.palette import RIGHT, WRONG
from recompose.papers.declaration import Paper
from recompose.parts.results import Results, first_evaluations
from recompose.parts.style import COLUMN_WIDTH, Drawing, panels
from recompose.tracks.building import SCORES
from recompose.tracks.czsl.data.pairs import Pair, PairData
from recompose.tracks.czsl.figures.maps import read_embedded
from recompose.tracks.czsl.metrics.worlds import PairScores

CELL, LINE = 1.15, 0.115  # inches: an image, a line of text below it
IN_A_LINE = 4  # images
PREDICTED = 3  # pairs shown of each prediction
PER_KIND = 4  # images shown without a comparison: of seen, and of unseen pairs
NEAREST = 4  # images shown of each retrieval
RETRIEVED = 3  # prototypes
SWAPS = 2
NEIGHBOURS = 5  # images shown of each swap


@dataclass(frozen=True)
class TestImages:
    """The test images of a data set: their files and their pairs, as indices in the closed world's."""

    root: Path
    data: PairData

    @cached_property
    def targets(self) -> np.ndarray:
        """The pairs of the images [images]."""
        return self.data.targets("test", self.data.pairs)

    def name(self, pair: int) -> str:
        """Return the words of a pair."""
        return " ".join(self.data.pairs[pair])

    def show(self, axis: plt.Axes, image: int) -> None:
        """Draw an image, without a frame.

        Raises:
            DataError: it is no readable image, or not on this disk.
        """
        axis.imshow(open_rgb(self.root / self.path(image)), interpolation="nearest")
        axis.axis("off")

    def path(self, image: int) -> str:
        """Return the path of a test image in the data set's folder."""
        return self.data.samples[int(self.data.rows("test")[image])].path


def draw_predictions(results: Results, paper: Paper, name: str) -> Drawing:
    """Draw test images with their labels and the pairs that each row predicts for them, the likeliest first.

    With two rows or more: the first images where the last row is right and the first row wrong, and the first image
    where all rows are wrong. With one row: the first images of seen and of unseen pairs, each of another pair.
    """
    panels: list[tuple[TestImages, int, dict[str, np.ndarray]]] = []
    for runs in first_evaluations(results, paper, name).values():
        recipe = next(iter(runs.values())).needs["data"]
        images = TestImages(results.raw(recipe), PairData.read(results.folder(recipe)))
        top = {row: PairScores.read(results.file(run, SCORES)).top for row, run in runs.items()}
        panels += [
            (images, image, {row: predictions[image] for row, predictions in top.items()})
            for image in _chosen(images, top)
        ]
    rows = [
        [images.path(image), images.name(images.targets[image]), row, rank, images.name(pair)]
        for images, image, predictions in panels
        for row, pairs in predictions.items()
        for rank, pair in enumerate(pairs[:PREDICTED], start=1)
    ]
    numbers = pd.DataFrame(rows, columns=["image", "label", "row", "rank", "predicted"])
    return Drawing(numbers, partial(_predictions, panels, len(paper.artifacts[name].rows)))


def _predictions(panels: Sequence[tuple[TestImages, int, dict[str, np.ndarray]]], rows: int) -> Figure:
    lines = PREDICTED if rows == 1 else (PREDICTED + 1) * rows
    across = max(1, min(len(panels), IN_A_LINE))
    size = (CELL * across, (CELL + LINE * (lines + 2)) * max(1, -(-len(panels) // across)))
    figure, axes = plt.subplots(-(-max(1, len(panels)) // across), across, figsize=size, squeeze=False)
    figure.subplots_adjust(left=0.02, right=0.98, top=1 - LINE * 1.5 / size[1], bottom=LINE * (lines + 0.5) / size[1])
    figure.subplots_adjust(wspace=0.12, hspace=LINE * (lines + 2) / CELL)
    for axis in axes.flat[len(panels) :]:
        axis.axis("off")
    for axis, (images, image, predictions) in zip(axes.flat, panels, strict=False):
        images.show(axis, image)
        axis.set_title(images.name(images.targets[image]), fontsize=7, pad=3)
        captions = _captions(images, image, predictions)
        for place, (text, look) in enumerate(captions, start=1):
            offset = (0, -72 * LINE * place)
            axis.annotate(text, (0.5, 0), offset, "axes fraction", "offset points", ha="center", fontsize=6, **look)
    return figure


def _captions(
    images: TestImages, image: int, predictions: dict[str, np.ndarray]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the lines of text below an image, with their format; of several rows their names, too."""
    for row, pairs in predictions.items():
        if len(predictions) > 1:
            yield row, {"weight": "bold"}
        for pair in pairs[:PREDICTED]:
            text, colour = _tick_text(images.name(pair), right=bool(pair == images.targets[image]))
            yield text, {"color": colour}


def _tick_text(text: str, *, right: bool) -> tuple[str, str]:
    return (f"\u2713 {text}", RIGHT) if right else (f"\u2717 {text}", WRONG)


def _chosen(images: TestImages, top: dict[str, np.ndarray]) -> list[int]:
    right = [predictions[:, 0] == images.targets for predictions in top.values()]
    if len(right) > 1:
        better, none = right[-1] & ~right[0], ~np.any(right, axis=0)
        return [*_one_image_per_pair(better, images, 2), *_one_image_per_pair(none, images, 1)]
    seen = images.data.is_seen(images.data.pairs)[images.targets]
    return [image for kind in (seen, ~seen) for image in _one_image_per_pair(kind, images, PER_KIND)]


def _one_image_per_pair(allowed: np.ndarray, images: TestImages, count: int) -> list[int]:
    """Return the first allowed images, each of another pair."""
    first: dict[int, int] = {}
    for image in np.flatnonzero(allowed):
        first.setdefault(int(images.targets[image]), int(image))
    return list(first.values())[:count]


def draw_retrieval(results: Results, paper: Paper, name: str) -> Drawing:
    """Draw the images nearest to the semantic prototype of a pair, at the left, and to its visual one, at the right.

    The pairs are those with the most test images. The numbers beside the figure have the precision for all pairs.
    """
    retrieved = [
        (
            TestImages(results.raw(run.needs["data"]), data),
            {kind: retrieve(embeddings[kind], embeddings["images"]) for kind in ("semantic", "visual")},
        )
        for _, run, data, embeddings in read_embedded(results, paper, name)
    ]
    rows = [row for images, nearest in retrieved for row in _precisions(images, nearest)]
    numbers = pd.DataFrame(rows, columns=["pair", "seen", "prototype", f"precision of {NEAREST}"])
    return Drawing(numbers, partial(_retrieval, retrieved))


def _retrieval(retrieved: Sequence[tuple[TestImages, dict[str, np.ndarray]]]) -> Figure:
    figure, axes = plt.subplots(
        max(1, RETRIEVED * len(retrieved)),
        2 * NEAREST,
        figsize=(2 * COLUMN_WIDTH, max(1, len(retrieved)) * RETRIEVED * 1.15),
        squeeze=False,
    )
    figure.subplots_adjust(left=0.01, right=0.99, top=0.9, bottom=0.01, hspace=0.55, wspace=0.1)
    for place, (images, nearest) in enumerate(retrieved):
        counts = np.bincount(images.targets, minlength=len(images.data.pairs))
        for line, pair in enumerate(np.argsort(-counts, kind="stable")[:RETRIEVED], start=place * RETRIEVED):
            for side, kind in enumerate(nearest):
                of_side = axes[line, side * NEAREST : (side + 1) * NEAREST]
                for axis, image in zip(of_side, nearest[kind][pair], strict=True):
                    images.show(axis, image)
                    _mark(axis, images.name(images.targets[image]), right=images.targets[image] == pair)
                heading = f"{kind}: {images.name(int(pair))}"
                of_side[0].annotate(heading, (0, 1), (0, 12), "axes fraction", "offset points", fontsize=7)
    return figure


def _mark(axis: plt.Axes, text: str, *, right: bool) -> None:
    text, colour = _tick_text(text, right=right)
    axis.set_title(text, fontsize=5.5, color=colour, pad=2)


def retrieve(prototypes: np.ndarray, images: np.ndarray) -> np.ndarray:
    """Return the images [prototypes, NEAREST] with the largest cosines, the nearest first; of equal ones the first."""
    return np.argsort(-(prototypes @ images.T), axis=1, kind="stable")[:, :NEAREST]


def _precisions(images: TestImages, nearest: dict[str, np.ndarray]) -> Iterator[list[object]]:
    """Yield the share of right images among the nearest ones, for each pair of test images."""
    seen = images.data.is_seen(images.data.pairs)
    for pair in np.unique(images.targets):
        for kind, retrieved in nearest.items():
            precision = (images.targets[retrieved[pair]] == pair).mean()
            yield [images.name(int(pair)), bool(seen[pair]), kind, precision]


def draw_swapping(results: Results, paper: Paper, name: str) -> Drawing:
    """Draw the test images nearest to features composed of one image's state and another image's object (Duplex, Eq.
    11).

    The sources are the first pairs of images that differ in both and whose composed pair has test images; the search
    leaves the two sources out.
    """
    swaps = [
        Swap(images, first, second, similarities(embeddings, first, second))
        for _, run, data, embeddings in read_embedded(results, paper, name)
        for images in [TestImages(results.raw(run.needs["data"]), data)]
        for first, second in _swaps(images)
    ]
    rows = [
        [
            swap.images.path(swap.first),
            swap.images.path(swap.second),
            " ".join(swap.composed),
            rank,
            " ".join(swap.images.data.pairs[swap.images.targets[image]]),
            swap.similar[image],
        ]
        for swap in swaps
        for rank, image in enumerate(swap.nearest, start=1)
    ]
    columns = ["state of", "object of", "composed", "rank", "retrieved", "similarity"]
    return Drawing(pd.DataFrame(rows, columns=columns), partial(_swapping, swaps))


@dataclass(frozen=True)
class Swap:
    """The state of one test image with the object of another, and the similarity of all test images [images] to it."""

    images: TestImages
    first: int
    second: int
    similar: np.ndarray

    @property
    def composed(self) -> Pair:
        """The composed pair."""
        pairs, targets = self.images.data.pairs, self.images.targets
        return pairs[targets[self.first]][0], pairs[targets[self.second]][1]

    @property
    def nearest(self) -> list[int]:
        """The most similar images, the nearest first."""
        return np.argsort(-self.similar, kind="stable")[:NEIGHBOURS].tolist()


def _swapping(swaps: Sequence[Swap]) -> Figure:
    figure, axes = panels(len(swaps), 2 + NEIGHBOURS, 2 * COLUMN_WIDTH, 1.25)
    for line, swap in zip(axes, swaps, strict=False):
        images = swap.images
        for axis, image, role in ((line[0], swap.first, "state of"), (line[1], swap.second, "object of")):
            images.show(axis, image)
            axis.set_title(f"{role}\n{images.name(images.targets[image])}", fontsize=6, pad=2)
        for axis, image in zip(line[2:], swap.nearest, strict=False):
            images.show(axis, image)
            label = images.data.pairs[images.targets[image]]
            _mark(axis, f"{' '.join(label)}\n{swap.similar[image]:.3f}", right=label == swap.composed)
    return figure


def similarities(embeddings: dict[str, np.ndarray], state: int, object_: int) -> np.ndarray:
    """Return the cosines [images] between the features composed of two test images and the images' own composed
    features; -1 for the two.
    """
    composed = np.maximum(embeddings["from_states"] + embeddings["from_objects"], 0)
    query = np.maximum(embeddings["from_states"][state] + embeddings["from_objects"][object_], 0)
    lengths = np.maximum(np.linalg.norm(composed, axis=1) * np.linalg.norm(query), np.finfo(float).tiny)
    cosines = composed @ query / lengths
    cosines[[state, object_]] = -1
    return cosines


def _swaps(images: TestImages) -> Iterator[tuple[int, int]]:
    """Yield the first pairs of images that differ in state and object, and whose composed pair has test images; each
    gives another pair.
    """
    labels = [images.data.pairs[target] for target in images.targets]
    unused = set(labels)
    sources = _one_image_per_pair(np.ones(len(labels), dtype=bool), images, len(images.data.pairs))
    swaps = 0
    for first in sources:
        for second in sources:
            composed = labels[first][0], labels[second][1]
            differ = labels[first][0] != labels[second][0] and labels[first][1] != labels[second][1]
            if differ and composed in unused and swaps < SWAPS:
                unused.remove(composed)
                swaps += 1
                yield first, second
