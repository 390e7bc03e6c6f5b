"""Curves of two accuracies, against a plain reading of the staircase."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recompose.parts import tradeoff

pytestmark = pytest.mark.usefixtures("closed")


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=8))
def test_a_height_is_the_best_seen_accuracy_that_still_gives_the_unseen_one(steps: list[tuple[int, int]]) -> None:
    """Unseen accuracy rises from point to point, seen accuracy falls."""
    unseen = np.cumsum([up for up, _ in steps]) / 200
    seen = np.cumsum([down for _, down in steps])[::-1] / 200
    points = tradeoff._sampled(unseen, seen)
    grid = np.linspace(0, unseen[-1], 101)
    for value, at, height in zip(grid, points["unseen"], points["seen"], strict=True):
        assert at == 100 * value
        assert height == 100 * max(s for u, s in zip(unseen, seen, strict=True) if u >= value)
