"""Prices of verdicts: the replicates that decide a comparison with 80 % probability.

The differences are taken as normal. Their standard deviation in the sample varies as that of a normal sample does, so
the probabilities are those of Student's t.
"""

from dataclasses import dataclass
from functools import cache
from math import sqrt
from typing import TYPE_CHECKING, Any

from recompose.claims.estimates import ALPHA, POWER
from recompose.claims.verdicts import UNDECIDED, ClaimComparison, TestedComparison

if TYPE_CHECKING:
    import numpy as np

MOST = 1_000  # replicates; more are not counted
POINTS = 400  # of the distribution of the sample's standard deviation


@dataclass(frozen=True)
class Question:
    """A comparison that is to be decided: different from zero, or within the margin."""

    spread: float  # the standard deviation of the differences over replicates, above zero
    margin: float
    level: float = ALPHA  # of the test of a difference, corrected for other comparisons
    margin_level: float = ALPHA  # of the test against the margin, corrected
    is_kept: bool = False  # the claim is that the difference is within the margin: beyond it decides, not beyond zero


def decision_probability(question: Question, difference: float, replicates: int) -> float:
    """Return the probability that so many replicates decide a comparison whose true difference is this.

    >>> round(decision_probability(Question(spread=1.0, margin=0.1), difference=1.0, replicates=10), 2)
    0.8
    """
    import numpy as np
    from scipy.special import ndtr, stdtrit

    freedom, error = replicates - 1, question.spread / sqrt(replicates)
    sampled = error * _sampled_spreads(freedom)
    far = -float(stdtrit(freedom, question.level / 2)) * sampled + (question.margin if question.is_kept else 0.0)
    near = question.margin + float(stdtrit(freedom, question.margin_level / 2)) * sampled

    def below(limit: Any) -> "np.ndarray":
        return np.asarray(ndtr((limit - difference) / error))

    is_outside = 1 - below(far) + below(-far)
    is_inside = np.where(near > 0, below(near) - below(-near), 0.0)
    either = np.where(near > far, 1.0, is_outside + is_inside)  # overlapping regions cover every estimate
    return float(either.mean())


@cache
def _sampled_spreads(freedom: int) -> "np.ndarray":
    """Return equally likely standard deviations of normal samples, as shares of the true one: [POINTS]."""
    import numpy as np
    from scipy.special import chdtri

    return np.asarray(np.sqrt(chdtri(freedom, (np.arange(POINTS) + 0.5) / POINTS) / freedom))


def replicates_needed(question: Question, difference: float) -> int | None:
    """Return the fewest replicates that decide a comparison with a probability of ``POWER``; None: above MOST.

    >>> replicates_needed(Question(spread=1.0, margin=0.1), difference=1.0)
    10
    >>> replicates_needed(Question(spread=1.0, margin=1.0), difference=0.0)
    12
    """
    low, high = 1, 2
    while decision_probability(question, difference, high) < POWER:
        low, high = high, 2 * high
        if low >= MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decision_probability(question, difference, middle) >= POWER else (middle, high)
    return high if high <= MOST else None


def needed_text(replicates: int | None) -> str:
    """Return a number of replicates in short: "12", "> 1000"."""
    return f"> {MOST}" if replicates is None else str(replicates)


def spread_range(spread: float, replicates: int) -> tuple[float, float]:
    """Return the 80 % interval of the true standard deviation, given that of so many normal replicates.

    >>> low, high = spread_range(1.0, 2)
    >>> round(low, 2), round(high, 2)
    (0.61, 7.96)
    """
    from scipy.special import chdtri

    freedom, tail = replicates - 1, (1 - POWER) / 2
    low, high = (spread * sqrt(freedom / float(chdtri(freedom, share))) for share in (tail, 1 - tail))
    return low, high


@dataclass(frozen=True)
class Price:
    """The replicates that decide a comparison; None: more than are counted."""

    as_measured: int | None  # if the difference is what was measured
    if_zero: int | None  # if there is no difference

    @property
    def text(self) -> str:
        """Both numbers of replicates in short."""
        return f"{needed_text(self.as_measured)} / {needed_text(self.if_zero)}"


def price_of(comparison: ClaimComparison, spread: float, levels: tuple[float, float], expected: float) -> Price:
    """Return the price of a comparison.

    Args:
        comparison: the comparison.
        spread: the standard deviation of its difference over replicates.
        levels: those that are left to its tests, see ClaimTests.
        expected: the difference, if there is one.
    """
    question = Question(spread, comparison.margin, *levels, comparison.is_kept)
    return Price(*(replicates_needed(question, difference) for difference in (expected, 0.0)))


def price(tested: TestedComparison, levels: tuple[float, float]) -> Price | None:
    """Return the price of an undecided comparison, see ``price_of``; None if it is decided or its spread is unknown."""
    result = tested.difference
    if tested.verdict != UNDECIDED or result.value is None or not result.spread:
        return None
    return price_of(tested.comparison, result.spread, levels, result.value)
