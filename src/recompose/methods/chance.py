"""Chance: scores drawn at random, the floor of every table."""

from collections.abc import Callable
from zlib import crc32

import numpy as np

from recompose.data.pairs import Pair


class Chance:
    """Uniform scores, drawn anew for every block of images and pairs."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def scorer(self, pairs: list[Pair]) -> Callable[[np.ndarray], np.ndarray]:
        """A function from the rows of images [images] to scores [images, pairs]."""
        block = crc32(repr(pairs[0]).encode())
        return lambda rows: np.random.default_rng([self._seed, block, int(rows[0])]).random((len(rows), len(pairs)))
