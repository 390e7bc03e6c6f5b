"""Maps of the attention of attributes to the regions of images."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from PIL import ImageOps

from recompose.data.pictures import open_rgb
from recompose.papers.declaration import Paper
from recompose.plan import Recipe
from recompose.tables.results import Results
from recompose.tables.rows import first_evaluations
from recompose.tables.style import Sheet
from recompose.tracks.gzsl.stored import read_classes, read_scores
from recompose.tracks.stored import read_embeddings

CELL = 1.25  # inches
IMAGES, ATTRIBUTES = 5, 4  # shown
COLUMNS = ["dataset", "image", "class", "hard", "uncertainty", "attribute", "strength", "score", "attention"]


def draw_attention(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """Draw a row for each of some test images, from the most to the least certain: the image, and the attention to its
    regions of the attributes that the visual grounding transformer scores highest.
    """
    chosen = [
        _frame(results, evaluation).assign(dataset=dataset)
        for dataset, rows in first_evaluations(results, paper, name).items()
        for evaluation in rows.values()
    ]
    points = pd.concat(chosen, ignore_index=True) if chosen else pd.DataFrame(columns=[*COLUMNS, "root"])
    sheet.write(points[COLUMNS], partial(_figure, points))


def _figure(points: pd.DataFrame) -> Figure:
    lines = list(points.groupby(["dataset", "image"], sort=False))
    size = (CELL * (1 + ATTRIBUTES), (CELL + 0.25) * max(1, len(lines)))
    figure, axes = plt.subplots(max(1, len(lines)), 1 + ATTRIBUTES, figsize=size, squeeze=False, layout="constrained")
    for line, (_, of_image) in zip(axes, lines, strict=False):
        _draw(line, of_image)
    return figure


def _frame(results: Results, evaluation: Recipe) -> pd.DataFrame:
    """Return a row for each shown attribute of each image."""
    recipe = evaluation.needs["data"]
    data, scores = read_classes(results, recipe), read_scores(results, evaluation)
    vectors = read_embeddings(results, evaluation)
    place = {row: position for position, row in enumerate(data.test_rows)}
    positions = np.array([place[row] for row in vectors["mapped"]], dtype=int)
    uncertainty = scores.uncertainties["fused"][positions]
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
            for attribute in np.argsort(-of_attributes, kind="stable")[:ATTRIBUTES]
        ]
    return pd.DataFrame(lines)


def _draw(line: Any, of_image: pd.DataFrame) -> None:
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
