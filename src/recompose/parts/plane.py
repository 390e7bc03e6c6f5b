"""Embeddings in the plane, by t-SNE (van der Maaten and Hinton, 2008), and maps of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

PERPLEXITY = 30.0
STEPS = 500  # twice as many lower the divergence by 1 %, and double the time to draw or audit a map


def flatten(vectors: np.ndarray) -> np.ndarray:
    """Project vectors [n, width] onto the plane [n, 2] by t-SNE with cosine distances.

    The same vectors give the same map.
    """
    perplexity = min(PERPLEXITY, (len(vectors) - 1) / 3)
    tsne = TSNE(perplexity=perplexity, metric="cosine", init="random", random_state=0, max_iter=STEPS)
    with threadpool_limits(1):  # sums in one order for any number of cores
        flat: np.ndarray = tsne.fit_transform(vectors.astype(np.float64))
    return flat


def point_styles() -> Iterator[tuple[Any, Any]]:
    """Cycle through faces and edges of points, one for each category: colour-blind safe colours, filled, then pale."""
    palette = sns.color_palette("colorblind", 10)
    return cycle([*((colour, colour) for colour in palette), *(((*colour, 0.25), colour) for colour in palette)])


@dataclass(frozen=True)
class Mark:
    """The mark of the points of a kind, and its name in a legend."""

    label: str
    marker: str
    size: int
    edge: str | None = None  # None: that of the point's colour; hollow points need it


def draw_map(axis: plt.Axes, points: pd.DataFrame, colour: str, kind: str, marks: Mapping[Any, Mark]) -> None:
    """Draw points at their ``x`` and ``y``, in a colour for each value of a column, with a mark for each of another."""
    of_name = dict(zip(sorted(points[colour].unique()), point_styles(), strict=False))
    for value, mark in marks.items():
        of_kind = points[points[kind] == value]
        if len(of_kind):
            faces, edges = zip(*(of_name[name] for name in of_kind[colour]), strict=True)
            look: Any = {"s": mark.size, "marker": mark.marker, "facecolors": faces, "linewidths": 0.5}
            axis.scatter(of_kind["x"], of_kind["y"], edgecolors=mark.edge or edges, **look)
    axis.set(xticks=[], yticks=[])


def draw_legend(figure: Figure, marks: Mapping[Any, Mark], look: Mapping[str, Any], **place: Any) -> None:
    """Draw a legend of marks below a figure, with handles of a look."""
    handles = [
        plt.Line2D([], [], marker=mark.marker, label=mark.label, linestyle="", color="grey", **look)
        for mark in marks.values()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=7, **place)
