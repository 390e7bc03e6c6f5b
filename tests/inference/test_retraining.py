"""The judgement of numbers that were computed again: rates of errors on simulated retrainings."""

from math import inf, sqrt

import numpy as np
import pytest

from recompose.inference.retraining import (
    DIFFERENT,
    IDENTICAL,
    LAST_DIGITS,
    WITHIN,
    WORDS,
    RetrainingSpread,
    Variance,
    classify,
    is_within,
    moderate,
    quantile,
)

METHODS = [f"method-{number}" for number in range(8)]


def simulated(seed: int, studies: int, seeds: int, shift: float, replicates: int = 2) -> float:
    """Return the share of numbers outside of retraining, of studies whose methods differ in their variance.

    Args:
        seed: of the simulation.
        studies: the number of metrics, with eight methods each.
        seeds: the retrainings of the one replicate that measures the spread.
        shift: what a change moves, in standard deviations of a training.
        replicates: of the numbers that are compared.
    """
    draw = np.random.default_rng(seed)
    outside = 0
    for _ in range(studies):
        sigmas = np.exp(draw.normal(0, 0.7, len(METHODS)))
        trainings = {name: draw.normal(0, sigma, seeds + 1) for name, sigma in zip(METHODS, sigmas, strict=True)}
        samples = {name: Variance.of([list(values)]) for name, values in trainings.items()}
        spreads = moderate({name: sample for name, sample in samples.items() if sample}, 1e-6)
        for name, sigma in zip(METHODS, sigmas, strict=True):
            then = 50 + draw.normal(0, sigma, replicates)
            now = 50 + draw.normal(0, sigma, replicates) + shift * sigma
            outside += classify(list(then), list(now), spreads[name]) == DIFFERENT
    return outside / (studies * len(METHODS))


@pytest.mark.slow
def test_a_retraining_is_called_different_in_at_most_one_of_a_thousand_numbers() -> None:
    assert simulated(1, 1250, seeds=4, shift=0.0) <= 0.001


def test_a_large_change_is_found_and_a_small_one_needs_replicates() -> None:
    assert simulated(2, 60, seeds=4, shift=20.0) > 0.9
    assert simulated(3, 60, seeds=4, shift=3.0, replicates=2) < simulated(3, 60, seeds=4, shift=3.0, replicates=20)


@pytest.mark.slow
def test_known_spreads_give_the_two_halves_of_the_error() -> None:
    """With a known variance, the error is that of the two tests, which share a part of it."""
    draw = np.random.default_rng(4)
    level, trials = 0.1, 20_000
    differences = draw.normal(0, sqrt(2), (trials, 3))
    outside = sum(not is_within([0.0] * 3, list(row), RetrainingSpread(1.0, inf), level) for row in differences)
    assert 0.6 * level < outside / trials < level + 0.01
    single = sum(not is_within([0.0], [row[0]], RetrainingSpread(1.0, inf), level) for row in differences)
    assert single / trials == pytest.approx(level, abs=0.01)


def test_one_replicate_far_off_is_not_hidden_by_the_mean() -> None:
    assert classify([0.0] * 4, [9.0, -9.0, 9.0, -9.0], RetrainingSpread(1.0, inf)) == DIFFERENT
    assert classify([0.0] * 4, [1.0, -1.0, 1.0, -1.0], RetrainingSpread(1.0, inf)) == WITHIN


@pytest.mark.parametrize(
    ("then", "now", "word"),
    [
        ([1.0, 2.0], [1.0, 2.0], IDENTICAL),
        ([60.2747, 2.0], [60.2735, 2.0], LAST_DIGITS),
        ([0.0], [1e-9], LAST_DIGITS),
        ([1.0], [1.1], DIFFERENT),
        ([1.0], [1.0, 1.0], DIFFERENT),
        ([], [1.0], DIFFERENT),
    ],
)
def test_without_a_spread_only_last_digits_are_forgiven(then: list[float], now: list[float], word: str) -> None:
    assert classify(then, now) == word
    assert word in WORDS


def test_a_cost_is_a_cost_unless_it_is_identical() -> None:
    assert classify([1.0], [2.0], is_cost=True) == WORDS[-1]
    assert classify([1.0], [1.0], is_cost=True) == IDENTICAL


def test_the_variance_within_replicates_leaves_out_what_lies_between_them() -> None:
    replicates = [[1.0, 2.0, 4.0], [101.0, 103.0], [7.0]]
    means = [sum(values) / len(values) for values in replicates]
    squares = sum((value - mean) ** 2 for values, mean in zip(replicates, means, strict=True) for value in values)
    assert Variance.of(replicates) == Variance(pytest.approx(squares / 3), 3)
    assert Variance.of([[1.0], [2.0]]) is None


def test_moderation_recovers_the_distribution_of_variances() -> None:
    """Of variances drawn from a scaled inverse chi-square with 6 degrees of freedom, the prior is found again."""
    draw = np.random.default_rng(5)
    count, prior_freedom, scale, freedom = 4000, 6, 2.0, 3
    variances = scale * prior_freedom / draw.chisquare(prior_freedom, count)
    samples = variances * draw.chisquare(freedom, count) / freedom
    spreads = moderate({str(n): Variance(float(value), freedom) for n, value in enumerate(samples)}, 1e-9)
    first = spreads["0"]
    assert first.freedom - freedom == pytest.approx(prior_freedom, rel=0.2)
    assert first.variance == pytest.approx((prior_freedom * scale + freedom * samples[0]) / (9), rel=0.15)


def test_a_method_that_did_not_move_has_the_spread_of_half_a_step_and_of_the_others() -> None:
    spreads = moderate({"still": Variance(0.0, 2), "moving": Variance(1.0, 2)}, step=0.5)
    assert 0 < spreads["still"].variance < spreads["moving"].variance
    assert moderate({"still": Variance(0.0, 2)}, step=0.0) == {}
    alone = moderate({"alone": Variance(4.0, 2)}, step=0.5)["alone"]
    assert (alone.variance, alone.freedom) == (pytest.approx(4.0), pytest.approx(2.0))


def test_a_difference_of_two_methods_has_both_spreads() -> None:
    total = RetrainingSpread(1.0, 4) + RetrainingSpread(3.0, 6)
    assert total.variance == 4.0
    assert total.freedom == pytest.approx(16 / (1 / 4 + 9 / 6))
    assert (RetrainingSpread(1.0, inf) + RetrainingSpread(1.0, inf)).freedom == inf
    assert RetrainingSpread(4.0, 3).of_mean(2) == RetrainingSpread(2.0, 3)
    assert quantile(3, 0.01) > quantile(inf, 0.01)
