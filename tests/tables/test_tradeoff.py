"""Curves of two accuracies, against a plain reading of the staircase."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt

from recompose.tables import tradeoff
from recompose.tables.style import Sheet, panels, styled
from recompose.tables.tradeoff import Tradeoff
from tests.tables.drawings import HOSTILE, texts

pytestmark = pytest.mark.usefixtures("closed")
ACCURACIES = Tradeoff("unseen", "seen", lambda results, evaluation: (np.zeros(1), np.ones(1)))


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=8))
def test_the_staircase_s_height_is_the_best_seen_accuracy_that_still_gives_the_unseen_one(
    steps: list[tuple[int, int]],
) -> None:
    """Unseen accuracy rises from point to point, seen accuracy falls."""
    unseen = np.cumsum([up for up, _ in steps]) / 200
    seen = np.cumsum([down for _, down in steps])[::-1] / 200
    points = tradeoff._sampled(ACCURACIES, unseen, seen)
    grid = np.linspace(0, unseen[-1], len(points))
    for value, height in zip(grid, points["seen"], strict=True):
        assert height == 100 * max(s for u, s in zip(unseen, seen, strict=True) if u >= value)


def test_a_staircase_falls_behind_its_points() -> None:
    points = tradeoff._sampled(ACCURACIES, np.array([0.0, 0.5, 1.0]), np.array([0.9, 0.6, 0.1]))
    at = points.set_index("unseen")["seen"]
    assert [at[place] for place in (0, 1, 50, 51, 100)] == [90, 60, 60, 10, 10]


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_curves_of_hostile_rows_and_data_sets_can_be_drawn(tmp_path: Path, name: str) -> None:
    rows = [
        {"dataset": name, "row": row, "seed": seed, "unseen": 10 * step, "seen": 50 - 9 * step - seed}
        for row in (name, "other")
        for seed in range(2)
        for step in range(4)
    ]
    with styled():
        figure, axes = panels(1, 1)
        try:
            tradeoff._draw_curves(axes[0, 0], pd.DataFrame(rows), name, ACCURACIES)
            Sheet(tmp_path / "f", name, []).write(pd.DataFrame(rows), lambda: figure)
        finally:
            plt.close(figure)
    assert texts(tmp_path / "f.svg").count(name) == 2
