"""Tests of differences against closed forms, Student's density integrated by hand, plain loops, and simulations."""

import math
from statistics import mean, stdev, variance
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recompose.errors import ArgumentError
from recompose.report.inference import ALPHA, MeanWithInterval, holm, paired, welch
from tests.errors import raises

QUANTILES = {1: 12.706, 2: 4.303, 4: 2.776}  # degrees of freedom -> 97.5 %, as printed in tables
PRINTED = 2e-4  # what their rounding leaves open, relatively


def tail(t: float, freedom: float, steps: int = 20000) -> float:
    """The probability of Student's t above a value of zero or more, by Simpson's rule on its density."""
    constant = math.gamma((freedom + 1) / 2) / math.sqrt(freedom * math.pi) / math.gamma(freedom / 2)

    def density(x: float) -> float:
        return constant * (1 + x * x / freedom) ** (-(freedom + 1) / 2)

    width = t / steps
    inner = sum((4 if k % 2 else 2) * density(k * width) for k in range(1, steps))
    return 0.5 - width / 3 * (density(0) + inner + density(t))


def above(t: float, freedom: float) -> float:
    """The probability of Student's t above any value."""
    return tail(t, freedom) if t >= 0 else 1 - tail(-t, freedom)


def near(value: float) -> Any:
    return pytest.approx(value, rel=PRINTED)


def numbers(found: MeanWithInterval) -> tuple[float, ...]:
    return found.value, found.low, found.high, found.p


# paired


@pytest.mark.parametrize(
    ("each", "value", "error"),
    [
        ([2.0, 5.0], 3.5, 1.5),  # stdev 3 / sqrt 2, over sqrt 2
        ([1.0, 2.0, 3.0], 2.0, 1 / math.sqrt(3)),
        ([-6.0, -5.0, -4.0], -5.0, 1 / math.sqrt(3)),
        ([1.0, 2.0, 3.0, 4.0, 5.0], 3.0, math.sqrt(2.5 / 5)),
    ],
)
def test_a_paired_interval_is_student_s_and_what_both_sides_share_does_not_count(
    each: list[float], value: float, error: float
) -> None:
    shared = [10.0, -300.0, 40.0, 7.0, 0.5][: len(each)]
    found = paired([low + more for low, more in zip(shared, each, strict=True)], shared)
    assert found.value == pytest.approx(value)
    assert (found.value - found.low, found.high - found.value) == (near(QUANTILES[len(each) - 1] * error),) * 2
    assert found.p == pytest.approx(2 * tail(abs(value / error), len(each) - 1), abs=1e-7)


def test_a_side_that_is_constant_gives_the_one_sample_test() -> None:
    from scipy.stats import ttest_1samp

    values = [23.1, 24.9, 22.0, 23.3]
    expected = ttest_1samp(values, 21.0)
    found = paired(values, [21.0] * 4)
    assert found.p == pytest.approx(expected.pvalue)
    assert (found.low + 21, found.high + 21) == pytest.approx(tuple(expected.confidence_interval(0.95)))


def test_where_every_seed_gives_the_same_difference_that_is_the_interval() -> None:
    assert numbers(paired([1, 100, 50], [0, 99, 49])) == (1, 1, 1, 0)
    assert numbers(paired([0.3, 0.1 + 0.2], [0.1 + 0.2, 0.3])) == (0, 0, 0, 1)  # but for rounding
    assert numbers(paired([1, 2], [0, 1], margin=2.0)) == (1, 1, 1, 0)
    assert numbers(paired([1, 2], [0, 1], margin=1.0)) == (1, 1, 1, 1)  # on the edge
    assert numbers(welch([3, 3], [1, 1, 1])) == (2, 2, 2, 0)
    assert numbers(welch([3, 3], [3, 3, 3])) == (0, 0, 0, 1)


@pytest.mark.parametrize("test", [paired, welch])
def test_one_value_is_no_test(test: Any) -> None:
    with raises(ArgumentError, place="first"):
        test([1.0], [2.0])


# Welch


@pytest.mark.parametrize(
    ("first", "second"),
    [([10.0, 14.0], [1.0, 2.0, 4.0]), ([5.0, 5.5, 7.0, 6.0], [5.1, 5.0]), ([3.0, 3.0], [1.0, 2.0, 6.0])],
)
def test_welch_s_test_has_the_error_and_the_degrees_of_freedom_of_its_formula(
    first: list[float], second: list[float]
) -> None:
    parts = variance(first) / len(first), variance(second) / len(second)
    error = math.sqrt(sum(parts))
    freedom = sum(parts) ** 2 / sum(
        part**2 / (len(side) - 1) for part, side in zip(parts, (first, second), strict=True)
    )
    found = welch(first, second)
    assert found.value == pytest.approx(mean(first) - mean(second))
    assert found.p == pytest.approx(2 * tail(abs(found.value) / error, freedom), abs=1e-7)
    assert (found.high - found.value) == pytest.approx(found.value - found.low)
    assert tail((found.high - found.value) / error, freedom) == pytest.approx(0.025, abs=1e-7)


