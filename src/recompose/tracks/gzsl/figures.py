"""The figures that only this track has: curves of seen over unseen accuracy, attributes, uncertainty during training,
maps of images in the spaces of a method, and the attention of attributes to regions.
"""

from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from PIL import ImageOps
from safetensors.numpy import load_file

from recompose.data.pictures import open_rgb
from recompose.papers.declaration import Paper
from recompose.parts import tradeoff
from recompose.parts.plane import Mark, draw_legend, draw_map, flatten
from recompose.parts.results import Results, first_evaluations, rows_of
from recompose.parts.style import COLUMN_WIDTH, Drawing, panels
from recompose.recipes.plan import Recipe
from recompose.tracks.building import SCORES
from recompose.tracks.gzsl.data.classes import ClassData
from recompose.tracks.gzsl.metrics import seen_unseen_curve
from recompose.tracks.gzsl.scores import CALIBRATION, UNCERTAINTY, ClassScores
from recompose.tracks.stored import read_embeddings

ATTRIBUTES = 40  # of the co-occurrence, the strongest over all classes
EPOCHS = 5  # of uncertainty, from the first to the last
CLASSES = 10  # of maps: of seen, and of unseen ones, at random, as in CREST's Figure 9
PER_CLASS = 25  # images at most
SPACES = {"vgt": "(a) VGT", "agt": "(b) AGT", "fused": "(c) VGT and AGT"}
MARKS = {True: Mark("image of a seen class", "o", 9), False: Mark("of an unseen class", "^", 9)}
OF_MAPS = ["dataset", "panel", "class", "seen", "x", "y"]
CELL = 1.25  # inches
IMAGES, LOOKING = 5, 4  # images and attributes whose attention is shown
OF_ATTENTION = ["dataset", "image", "class", "hard", "uncertainty", "attribute", "strength", "score", "attention"]


def read_scores(results: Results, evaluation: Recipe) -> ClassScores:
    """Return a method's scores of the test images."""
    results.file(evaluation, CALIBRATION)
    return ClassScores.read(results.file(evaluation, SCORES).parent)


def read_classes(results: Results, data: Recipe) -> ClassData:
    """Return the index of a data set."""
    return ClassData.read(results.folder(data))


# curves


def draw_seen_unseen(results: Results, paper: Paper, name: str) -> Drawing:
    """Draw seen over unseen accuracy, a panel for each data set."""
    return tradeoff.draw_curves(results, paper, name, _accuracies)


def mean_curves(results: Results) -> str:
    """Return the mean seen accuracy of each method at each unseen accuracy, in percent, as CSV."""
    return tradeoff.mean_curves(results, "gzsl", _accuracies)


def _accuracies(results: Results, evaluation: Recipe) -> tuple[np.ndarray, np.ndarray]:
    """Return unseen and seen accuracy on the test over all calibration biases."""
    data = read_classes(results, evaluation.needs["data"])
    curve = seen_unseen_curve(read_scores(results, evaluation).all, data.labels[data.test_rows], data.seen)
    return curve.unseen, curve.seen


# attributes


def draw_co_occurrence(results: Results, paper: Paper, name: str) -> Drawing:
    """Draw for each data set (a) the strength of each attribute in classes, the strongest first, and (b) the
    correlation over classes of any two attributes' strengths.
    """
    benchmarks = results.benchmarks(paper.track)
    frames = [_correlations(results, paper.track, benchmark) for benchmark in benchmarks]
    return Drawing(pd.concat(frames, ignore_index=True), partial(_co_occurrence, benchmarks, frames))


def _co_occurrence(benchmarks: list[str], frames: list[pd.DataFrame]) -> Figure:
    figure, axes = panels(len(frames), 2, 2.2 * COLUMN_WIDTH, 3.2)
    for (bar_axis, matrix_axis), benchmark, frame in zip(axes, benchmarks, frames, strict=True):
        _draw_co_occurrence(bar_axis, matrix_axis, frame)
        bar_axis.set_title(f"{benchmark} (a) mean strength")
        matrix_axis.set_title(f"{benchmark} (b) correlation over classes")
    return figure


