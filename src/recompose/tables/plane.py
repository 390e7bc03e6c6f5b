"""Embeddings in the plane, by t-SNE (van der Maaten and Hinton, 2008)."""

from collections.abc import Iterator
from itertools import cycle
from typing import Any

import numpy as np
import seaborn as sns
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
