"""Holm's correction against his procedure, by hand, and as the closed test of Bonferroni's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recompose.claims.estimates import holm


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        ([], []),
        ([0.2], [0.2]),
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),
        ([0.01, 0.02, 0.03, 0.005], [0.03, 0.04, 0.04, 0.02]),
        ([0.0, 1.0, 0.5], [0.0, 1.0, 1.0]),
        ([0.04, 0.04], [0.08, 0.08]),
        ([0.6, 0.7], [1.0, 1.0]),
    ],
)
def test_holm_by_hand(p_values: list[float], adjusted: list[float]) -> None:
    assert holm(p_values) == pytest.approx(adjusted)


probabilities = st.lists(st.floats(0, 1), max_size=7)


def rejected(p_values: list[float], level: float) -> set[int]:
    """Holm's procedure as he wrote it: the smallest first, at the level over how many are left, until one stands."""
    out: set[int] = set()
    while len(out) < len(p_values):
        left = [place for place in range(len(p_values)) if place not in out]
        smallest = min(left, key=lambda place: p_values[place])
        if p_values[smallest] * len(left) > level:
            break
        out.add(smallest)
    return out


@given(probabilities, st.floats(0.001, 0.999))
def test_an_adjusted_p_is_below_a_level_where_holm_rejects_at_it(p_values: list[float], level: float) -> None:
    assert {place for place, p in enumerate(holm(p_values)) if p <= level} == rejected(p_values, level)
