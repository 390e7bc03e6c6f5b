"""Inference from differences over seeds: Student's tests by scipy, and the correction for several tests.

Values are compared to nine decimals of their unit; differences below that are rounding errors. If every seed gives the
same difference, the interval is that difference, and p is its limit as the spread vanishes: 0, or 1 for no difference.
scipy is imported inside functions because its import takes a second.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from recompose.errors import ArgumentError

LEVEL = 0.95
ALPHA = 1 - LEVEL
DECIMALS = 9


@dataclass(frozen=True)
class MeanWithInterval:
    """A difference of two means with its 95 % interval and the p of its test."""

    value: float
    low: float
    high: float
    p: float


def paired(first: Sequence[float], second: Sequence[float], margin: float | None = None) -> MeanWithInterval:
    """Return the mean difference of paired values, by the paired t-test.

    If one side is a constant, repeated for each value, this is the one-sample test.

    Args:
        first: [n] with n of two or more.
        second: [n], in the same order.
        margin: if given, the test is whether the difference lies within this of zero, see ``equivalence``.

    >>> estimate = paired([3.0, 5.0, 4.0], [2.0, 3.0, 1.0])
    >>> round(estimate.value, 2), round(estimate.low, 2), round(estimate.high, 2), round(estimate.p, 3)
    (2.0, -0.48, 4.48, 0.074)
    """
    from scipy.stats import ttest_rel

    _check(first, second)
    differences = {round(a - b, DECIMALS) for a, b in zip(first, second, strict=True)}
    if len(differences) == 1:
        return _constant(differences.pop(), margin)
    return _run_test(ttest_rel, first, second, margin)


def welch(first: Sequence[float], second: Sequence[float], margin: float | None = None) -> MeanWithInterval:
    """Return the difference of the means of two groups with different variances, by Welch's t-test.

    Args:
        first: [n] with n of two or more.
        second: [m] with m of two or more.
        margin: as of ``paired``.
    """
    from scipy.stats import ttest_ind

    _check(first, second)
    if all(len({round(value, DECIMALS) for value in values}) == 1 for values in (first, second)):
        return _constant(round(first[0] - second[0], DECIMALS), margin)
    return _run_test(lambda *sides, **options: ttest_ind(*sides, equal_var=False, **options), first, second, margin)


def _check(first: Sequence[float], second: Sequence[float]) -> None:
    for name, values in (("first", first), ("second", second)):
        if len(values) < 2:
            raise ArgumentError(name, "has no spread: a test needs two values on each side")


def _constant(value: float, margin: float | None) -> MeanWithInterval:
    """Return the estimate of a difference that is the same at every seed."""
    return MeanWithInterval(value, value, value, 1.0 if abs(value) == (margin or 0.0) else 0.0)


def _run_test(
    test: Callable[..., Any], first: Sequence[float], second: Sequence[float], margin: float | None
) -> MeanWithInterval:
    result = test(first, second)
    interval = result.confidence_interval(LEVEL)
    p = float(result.pvalue) if margin is None else equivalence(test, first, second, margin)
    return MeanWithInterval(mean(first) - mean(second), float(interval.low), float(interval.high), p)


def equivalence(test: Callable[..., Any], first: Sequence[float], second: Sequence[float], margin: float) -> float:
    """Return the p of one-sided tests against each end of a margin.

    It is below 5 % if the 95 % interval is wholly inside the margin or wholly outside; the difference tells which. Each
    test is at half the level, so that p agrees with the interval.
    """

    def p(end: float, alternative: str) -> float:
        """Return the p of the test that the difference is above, or below, an end."""
        return float(test([value - end for value in first], second, alternative=alternative).pvalue)

    inside = max(p(-margin, "greater"), p(margin, "less"))
    outside = min(p(margin, "greater"), p(-margin, "less"))
    return min(1.0, 2 * min(inside, outside))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return each p corrected for all of them, by Holm's step-down procedure.

    It bounds the probability of any wrong rejection by the level.

    Args:
        p_values: [n]

    Returns:
        [n], in the same order: the smallest times n, the next one times n - 1 and so on, none below one before it, none
        above 1.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted, before = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        before = max(before, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = before
    return adjusted
