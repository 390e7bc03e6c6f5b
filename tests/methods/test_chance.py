"""Chance."""

import subprocess
import sys

import numpy as np

from recompose.methods.chance import Chance

PAIRS = [("red", "circle"), ("red", "moon"), ("blue", "moon")]


def test_the_seed_determines_the_scores() -> None:
    rows = np.arange(5)
    assert np.array_equal(Chance(1).scorer(PAIRS)(rows), Chance(1).scorer(PAIRS)(rows))
    assert not np.array_equal(Chance(1).scorer(PAIRS)(rows), Chance(2).scorer(PAIRS)(rows))


def test_blocks_are_drawn_independently() -> None:
    first, second = Chance(1).scorer(PAIRS)(np.arange(4)), Chance(1).scorer(PAIRS)(np.arange(4, 8))
    other = Chance(1).scorer(PAIRS[1:])(np.arange(4))
    assert first.shape == (4, 3)
    assert not np.array_equal(first, second)
    assert not np.isin(other, first).any()


def test_every_pair_is_as_likely() -> None:
    wins = Chance(3).scorer(PAIRS)(np.arange(30_000)).argmax(axis=1)
    assert np.allclose(np.bincount(wins) / 30_000, 1 / 3, atol=0.015)


def test_chance_and_its_evaluation_import_no_torch() -> None:
    code = "import sys, recompose.methods.chance, recompose.metrics.worlds; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
