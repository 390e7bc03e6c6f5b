"""What differences over seeds allow to conclude: Student's tests by scipy, and the correction for making several of them.

Values are told apart to nine decimals of their unit: what lies below is rounding. Where every seed gives the same difference, the interval is that
difference, and p is what it tends to as the spread vanishes: 0, or 1 for no difference. scipy is imported where it computes, for it takes a second.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

LEVEL = 0.95
ALPHA = 1 - LEVEL
DECIMALS = 9


@dataclass(frozen=True)
class Estimate:
    """A difference of two means with its interval, and how likely one as far from what is tested would be by chance."""

    value: float
    low: float
    high: float
    p: float


def paired(first: Sequence[float], second: Sequence[float], margin: float | None = None) -> Estimate:
    """The mean difference of values that belong together, by the paired t-test; of a constant side every value is the same, which is the one-sample test.

    Args:
        first: [n] with n of two or more.
        second: [n], in the same order.
        margin: where it is given, the test is not whether there is a difference but whether it lies within this of zero, see ``equivalence``.

    >>> found = paired([3.0, 5.0, 4.0], [2.0, 3.0, 1.0])
    >>> round(found.value, 2), round(found.low, 2), round(found.high, 2), round(found.p, 3)
    (2.0, -0.48, 4.48, 0.074)
    """
    from scipy.stats import ttest_rel

    _check(first, second)
    each = {round(a - b, DECIMALS) for a, b in zip(first, second, strict=True)}
    if len(each) == 1:
        return _exactly(each.pop(), margin)
    return _tested(ttest_rel, first, second, margin)


def welch(first: Sequence[float], second: Sequence[float], margin: float | None = None) -> Estimate:
    """The difference of the means of two groups that need not vary alike, by Welch's t-test.

    Args:
        first: [n] with n of two or more.
        second: [m] with m of two or more.
        margin: as of ``paired``.
    """
    from scipy.stats import ttest_ind

    _check(first, second)
    if all(len({round(value, DECIMALS) for value in values}) == 1 for values in (first, second)):
        return _exactly(round(first[0] - second[0], DECIMALS), margin)
    return _tested(_unequal(ttest_ind), first, second, margin)


def _unequal(ttest_ind: Any) -> Any:
    return lambda first, second, **more: ttest_ind(first, second, equal_var=False, **more)


def _check(first: Sequence[float], second: Sequence[float]) -> None:
    if min(len(first), len(second)) < 2:
        raise ValueError("one value has no spread: a test needs two of each side")


def _exactly(value: float, margin: float | None) -> Estimate:
    """What is the same at every seed."""
    return Estimate(value, value, value, 1.0 if abs(value) == (margin or 0.0) else 0.0)


def _tested(test: Any, first: Sequence[float], second: Sequence[float], margin: float | None) -> Estimate:
    result = test(first, second)
    interval = result.confidence_interval(LEVEL)
    p = float(result.pvalue) if margin is None else equivalence(test, first, second, margin)
    return Estimate(mean(first) - mean(second), float(interval.low), float(interval.high), p)


def equivalence(test: Any, first: Sequence[float], second: Sequence[float], margin: float) -> float:
    """Two one-sided tests against each end of a margin: below 5 % exactly where the 95 % interval lies within the margin, or wholly outside of it.

    Each one-sided test is at half the level, so that an interval which is inside or outside says the same as p; which of both it is, the difference tells.
    """

    def p(end: float, alternative: str) -> float:
        """That the difference is above, or below, an end."""
        return float(test([value - end for value in first], second, alternative=alternative).pvalue)

    inside = max(p(-margin, "greater"), p(margin, "less"))
    outside = min(p(margin, "greater"), p(-margin, "less"))
    return min(1.0, 2 * min(inside, outside))


def holm(p_values: Sequence[float]) -> list[float]:
    """Each p as it is to be read when all of them were looked at: Holm's step-down correction, which keeps the chance of any wrong rejection at the level.

    Args:
        p_values: [n]

    Returns:
        [n], in the same order: the smallest times n, the next one times n - 1 and so on, none below one before it, none above 1.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted, before = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        before = max(before, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = before
    return adjusted