# equivalence


@pytest.mark.parametrize("margin", [0.2, 1.0, 1.9, 2.0, 5.0])
def test_equivalence_is_two_one_sided_tests(margin: float) -> None:
    each = [1.0, 2.5, 2.0, 2.5]
    value, error = mean(each), stdev(each) / 2
    inside = max(above((value + margin) / error, 3), above((margin - value) / error, 3))
    outside = min(above((value - margin) / error, 3), above((-margin - value) / error, 3))
    found = paired([10 + one for one in each], [10.0] * 4, margin)
    assert found.p == pytest.approx(min(1, 2 * min(inside, outside)), abs=1e-6)


values = st.lists(st.floats(-20, 20).map(lambda value: round(value, 3)), min_size=2, max_size=6)


@settings(deadline=None, max_examples=60)
@given(values, st.floats(0.1, 10))
def test_p_says_what_the_interval_says(each: list[float], margin: float) -> None:
    """Of a difference whether zero is in it; of equivalence whether it lies within the margin, or wholly outside."""
    plain, equivalent = paired(each, [0.0] * len(each)), paired(each, [0.0] * len(each), margin)
    assert numbers(plain)[:3] == numbers(equivalent)[:3]
    assert plain.low <= plain.value + 1e-9 and plain.value <= plain.high + 1e-9
    ends = [abs(end - edge) for end in (plain.low, plain.high) for edge in (0, margin, -margin)]
    if min(ends) > 1e-6:
        assert (plain.p < ALPHA) == (plain.low > 0 or plain.high < 0)
        within = -margin < plain.low and plain.high < margin
        outside = plain.low > margin or plain.high < -margin
        assert (equivalent.p < ALPHA) == (within or outside)


@settings(deadline=None, max_examples=30)
@given(values, values)
def test_an_interval_turns_with_the_sides(first: list[float], second: list[float]) -> None:
    found, turned = welch(first, second), welch(second, first)
    assert numbers(turned) == pytest.approx((-found.value, -found.high, -found.low, found.p), abs=1e-9)


def test_intervals_hold_the_truth_as_often_as_they_say_and_equivalence_errs_no_more_often() -> None:
    """2,000 draws of five seeds: 95 % has a standard error of half a percent."""
    rng = np.random.default_rng(0)
    draws, truth = 2000, 1.0
    worlds = rng.normal(0, 5, (draws, 5))
    sides = worlds + truth + rng.normal(0, 1, (draws, 5)), worlds + rng.normal(0, 2, (draws, 5))
    found = [paired(first, second) for first, second in zip(*(side.tolist() for side in sides), strict=True)]
    assert 0.935 < mean(each.low <= truth <= each.high for each in found) < 0.965
    apart = [
        welch((first + 1).tolist(), second.tolist())
        for first, second in zip(rng.normal(0, 1, (draws, 5)), rng.normal(0, 3, (draws, 4)), strict=True)
    ]
    assert 0.93 < mean(each.low <= truth <= each.high for each in apart) < 0.975
    # a difference just at the margin: to say that it is within is wrong in 2.5 %
    edge = [paired(first.tolist(), [0.0] * 5, truth) for first in rng.normal(truth, 0.3, (draws, 5))]
    assert mean(each.p < ALPHA and abs(each.value) < truth for each in edge) < 0.035


# Holm


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
def test_an_adjusted_p_is_below_a_level_where_holm_s_procedure_rejects_at_it(
    p_values: list[float], level: float
) -> None:
    assert {place for place, p in enumerate(holm(p_values)) if p <= level} == rejected(p_values, level)


@given(probabilities)
def test_holm_is_the_closed_test_of_bonferroni_s(p_values: list[float]) -> None:
    """Of each p the largest that Bonferroni gives any set of hypotheses with it in."""
    from itertools import combinations

    for place, adjusted in enumerate(holm(p_values)):
        sets = (
            chosen
            for size in range(1, len(p_values) + 1)
            for chosen in combinations(range(len(p_values)), size)
            if place in chosen
        )
        expected = max(min(1.0, len(chosen) * min(p_values[each] for each in chosen)) for chosen in sets)
        assert adjusted == pytest.approx(expected)
