"""Chance: random scores, the floor of every table."""

from zlib import crc32

import numpy as np

from recompose.tracks.building import WithSettings
from recompose.tracks.czsl.data.pairs import Pair
from recompose.tracks.czsl.methods.settings import ChanceSettings


class Chance(WithSettings):
    """Uniform random scores, new ones for every block of images and pairs."""

    settings_class = ChanceSettings

    def __init__(self, seed: int, settings: ChanceSettings) -> None:
        self._seed = seed

    def score(self, rows: np.ndarray, pairs: list[Pair]) -> np.ndarray:
        """Return scores [images, pairs] of the images at these rows [images] of the data set."""
        block = crc32(repr(pairs[0]).encode())
        return np.random.default_rng([self._seed, block, int(rows[0])]).random((len(rows), len(pairs)))
