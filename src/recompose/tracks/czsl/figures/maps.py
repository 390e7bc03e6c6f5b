"""Maps: embeddings in the plane, by t-SNE (van der Maaten and Hinton, 2008)."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from recompose.backbones.arrays import StoredArray
from recompose.papers.declaration import Paper
from recompose.parts.plane import Mark, draw_legend, draw_map, flatten
from recompose.parts.results import Results, first_evaluations
from recompose.parts.style import COLUMN_WIDTH, Drawing, panels
from recompose.recipes.plan import Recipe
from recompose.tracks.czsl.data.pairs import Pair, PairData
from recompose.tracks.stored import read_embeddings

CLASSES = 300  # pairs whose prototypes are shown, as in Duplex's Figure 4
SHOWN = 20  # pairs whose images are shown, those with the most images, as in its Figure 10
MARKS = {
    "image": Mark("test image", "o", 6),
    "semantic": Mark("semantic prototype", "s", 30, "black"),
    "visual": Mark("visual prototype", "^", 34, "black"),
}


def read_embedded(
    results: Results, paper: Paper, name: str
) -> Iterator[tuple[str, Recipe, PairData, dict[str, np.ndarray]]]:
    """Yield each data set of a figure with the first evaluation on it, its pairs and the vectors that the evaluation
    saved.
    """
    for dataset, runs in first_evaluations(results, paper, name).items():
        run = next(iter(runs.values()))
        yield dataset, run, PairData.read(results.folder(run.needs["data"])), read_embeddings(results, run)


def draw_prototypes(results: Results, paper: Paper, name: str) -> Drawing:
    """Draw the prototypes of the first pairs, coloured by object: semantic ones, visual ones, and both together."""
    frames = []
    for dataset, _, data, embeddings in read_embedded(results, paper, name):
        semantic, visual = embeddings["semantic"][:CLASSES], embeddings["visual"][:CLASSES]
        panels = {"(a) semantic": semantic, "(b) visual": visual, "(c) both": np.hstack([semantic, visual])}
        names = [name for _, name in data.pairs[:CLASSES]]
        for panel, vectors in panels.items():
            frames.append(_frame(dataset, panel, flatten(vectors), names, data.pairs[:CLASSES], "visual"))
    return _draw(frames, {"visual": replace(MARKS["visual"], marker="o", size=14)})


def draw_samples(results: Results, paper: Paper, name: str) -> Drawing:
    """Draw test images of the pairs with the most images, and both prototypes of these pairs, on one map."""
    frames = []
    for dataset, _, data, embeddings in read_embedded(results, paper, name):
        images, labels, pairs_shown = _most_populous(data)
        positions = [data.pairs.index(pair) for pair in pairs_shown]
        parts = {
            "image": embeddings["images"][images],
            "semantic": embeddings["semantic"][positions],
            "visual": embeddings["visual"][positions],
        }
        points = iter(
            np.split(flatten(np.vstack(list(parts.values()))), np.cumsum([len(part) for part in parts.values()]))
        )
        for kind, pairs in (("image", labels), ("semantic", pairs_shown), ("visual", pairs_shown)):
            frames.append(_frame(dataset, dataset, next(points), [" ".join(pair) for pair in pairs], pairs, kind))
    return _draw(frames)


def draw_training(results: Results, paper: Paper, name: str) -> Drawing:
    """Draw test images of the pairs with the most images, with visual prototypes, before and after training.

    Before training, images are embedded by the frozen tower, and a prototype is the mean of a seen pair's training
    images.
    """
    frames = []
    for dataset, run, data, embeddings in read_embedded(results, paper, name):
        images, labels, pairs_shown = _most_populous(data)
        features = results.folder(run.needs["features"])  # of the frozen tower
        vectors = StoredArray(features / "embeddings.npy", dtype=np.float32)[:]
        frozen = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        means = _means(frozen[data.rows("train")], data, pairs_shown)
        before = frozen[data.rows("test")][images], np.array(list(means.values())), list(means)
        after = (
            embeddings["images"][images],
            embeddings["visual"][[data.pairs.index(pair) for pair in pairs_shown]],
            pairs_shown,
        )
        for panel, (samples, prototypes, pairs) in (("before training", before), ("after training", after)):
            points = flatten(np.vstack([samples, prototypes]))
            names = [[" ".join(pair) for pair in labelled] for labelled in (labels, pairs)]
            frames.append(_frame(dataset, panel, points[: len(samples)], names[0], labels, "image"))
            frames.append(_frame(dataset, panel, points[len(samples) :], names[1], pairs, "visual"))
    return _draw(frames, MARKS | {"visual": replace(MARKS["visual"], marker="*", size=60)})


def _most_populous(data: PairData) -> tuple[np.ndarray, list[Pair], list[Pair]]:
    """Return the positions among the test images of the pairs with the most images, the images' labels, and these
    pairs.
    """
    targets = data.targets("test", data.pairs)
    counts = np.bincount(targets, minlength=len(data.pairs))
    largest = np.argsort(-counts, kind="stable")[:SHOWN]
    images = np.flatnonzero(np.isin(targets, largest[counts[largest] > 0]))
    return (
        images,
        [data.pairs[target] for target in targets[images]],
        [data.pairs[pair] for pair in sorted(largest) if counts[pair]],
    )


def _means(train: np.ndarray, data: PairData, pairs: list[Pair]) -> dict[Pair, np.ndarray]:
    """Return the mean embedding of the training images of each of these pairs that training shows."""
    targets = data.targets("train", data.pairs)
    rows = {pair: train[targets == data.pairs.index(pair)] for pair in pairs}
    return {pair: embeddings.mean(axis=0) for pair, embeddings in rows.items() if len(embeddings)}


def _frame(
    dataset: str, panel: str, points: np.ndarray, colours: list[str], pairs: list[Pair], kind: str
) -> pd.DataFrame:
    states, objects = zip(*pairs, strict=True) if pairs else ((), ())
    columns = {"x": points[:, 0], "y": points[:, 1], "state": states, "object": objects, "colour": colours}
    return pd.DataFrame(columns).assign(dataset=dataset, panel=panel, kind=kind)


def _draw(frames: list[pd.DataFrame], marks: dict[str, Mark] = MARKS) -> Drawing:
    """Draw a row of panels for each data set."""
    columns = ["dataset", "panel", "kind", "state", "object", "x", "y"]
    points = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=[*columns, "colour"])
    return Drawing(points[columns], partial(_figure, points, marks))


def _figure(points: pd.DataFrame, marks: dict[str, Mark]) -> Figure:
    datasets = list(points["dataset"].unique())
    across = max([1, *points.groupby("dataset")["panel"].nunique()]) if len(points) else 1
    figure, axes = panels(len(datasets), across, COLUMN_WIDTH * max(1.1, across * 0.75), 2.8)
    for line, dataset in zip(axes, datasets, strict=False):
        of_dataset = points[points["dataset"] == dataset]
        for axis, panel in zip(line, of_dataset["panel"].unique(), strict=False):
            draw_map(axis, of_dataset[of_dataset["panel"] == panel], "colour", "kind", marks)
            axis.set_title(panel if panel == dataset else f"{dataset}, {panel}")
    shown = {kind: marks[kind] for kind in points["kind"].unique()}
    if len(shown) > 1:
        draw_legend(figure, shown, {"markersize": 4}, columnspacing=1, handletextpad=0.2)
    return figure
