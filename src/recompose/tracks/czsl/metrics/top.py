"""The pairs with the highest scores of each image, for figures that show predictions."""

from typing import Any

import numpy as np

from recompose.tracks.arrays import to_host
from recompose.tracks.czsl.metrics.best import NONE


class Top:
    """A sink that gathers the top pairs of each image from blocks of images and pairs, in any order; among equal scores
    the pair with the lowest index comes first.

    Args:
        images: their number.
        candidates: [pairs] bool, pairs that may be predicted.
        count: the number of pairs of each image.

    Example:
        >>> top = Top(images=1, candidates=np.array([True, False, True]), count=2)
        >>> top.update(np.array([[0.1, 0.9, 0.4]]), images=np.array([0]), pairs=np.arange(3))
        >>> top.pairs.tolist()
        [[2, 0]]
    """

    def __init__(self, images: int, candidates: np.ndarray, count: int) -> None:
        self.pairs = np.full((images, count), NONE)
        self.scores = np.full((images, count), -np.inf)
        self._candidates = candidates

    def update(self, scores: Any, images: np.ndarray, pairs: np.ndarray) -> None:
        """Take scores [block's images, block's pairs]."""
        allowed = self._candidates[pairs]
        values = np.concatenate([self.scores[images], to_host(scores)[:, allowed].astype(np.float64)], axis=1)
        held = self.pairs[images]
        fresh = np.broadcast_to(pairs[allowed], (len(images), int(allowed.sum())))
        candidates = np.concatenate([held, fresh], axis=1)
        order = np.lexsort((candidates, -values), axis=1)[:, : held.shape[1]]
        self.pairs[images] = np.take_along_axis(candidates, order, axis=1)
        self.scores[images] = np.take_along_axis(values, order, axis=1)
