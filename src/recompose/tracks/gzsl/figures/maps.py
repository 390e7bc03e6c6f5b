"""Maps: images in the spaces of a method, in the plane."""

from functools import partial
from random import Random

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from recompose.papers.declaration import Paper
from recompose.plan import Recipe
from recompose.tables.plane import flatten, point_styles
from recompose.tables.results import Results
from recompose.tables.rows import first_evaluations
from recompose.tables.style import COLUMN_WIDTH, Sheet
from recompose.tracks.gzsl.data.classes import ClassData
from recompose.tracks.gzsl.stored import read_classes
from recompose.tracks.stored import read_embeddings

CLASSES = 10  # of seen, and of unseen ones, at random, as in CREST's Figure 9
PER_CLASS = 25  # images at most
SPACES = {"vgt": "(a) VGT", "agt": "(b) AGT", "fused": "(c) VGT and AGT"}
COLUMNS = ["dataset", "panel", "class", "seen", "x", "y"]


def draw_embeddings(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """Draw test images of ten seen and of ten unseen classes in the space of attributes, by each transformer and by
    both; a row of panels for each data set.
    """
    frames = [
        frame.assign(dataset=dataset)
        for dataset, rows in first_evaluations(results, paper, name).items()
        for evaluation in rows.values()
        for frame in _frames(results, evaluation)
    ]
    points = pd.concat(frames, ignore_index=True)[COLUMNS] if frames else pd.DataFrame(columns=COLUMNS)
    sheet.write(points, partial(_figure, points))


def _figure(points: pd.DataFrame) -> Figure:
    datasets = list(points["dataset"].unique())
    size = (COLUMN_WIDTH * 2.4, 2.8 * max(1, len(datasets)))
    figure, axes = plt.subplots(max(1, len(datasets)), len(SPACES), figsize=size, squeeze=False, layout="constrained")
    for line, dataset in zip(axes, datasets, strict=False):
        of_dataset = points[points["dataset"] == dataset]
        for axis, panel in zip(line, SPACES.values(), strict=True):
            _draw(axis, of_dataset[of_dataset["panel"] == panel])
            axis.set_title(f"{dataset} {panel}")
    marks = {"o": "image of a seen class", "^": "of an unseen class"}
    handles = [plt.Line2D([], [], marker=m, label=label, linestyle="", color="grey") for m, label in marks.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=7)
    return figure


def _frames(results: Results, evaluation: Recipe) -> list[pd.DataFrame]:
    data, vectors = read_classes(results, evaluation.needs["data"]), read_embeddings(results, evaluation)
    labels = data.labels[data.test_rows]
    images = np.concatenate([np.flatnonzero(labels == label)[:PER_CLASS] for label in _sample_classes(data)])
    names = {"class": [data.classes[label] for label in labels[images]], "seen": data.seen[labels[images]]}
    frames = []
    for space, panel in SPACES.items():
        flat = flatten(vectors[space][images])
        frames.append(pd.DataFrame({"panel": panel, **names, "x": flat[:, 0], "y": flat[:, 1]}))
    return frames


def _sample_classes(data: ClassData) -> list[int]:
    """Return so many seen and so many unseen classes, chosen at random but the same for all methods of a data set."""
    rng = Random("classes of a map")
    groups = (np.flatnonzero(data.seen).tolist(), np.flatnonzero(~data.seen).tolist())
    return [label for group in groups for label in sorted(rng.sample(group, min(CLASSES, len(group))))]


def _draw(axis: plt.Axes, points: pd.DataFrame) -> None:
    of_name = dict(zip(sorted(points["class"].unique()), point_styles(), strict=False))
    for seen, marker in ((True, "o"), (False, "^")):
        of_kind = points[points["seen"] == seen]
        faces, edges = ([of_name[name][side] for name in of_kind["class"]] for side in (0, 1))
        axis.scatter(of_kind["x"], of_kind["y"], s=9, marker=marker, facecolors=faces, edgecolors=edges, linewidths=0.5)
    axis.set(xticks=[], yticks=[])
