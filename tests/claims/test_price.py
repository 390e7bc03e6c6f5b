"""Probabilities of a decision against simulated samples, and sample sizes against them."""

import numpy as np
import pytest
from scipy.stats import t

from recompose.claims import price
from recompose.claims.price import MOST, Question, decision_probability, replicates_needed, spread_range

DRAWS = 20_000


def simulated(question: Question, difference: float, replicates: int) -> float:
    """Return the share of normal samples whose interval excludes zero, or lies within (or beyond) the margin."""
    samples = np.random.default_rng(0).normal(difference, question.spread, (DRAWS, replicates))
    means, errors = samples.mean(1), samples.std(1, ddof=1) / np.sqrt(replicates)
    beyond = np.abs(means) - t.ppf(1 - question.level / 2, replicates - 1) * errors
    within = np.abs(means) + t.ppf(1 - question.margin_level / 2, replicates - 1) * errors
    return float(((beyond > (question.margin if question.is_kept else 0)) | (within < question.margin)).mean())


@pytest.mark.parametrize(
    ("question", "difference", "replicates"),
    [
        (Question(1, 0.5), 0.3, 20),
        (Question(1, 0.5), 0.5, 3),
        (Question(1, 0.8), 0.2, 60),  # either verdict, and both at once
        (Question(1, 0.5, 0.005, 0.005), 1.2, 8),
        (Question(1, 1.0, is_kept=True), 0.1, 12),
        (Question(2, 1, 0.01, 0.02, is_kept=True), 3, 12),
    ],
)
def test_a_probability_is_the_share_of_deciding_samples(question: Question, difference: float, replicates: int) -> None:
    expected = simulated(question, difference, replicates)
    assert decision_probability(question, difference, replicates) == pytest.approx(expected, abs=0.012)


@pytest.mark.parametrize("difference", [0.0, 0.2, 1.0])
def test_the_replicates_needed_are_the_fewest_with_that_probability(difference: float) -> None:
    question = Question(spread=1.0, margin=0.7, level=0.01, margin_level=0.01)
    needed = replicates_needed(question, difference)
    assert needed is not None
    before, after = (decision_probability(question, difference, count) for count in (needed - 1, needed))
    assert before < 0.8 <= after


def test_no_spread_is_so_small_that_two_replicates_decide() -> None:
    question = Question(spread=1e-9, margin=0.7)
    assert decision_probability(question, 1.0, 2) == 1
    assert replicates_needed(question, 1.0) == 3


def test_what_would_take_too_many_replicates_has_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    question = Question(spread=1.0, margin=0.1)
    needed = replicates_needed(question, 1.0)
    assert needed
    for most, expected in ((needed, needed), (needed - 1, None)):
        monkeypatch.setattr(price, "MOST", most)
        assert replicates_needed(question, 1.0) == expected
    monkeypatch.undo()
    assert replicates_needed(Question(spread=100.0, margin=0.1), 0.0) is None
    assert decision_probability(Question(spread=100.0, margin=0.1), 0.0, MOST) < 0.8


@pytest.mark.parametrize("replicates", [2, 3, 4])
def test_the_range_of_a_spread_has_the_true_one_in_80_of_100_pilots(replicates: int) -> None:
    spreads = np.random.default_rng(4).standard_normal((4000, replicates)).std(1, ddof=1)
    ranges = [spread_range(spread, replicates) for spread in spreads]
    assert np.mean([low <= 1 <= high for low, high in ranges]) == pytest.approx(0.8, abs=0.02)
