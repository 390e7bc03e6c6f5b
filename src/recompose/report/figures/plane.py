"""Embeddings in the plane, by t-SNE (van der Maaten and Hinton, 2008)."""

from collections.abc import Iterator
from itertools import cycle
from typing import Any

import numpy as np
import seaborn as sns
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

PERPLEXITY = 30.0
STEPS = 500  # twice as many lower the divergence by a hundredth, and double the time of what draws a map, or audits it


def flatten(vectors: np.ndarray) -> np.ndarray:
    """Vectors [n, width] in the plane [n, 2], so that near ones, by their cosine, stay near; the same vectors give
    the same map.
    """
    perplexity = min(PERPLEXITY, (len(vectors) - 1) / 3)
    tsne = TSNE(perplexity=perplexity, metric="cosine", init="random", random_state=0, max_iter=STEPS)
    with threadpool_limits(1):  # sums in one order, on any number of cores
        flat: np.ndarray = tsne.fit_transform(vectors.astype(np.float64))
    return flat


def looks() -> Iterator[tuple[Any, Any]]:
    """Face and edge of points, category by category: colours that the colour-blind can tell apart, filled, then
    pale, then again.
    """
    palette = sns.color_palette("colorblind", 10)
    return cycle([*((colour, colour) for colour in palette), *(((*colour, 0.25), colour) for colour in palette)])
