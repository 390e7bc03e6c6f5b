"""Estimates against closed forms and Student's density integrated by hand; Holm's correction against his procedure."""

import math
from statistics import mean, stdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recompose.claims.estimates import ALPHA, holm, paired

QUANTILES = {1: 12.706, 2: 4.303, 4: 2.776}  # degrees of freedom -> 97.5 %, as printed in tables
PRINTED = 2e-4  # the relative rounding error of the printed quantiles


def tail(t: float, freedom: float, steps: int = 20000) -> float:
    """Return the probability of Student's t above a value, by Simpson's rule on its density."""
    if t < 0:
        return 1 - tail(-t, freedom)
    constant = math.gamma((freedom + 1) / 2) / math.sqrt(freedom * math.pi) / math.gamma(freedom / 2)

    def density(x: float) -> float:
        return constant * (1 + x * x / freedom) ** (-(freedom + 1) / 2)

    width = t / steps
    inner = sum((4 if k % 2 else 2) * density(k * width) for k in range(1, steps))
    return 0.5 - width / 3 * (density(0) + inner + density(t))


@pytest.mark.parametrize(
    ("differences", "value", "error"),
    [
        ([2.0, 5.0], 3.5, 1.5),  # stdev 3 / sqrt 2, over sqrt 2
        ([1.0, 2.0, 3.0], 2.0, 1 / math.sqrt(3)),
        ([-6.0, -5.0, -4.0], -5.0, 1 / math.sqrt(3)),
        ([1.0, 2.0, 3.0, 4.0, 5.0], 3.0, math.sqrt(2.5 / 5)),
    ],
)
def test_a_paired_interval_and_p_are_student_s(differences: list[float], value: float, error: float) -> None:
    estimate = paired(differences)
    low, high = estimate.interval()
    assert estimate.value == pytest.approx(value)
    reach = pytest.approx(QUANTILES[len(differences) - 1] * error, rel=PRINTED)
    assert (estimate.value - low, high - estimate.value) == (reach, reach)
    assert estimate.p_beyond(0) == pytest.approx(2 * tail(abs(value / error), len(differences) - 1))


def test_equal_differences_are_their_own_interval() -> None:
    constant = paired([1, 1, 1])
    assert (constant.interval(), constant.p_beyond(0), constant.freedom) == ((1, 1), 0, 2)
    assert (constant.p_within(2.0), constant.p_beyond(0.5), constant.p_within(1.0), constant.p_beyond(1.0)) == (
        *(0, 0),
        *(1, 1),  # on the edge
    )
    assert paired([0.3 - (0.1 + 0.2), (0.1 + 0.2) - 0.3]).p_beyond(0) == 1  # except for rounding


@pytest.mark.parametrize("margin", [0.2, 1.0, 1.9, 2.0, 5.0])
def test_margins_have_two_one_sided_tests(margin: float) -> None:
    differences = [1.0, 2.5, 2.0, 2.5]
    value, error, estimate = mean(differences), stdev(differences) / 2, paired(differences)
    inside = max(tail((value + margin) / error, 3), tail((margin - value) / error, 3))
    outside = min(tail((value - margin) / error, 3), tail((-margin - value) / error, 3))
    assert estimate.p_within(margin) == pytest.approx(min(1, 2 * inside))
    assert estimate.p_beyond(margin) == pytest.approx(min(1, 2 * outside))


values = st.lists(st.floats(-20, 20).map(lambda value: round(value, 3)), min_size=2, max_size=6)


@settings(deadline=None, max_examples=60)
@given(values, st.floats(0.1, 10))
def test_each_p_agrees_with_the_interval(differences: list[float], margin: float) -> None:
    estimate = paired(differences)
    low, high = estimate.interval()
    if min(abs(end - edge) for end in (low, high) for edge in (0, margin, -margin)) > 1e-6:
        assert (estimate.p_beyond(0) < ALPHA) == (low > 0 or high < 0)
        assert (estimate.p_within(margin) < ALPHA) == (-margin < low and high < margin)
        assert (estimate.p_beyond(margin) < ALPHA) == (low > margin or high < -margin)


# Holm's correction


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
