"""Looks against hand-made tests, and the errors of whole simulated studies."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recompose.errors import ArgumentError
from recompose.inference.correction import holm
from recompose.inference.estimates import ALPHA, paired
from recompose.inference.power import Question, decision_probability
from recompose.inference.sequential import Looks, SequentialTest, look_at
from tests.errors import raises

LOOKS = Looks((4, 8, 12, 16, 24))
Noise = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
NOISES: dict[str, Noise] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "skewed": lambda rng, shape: (rng.chisquare(4, shape) - 4) / np.sqrt(8),
    "heavy-tailed": lambda rng, shape: rng.standard_t(4, shape) / np.sqrt(2),
}


def test_shares_add_up_to_one_and_later_looks_get_more() -> None:
    for looks in (LOOKS, Looks((20,)), Looks((6, 12, 18, 24, 30))):
        assert sum(looks.shares) == pytest.approx(1)
        assert list(looks.shares) == sorted(looks.shares)


@pytest.mark.parametrize("sizes", [(), (1, 4), (4, 4), (8, 4), (2, 3, 4, 5, 6, 7)])
def test_looks_rise_from_two_and_are_five_at_most(sizes: tuple[int, ...]) -> None:
    with raises(ArgumentError, place="looks"):
        Looks(sizes)


def test_before_the_first_look_there_is_no_test() -> None:
    assert look_at([1.0, 2.0, 3.0], LOOKS) is None
    assert LOOKS.reached(15) == (4, 8, 12)


def test_without_declared_looks_it_is_the_ordinary_test() -> None:
    differences = [1.0, 2.5, 2.0, 2.5]
    test, estimate = look_at(differences), paired(differences)
    assert test is not None
    assert (test.value, test.interval) == (estimate.value, estimate.interval())
    assert (test.p_zero(), test.p_within(3.0)) == ((estimate.p_zero(), True), estimate.p_within(3.0))


draws = st.lists(st.floats(-3, 5).map(lambda value: round(value, 3)), min_size=4, max_size=24)


@settings(deadline=None, max_examples=60)
@given(draws, st.floats(0.2, 4))
def test_a_test_at_looks_is_made_of_tests_of_the_first_replicates(differences: list[float], margin: float) -> None:
    looks = Looks((4, 8, 24))
    test = look_at(differences, looks)
    shares = [(size, share) for size, share in zip(looks.sizes, looks.shares, strict=True) if size <= len(differences)]
    parts = [(paired(differences[:size]), share) for size, share in shares]
    assert test is not None
    assert test.value == parts[-1][0].value
    assert test.p_zero()[0] == min(min(1, part.p_zero() / share) for part, share in parts)
    assert test.p_within(margin) == min(min(1, part.p_within(margin) / share) for part, share in parts)
    assert test.p_beyond(margin) == min(min(1, part.p_beyond(margin) / share) for part, share in parts)
    low, high = test.interval
    ends = [part.interval(1 - ALPHA * share) for part, share in parts]
    common = max(end for end, _ in ends), min(end for _, end in ends)
    assert (low, high) == (common if common[0] <= common[1] else ends[-1])


@settings(deadline=None, max_examples=40)
@given(draws)
def test_further_looks_only_lower_a_p(differences: list[float]) -> None:
    looks = Looks((4, 8, 24))
    tests = [look_at(differences[:count], looks) for count in range(4, len(differences) + 1)]
    p_values = [test.p_zero()[0] for test in tests if test]
    assert p_values == sorted(p_values, reverse=True)


def study_errors(noise: Noise, true_nulls: float, studies: int, comparisons: int = 5) -> tuple[float, float]:
    """Return the shares of studies with a wrong "supported" or "reversed", and with a wrong "negligible".

    Comparisons are correlated; a comparison stops at the first look that decides it uncorrected, the worst stopping
    rule for these errors. Its difference is zero, or just at the margin.
    """
    rng, margin = np.random.default_rng(1), 0.8
    is_null = np.arange(comparisons) < true_nulls * comparisons
    truth = np.where(is_null, 0.0, margin)
    wrong = np.zeros(2)
    for _ in range(studies):
        shape = (LOOKS.sizes[-1], comparisons)
        sample = truth + 0.7 * noise(rng, shape) + 0.7 * noise(rng, (shape[0], 1))
        tests = [stopped(sample[:, number].tolist(), margin) for number in range(comparisons)]
        zero, within = holm([test.p_zero()[0] for test in tests]), holm([test.p_within(margin) for test in tests])
        wrong[0] += any(p < ALPHA for p, null in zip(zero, is_null, strict=True) if null)
        wrong[1] += any(p < ALPHA for p, null in zip(within, is_null, strict=True) if not null)
    return tuple(wrong / studies)


def stopped(differences: list[float], margin: float) -> SequentialTest:
    """Return the test at the first look that decides, or at the last one."""
    for size in LOOKS.sizes:
        test = look_at(differences[:size], LOOKS)
        if test and min(test.p_zero()[0], test.p_within(margin)) < ALPHA:
            break
    assert test is not None
    return test


@pytest.mark.parametrize("true_nulls", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("noise", NOISES)
def test_whole_studies_err_no_more_often_than_promised(noise: str, true_nulls: float) -> None:
    """Run 100 studies: 5 % has a standard error of 2.2 %. The benchmark runs 10,000."""
    errors = study_errors(NOISES[noise], true_nulls, studies=100)
    assert max(errors) < ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / 100)


@pytest.mark.parametrize("difference", [0.0, 0.5, 1.2])
def test_looks_decide_at_least_as_often_as_the_last_look_alone_promises(difference: float) -> None:
    """Compare with the power of the last look at its share of the error: earlier looks add less than 8 points."""
    rng, margin, studies = np.random.default_rng(2), 0.9, 600
    level = ALPHA * LOOKS.shares[-1]
    promised = decision_probability(Question(1.0, margin, level, level), difference, LOOKS.sizes[-1])
    samples = rng.normal(difference, 1.0, (studies, LOOKS.sizes[-1])).tolist()
    tests = [look_at(sample, LOOKS) for sample in samples]
    decided = np.mean([min(test.p_zero()[0], test.p_within(margin)) < ALPHA for test in tests if test])
    assert promised - 0.05 < decided < promised + 0.08
