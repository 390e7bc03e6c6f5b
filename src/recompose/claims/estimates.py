"""Estimates of differences, their intervals, and the tests that follow from them, by Student's t.

Values are compared to nine decimals of their unit; differences below that are rounding errors.

Two replicates decide nothing, whatever their spread: it has one degree of freedom, and two values of a coarse metric
are equal by chance. If three or more give the same difference, it is taken as one that does not vary, as that of
numbers of parameters: the interval is that difference, and each p is its limit as the spread vanishes, 0 or 1. Of a
coarse metric, such as an accuracy over few items, this may still be chance.
scipy is imported inside functions because its import takes a part of a second.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import mean, stdev

from recompose.errors import ArgumentError

LEVEL = 0.95
ALPHA = 1 - LEVEL
# the level of the tests that are corrected for each other: with differences as skewed as an earlier study's, about 5 %
# of studies have a wrong verdict of a kind (`python -m benchmarks.familywise`); 6 to 7 % at a level of 5 %
FAMILY_ALPHA = 0.035
POWER = 0.8  # the probability with which a comparison is to be decided
FEWEST = 3  # replicates that decide anything
DECIMALS = 9


@dataclass(frozen=True)
class Estimate:
    """A difference of two means with its standard error."""

    value: float
    error: float  # zero: every replicate gives the same difference
    freedom: float  # degrees of freedom of the standard error

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return the ends of the confidence interval of this level.

        >>> low, high = Estimate(2.0, 0.577350269, 2).interval()
        >>> round(low, 2), round(high, 2)
        (-0.48, 4.48)
        """
        from scipy.special import stdtrit

        if self.error == 0:
            return self.value, self.value
        half = -float(stdtrit(self.freedom, (1 - level) / 2)) * self.error
        return self.value - half, self.value + half

    def p_within(self, margin: float) -> float:
        """Return twice the larger p of the one-sided tests that the difference is above -margin and below margin.

        Twice, so that it is below 5 % if and only if the 95 % interval is inside the margin.
        """
        return min(1.0, 2 * self._tail(margin - abs(self.value)))

    def p_beyond(self, margin: float) -> float:
        """Return twice the p of the one-sided test that the difference is farther from zero than the margin; without
        one, the p of the two-sided test of no difference.

        It is below 5 % if and only if the 95 % interval is outside the margin, on one side.
        """
        return min(1.0, 2 * self._tail(abs(self.value) - margin))

    def _tail(self, distance: float) -> float:
        """Return the probability of an estimate that is farther off than a distance, on one side."""
        from scipy.special import stdtr

        if self.error == 0:
            return 0.0 if distance > 0 else 1.0
        return float(stdtr(self.freedom, -distance / self.error))


def paired(differences: Sequence[float]) -> Estimate:
    """Return the mean of paired differences, as the paired t-test has it; against a constant, as the one-sample test.

    Args:
        differences: [n] with n of two or more.

    Raises:
        ArgumentError: there is one or none.

    >>> estimate = paired([1.0, 2.0, 3.0])
    >>> estimate.value, round(estimate.error, 3), estimate.freedom
    (2.0, 0.577, 2)
    """
    if len(differences) < 2:
        raise ArgumentError("differences", "has no spread: a test needs two of them")
    if len({round(value, DECIMALS) for value in differences}) == 1:
        return Estimate(round(differences[0], DECIMALS), 0.0, len(differences) - 1)
    return Estimate(mean(differences), stdev(differences) / sqrt(len(differences)), len(differences) - 1)


def interval_of_mean(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the ends of the interval of a mean; None of one value, and of two equal ones, whose spread is not known.

    >>> interval_of_mean([2.0, 2.0]), interval_of_mean([2.0, 2.0, 2.0])
    (None, (2.0, 2.0))
    """
    estimate = paired(values) if len(values) > 1 else None
    return None if estimate is None or (estimate.error == 0 and len(values) < FEWEST) else estimate.interval()


def rounded(value: float, digits: int) -> float:
    """Return a number with so many significant digits, for what is written.

    >>> rounded(0.0123456789, 3), rounded(-1234567.0, 3)
    (0.0123, -1230000.0)
    """
    return float(f"{value:.{digits}g}")


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