def _correlations(results: Results, track: str, benchmark: str) -> pd.DataFrame:
    """Return a row for any two of the strongest attributes."""
    data = read_classes(results, results.data(track, benchmark))
    strengths = data.signatures.mean(axis=0)
    strongest = np.argsort(-strengths, kind="stable")[:ATTRIBUTES]
    together = correlations(data.signatures[:, strongest])
    names = [data.attributes[attribute] for attribute in strongest]
    return pd.DataFrame(
        {
            "dataset": benchmark,
            "attribute": np.repeat(names, len(names)),
            "other": np.tile(names, len(names)),
            "strength": np.repeat(strengths[strongest], len(names)),
            "correlation": together.ravel(),
        }
    )


def correlations(strengths: np.ndarray) -> np.ndarray:
    """Return the correlation [attributes, attributes] over classes of strengths [classes, attributes]; 0 for an
    attribute that is equally strong in every class.

    Example:
        >>> correlations(np.array([[1.0, 0.0, 5.0], [0.0, 1.0, 5.0]])).tolist()
        [[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    centred = strengths - strengths.mean(axis=0)
    norms = np.linalg.norm(centred, axis=0)
    unit = np.divide(centred, norms, out=np.zeros_like(centred), where=norms > 0)
    return (unit.T @ unit).round(12) + 0.0


def _draw_co_occurrence(bar_axis: plt.Axes, matrix_axis: plt.Axes, frame: pd.DataFrame) -> None:
    first = frame.drop_duplicates("attribute")
    bar_axis.barh(first["attribute"], first["strength"], height=0.7)
    bar_axis.invert_yaxis()
    bar_axis.tick_params(axis="y", labelsize=5)
    bar_axis.set_xlabel("mean strength in a class")
    order = list(first["attribute"])
    matrix = frame.pivot(index="attribute", columns="other", values="correlation").loc[order, order]
    sns.heatmap(matrix, ax=matrix_axis, vmin=-1, vmax=1, cmap="vlag", square=True, cbar_kws={"shrink": 0.7})
    matrix_axis.tick_params(labelsize=4)
    matrix_axis.set(xlabel="", ylabel="")
    sns.despine(ax=bar_axis)


# uncertainty during training


def draw_uncertainty(results: Results, paper: Paper, name: str) -> Drawing:
    """Draw the density of the fused uncertainty of images that training does not show, at some epochs, over all seeds;
    a panel for each data set.
    """
    frames = [
        _uncertainties(results, evaluation).assign(dataset=series.benchmark, seed=evaluation.labels["seed"])
        for series in rows_of(results, paper, name)
        for evaluation in series.complete
    ]
    columns = ["dataset", "seed", "epoch", "uncertainty"]
    points = pd.concat(frames, ignore_index=True)[columns] if frames else pd.DataFrame(columns=columns)
    return Drawing(points, partial(_densities, points))


def _densities(points: pd.DataFrame) -> Figure:
    datasets = list(points["dataset"].unique())
    figure, axes = panels(1, len(datasets))
    for axis, dataset in zip(axes[0], datasets, strict=False):
        of_dataset = points[points["dataset"] == dataset]
        colours = sns.color_palette("crest", of_dataset["epoch"].nunique())
        look = {"common_norm": False, "warn_singular": False, "linewidth": 1.2, "clip": (0, 1)}
        sns.kdeplot(of_dataset, x="uncertainty", hue="epoch", palette=colours, ax=axis, **look)
        axis.set(title=f"{dataset}, n = {of_dataset['seed'].nunique()}", xlabel="uncertainty", ylabel="density")
        sns.despine(ax=axis)
    return figure


def _uncertainties(results: Results, evaluation: Recipe) -> pd.DataFrame:
    """Return the uncertainty of each image at the epochs of the figure."""
    by_epoch = load_file(results.file(evaluation.needs["run"], UNCERTAINTY))["uncertainty"]  # [epochs, images]
    epochs = np.unique(np.linspace(0, len(by_epoch) - 1, EPOCHS).round().astype(int))
    return pd.DataFrame(
        {"epoch": np.repeat(epochs + 1, by_epoch.shape[1]), "uncertainty": by_epoch[epochs].astype(float).ravel()}
    )


# maps


def draw_embeddings(results: Results, paper: Paper, name: str) -> Drawing:
    """Draw test images of ten seen and of ten unseen classes in the space of attributes, by each transformer and by
    both; a row of panels for each data set.
    """
    frames = [
        frame.assign(dataset=dataset)
        for dataset, rows in first_evaluations(results, paper, name).items()
        for evaluation in rows.values()
        for frame in _flattened(results, evaluation)
    ]
    points = pd.concat(frames, ignore_index=True)[OF_MAPS] if frames else pd.DataFrame(columns=OF_MAPS)
    return Drawing(points, partial(_maps, points))


def _maps(points: pd.DataFrame) -> Figure:
    datasets = list(points["dataset"].unique())
    figure, axes = panels(len(datasets), len(SPACES), COLUMN_WIDTH * 2.4, 2.8)
    for line, dataset in zip(axes, datasets, strict=False):
        of_dataset = points[points["dataset"] == dataset]
        for axis, panel in zip(line, SPACES.values(), strict=True):
            draw_map(axis, of_dataset[of_dataset["panel"] == panel], "class", "seen", MARKS)
            axis.set_title(f"{dataset} {panel}")
    draw_legend(figure, MARKS, {})
    return figure


def _flattened(results: Results, evaluation: Recipe) -> list[pd.DataFrame]:
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


# attention


def draw_attention(results: Results, paper: Paper, name: str) -> Drawing:
    """Draw a row for each of some test images, from the most to the least certain: the image, and the attention to its
    regions of the attributes that the visual grounding transformer scores highest.
    """
    chosen = [
        _attended(results, evaluation).assign(dataset=dataset)
        for dataset, rows in first_evaluations(results, paper, name).items()
        for evaluation in rows.values()
    ]
    points = pd.concat(chosen, ignore_index=True) if chosen else pd.DataFrame(columns=[*OF_ATTENTION, "root"])
    return Drawing(points[OF_ATTENTION], partial(_attention, points))


def _attention(points: pd.DataFrame) -> Figure:
    lines = list(points.groupby(["dataset", "image"], sort=False))
    figure, axes = panels(len(lines), 1 + LOOKING, CELL * (1 + LOOKING), CELL + 0.25)
    for line, (_, of_image) in zip(axes, lines, strict=False):
        _draw_attention(line, of_image)
    return figure


def _attended(results: Results, evaluation: Recipe) -> pd.DataFrame:
    """Return a row for each shown attribute of each image."""
    recipe = evaluation.needs["data"]
    data, scores = read_classes(results, recipe), read_scores(results, evaluation)
    vectors = read_embeddings(results, evaluation)
    place = {row: position for position, row in enumerate(data.test_rows)}
    positions = np.array([place[row] for row in vectors["mapped"]], dtype=int)
    uncertainty = scores.arrays["uncertainties/fused"][positions]
    order = np.argsort(uncertainty, kind="stable")
    lines: list[dict[str, Any]] = []
    for image in order[np.linspace(0, len(order) - 1, min(IMAGES, len(order))).round().astype(int)]:
        row = vectors["mapped"][image]
        of_attributes = vectors["vgt"][positions[image]]
        lines += [
            {
                "image": data.paths[row],
                "class": data.classes[data.labels[row]],
                "hard": bool(data.hard[row]),
                "uncertainty": float(uncertainty[image]),
                "attribute": data.attributes[attribute],
                "strength": float(data.signatures[data.labels[row], attribute]),
                "score": float(of_attributes[attribute]),
                "attention": " ".join(f"{value:.4f}" for value in vectors["attention"][image, attribute]),
                "root": str(results.raw(recipe)),
            }
            for attribute in np.argsort(-of_attributes, kind="stable")[:LOOKING]
        ]
    return pd.DataFrame(lines)


def _draw_attention(line: Any, of_image: pd.DataFrame) -> None:
    first = of_image.iloc[0]
    picture = open_rgb(Path(first["root"]) / first["image"])
    seen = min(picture.size)  # the backbone sees the central square
    pixels = np.asarray(ImageOps.fit(picture, (seen, seen)))
    line[0].imshow(pixels, interpolation="nearest")
    hard = ", hard" if first["hard"] else ""
    line[0].set_title(f"{first['class']}{hard}\nu = {first['uncertainty']:.2f}", fontsize=5)
    for axis, (_, attribute) in zip(line[1:], of_image.iterrows(), strict=False):
        grid = np.array([float(value) for value in attribute["attention"].split()])
        side = round(len(grid) ** 0.5)
        axis.imshow(pixels, interpolation="nearest")
        whole = (-0.5, pixels.shape[1] - 0.5, pixels.shape[0] - 0.5, -0.5)
        axis.imshow(grid.reshape(side, side), extent=whole, cmap="inferno", alpha=0.55, interpolation="bilinear")
        axis.set_title(f"{attribute['attribute']}\n{attribute['score']:.2f}", fontsize=5)
    for axis in line:
        axis.axis("off")
