"""Chance: random scores, the floor of every table."""

from collections.abc import Callable, Iterator
from zlib import crc32

import numpy as np

from recompose.tracks.czsl.data.pairs import Pair
from recompose.tracks.czsl.methods.settings import ChanceSettings


class Chance:
    """Uniform random scores, new ones for every block of images and pairs."""

    settings_class = ChanceSettings

    def __init__(self, seed: int, settings: ChanceSettings) -> None:
        self._seed = seed

    def scorer(self, blocks: list[list[Pair]], world: str) -> Callable[[np.ndarray], Iterator[np.ndarray]]:
        """Return a function from the rows of images [images] to scores [images, pairs] of each block."""
        return lambda rows: (self._draw(rows, block) for block in blocks)

    def _draw(self, rows: np.ndarray, pairs: list[Pair]) -> np.ndarray:
        block = crc32(repr(pairs[0]).encode())
        return np.random.default_rng([self._seed, block, int(rows[0])]).random((len(rows), len(pairs)))
