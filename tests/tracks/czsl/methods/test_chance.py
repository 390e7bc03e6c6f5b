"""Chance."""

import numpy as np

from recompose.tracks.czsl.data.pairs import Pair
from recompose.tracks.czsl.methods.chance import Chance
from recompose.tracks.czsl.methods.settings import ChanceSettings

PAIRS = [("red", "circle"), ("red", "moon"), ("blue", "moon")]


def chance_scores(seed: int, rows: np.ndarray, pairs: list[Pair] = PAIRS) -> np.ndarray:
    return Chance(seed, ChanceSettings()).score(rows, pairs)


def test_the_seed_determines_the_scores() -> None:
    rows = np.arange(5)
    assert np.array_equal(chance_scores(1, rows), chance_scores(1, rows))
    assert not np.array_equal(chance_scores(1, rows), chance_scores(2, rows))


def test_blocks_are_independent() -> None:
    first, second = chance_scores(1, np.arange(4)), chance_scores(1, np.arange(4, 8))
    other = chance_scores(1, np.arange(4), PAIRS[1:])
    assert first.shape == (4, 3)
    assert not np.array_equal(first, second)
    assert not np.isin(other, first).any()


def test_every_pair_is_as_likely() -> None:
    wins = chance_scores(3, np.arange(30_000)).argmax(axis=1)
    assert np.allclose(np.bincount(wins) / 30_000, 1 / 3, atol=0.015)
