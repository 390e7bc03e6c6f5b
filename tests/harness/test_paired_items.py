"""Tests and bootstraps of paired items against sums over all outcomes, plain loops, and simulated studies."""

from math import comb, sqrt
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recompose.errors import ArgumentError
from recompose.harness import paired_items
from tests.errors import raises

few = st.integers(0, 40)


@given(few, few)
def test_mcnemar_is_the_share_of_tosses_that_are_as_uneven(only_first: int, only_second: int) -> None:
    tosses = only_first + only_second
    uneven = [count for count in range(tosses + 1) if abs(2 * count - tosses) >= abs(only_first - only_second)]
    assert paired_items.mcnemar(only_first, only_second) == pytest.approx(
        sum(comb(tosses, count) for count in uneven) / 2**tosses
    )
    assert paired_items.mcnemar(only_first, only_second) == paired_items.mcnemar(only_second, only_first)


def test_the_interval_of_two_accuracies_covers_the_true_difference() -> None:
    rng, shares, items = np.random.default_rng(0), (0.05, 0.12, 0.83), 150
    covered = 0
    for only_first, only_second, _ in rng.multinomial(items, shares, size=2_000).tolist():
        low, high = paired_items.accuracy_interval(only_first, only_second, items)
        covered += low <= 0.07 <= high
    assert 0.94 <= covered / 2_000 <= 0.97


def test_the_interval_has_width_where_the_models_agree_on_all_items() -> None:
    low, high = paired_items.accuracy_interval(0, 0, 100)
    assert -0.05 < low < 0 < high < 0.05
    assert paired_items.accuracy_interval(0, 1, 1) == (
        pytest.approx(1 / 3 - NormalDist().inv_cdf(0.975) * sqrt(5 / 27)),
        1.0,
    )


def chance_of_significance(discordant: int, share: float, level: float) -> float:
    """The probability that the second model's share of so many items is significantly above a half, summed."""
    significant = [count for count in range(discordant + 1) if 2 * count > discordant]
    return sum(
        comb(discordant, count) * share**count * (1 - share) ** (discordant - count)
        for count in significant
        if paired_items.mcnemar(discordant - count, count) <= level
    )


@pytest.mark.parametrize(("discordant", "level"), [(6, 0.05), (20, 0.05), (57, 0.01), (200, 0.05)])
def test_the_smallest_detectable_accuracy_has_the_power(discordant: int, level: float) -> None:
    detectable = paired_items.detectable_by_mcnemar(discordant, 1_000, level, power=0.8)
    assert detectable is not None
    share = (detectable * 1_000 / discordant + 1) / 2
    assert chance_of_significance(discordant, share, level) == pytest.approx(0.8)


def test_too_few_differing_items_detect_nothing() -> None:
    assert [paired_items.detectable_by_mcnemar(count, 100) is None for count in (0, 5, 6)] == [True, True, False]


@pytest.mark.slow
@settings(deadline=None, max_examples=20)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 2)), min_size=2, max_size=12), st.data())
def test_a_bootstrap_of_means_has_the_moments_of_one_that_draws_units(
    units: list[tuple[int, int]], data: st.DataObject
) -> None:
    sizes, classes = (np.array(values) for values in zip(*units, strict=True))
    differences = np.array([data.draw(st.integers(-size, size)) for size in sizes.tolist()])
    rng, plain = np.random.default_rng(1), []
    for _ in range(1_500):
        rows = rng.integers(0, len(units), len(units))
        of_class = [rows[classes[rows] == number] for number in set(classes[rows].tolist())]
        plain.append(np.mean([differences[drawn].sum() / sizes[drawn].sum() for drawn in of_class]))
    draws = paired_items.bootstrap_mean(differences, sizes, 6_000, np.random.default_rng(2), classes)
    error = 6 * (np.std(plain) + 0.01) / sqrt(1_500)
    assert draws.mean() == pytest.approx(np.mean(plain), abs=error)
    assert draws.std() == pytest.approx(np.std(plain), abs=2 * error)


def test_items_of_one_unit_count_as_one() -> None:
    """Ten copies of an item tell no more than one."""
    differences, rng = np.array([1, 0, -1, 1, 0, 1, 0, 0]), np.random.default_rng(3)
    alone = paired_items.bootstrap_mean(differences, np.ones(8, dtype=int), 20_000, rng)
    copied = paired_items.bootstrap_mean(10 * differences, np.full(8, 10), 20_000, rng)
    assert copied.std() == pytest.approx(alone.std(), rel=0.03)
    assert alone.std() == pytest.approx(differences.std() / sqrt(8), rel=0.03)  # the closed form


def test_one_unit_has_no_spread() -> None:
    with raises(ArgumentError, place="differences"):
        paired_items.bootstrap_mean(np.array([1]), np.array([4]), 10, np.random.default_rng(0))


def test_a_bootstrap_of_a_statistic_draws_again_where_it_is_undefined() -> None:
    values = np.array([0.0, 1.0, 5.0])

    def spread(rows: np.ndarray) -> float:
        if len({*rows.tolist()}) == 1:
            raise ArgumentError("rows", "are all the same")
        return float(values[rows].std())

    draws = paired_items.bootstrap(spread, 3, 500, np.random.default_rng(0))
    assert draws.shape == (500,) and draws.min() > 0

    def never(rows: np.ndarray) -> float:
        raise ArgumentError("rows", "are never right")

    with raises(ArgumentError, place="statistic"):
        paired_items.bootstrap(never, 3, 10, np.random.default_rng(0))


def test_a_p_and_its_interval_agree() -> None:
    rng = np.random.default_rng(4)
    for shift in (0.0, 1.5, 1.9, 2.1, 4.0):
        draws = rng.normal(shift, 1, 9_999)
        low, high = paired_items.percentile_interval(draws)
        assert (paired_items.bootstrap_p(draws, 100) < 0.05) == (not low <= 0 <= high)
    assert paired_items.bootstrap_p(np.zeros(99), 0) == 1.0
    assert paired_items.bootstrap_p(np.ones(99), 100) == 0.02


def test_few_units_have_no_smaller_p_than_tosses_of_a_coin() -> None:
    rng = np.random.default_rng(6)
    for units in (2, 3, 5, 6, 9):
        draws = paired_items.bootstrap_mean(np.full(units, 2), np.full(units, 3), 9_999, rng)
        assert paired_items.bootstrap_p(draws, units) == paired_items.mcnemar(0, units)


def test_the_smallest_detectable_difference_of_a_normal_estimate_has_the_power() -> None:
    rng = np.random.default_rng(5)
    estimates = paired_items.detectable_by_spread(rng.normal(0, 1, 100_000)) + rng.normal(0, 1, 100_000)
    assert (np.abs(estimates) > 1.959964).mean() == pytest.approx(0.8, abs=0.01)
