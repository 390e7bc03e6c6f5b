"""Sample sizes: the probability that a comparison is decided by so many replicates, and the replicates that decide it.

The differences are taken as normal. Their standard deviation in the sample varies as that of a normal sample does, so
the probabilities are those of Student's t.
"""

from dataclasses import dataclass, replace
from functools import cache
from math import sqrt
from typing import TYPE_CHECKING, Any

from recompose.inference.estimates import ALPHA
from recompose.inference.sequential import Looks

if TYPE_CHECKING:
    import numpy as np

POWER = 0.8
MOST = 1_000  # replicates; more are not counted
POINTS = 400  # of the distribution of the sample's standard deviation


@dataclass(frozen=True)
class Question:
    """A comparison that is to be decided: different from zero, or within the margin."""

    spread: float  # the standard deviation of the differences over replicates
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

    freedom = replicates - 1
    error = question.spread / sqrt(replicates)
    if error == 0:
        return float(difference != 0)
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


def look_probability(question: Question, difference: float, looks: Looks, size: int) -> float:
    """Return the probability that a look decides a comparison, at its share of the error."""
    share = dict(zip(looks.sizes, looks.shares, strict=True))[size]
    if share == 0:
        return 0.0
    level, margin_level = question.level * share, question.margin_level * share
    return decision_probability(replace(question, level=level, margin_level=margin_level), difference, size)


def replicates_needed(
    question: Question, difference: float, looks: Looks | None = None, power: float = POWER
) -> int | None:
    """Return the fewest replicates that decide a comparison with this probability, or None if too many are needed.

    Args:
        question: the comparison.
        difference: its true difference.
        looks: those at which it is tested: the first one that decides it; None: once, after MOST replicates at most.
        power: the probability.

    >>> replicates_needed(Question(spread=1.0, margin=0.1), difference=1.0)
    10
    >>> replicates_needed(Question(spread=1.0, margin=1.0), difference=0.0)
    12
    >>> replicates_needed(Question(spread=1.0, margin=0.1), difference=1.0, looks=Looks((6, 12, 18)))
    12
    """
    if looks:
        sizes = (size for size in looks.sizes if look_probability(question, difference, looks, size) >= power)
        return next(sizes, None)
    low, high = 1, 2
    while decision_probability(question, difference, high) < power:
        low, high = high, 2 * high
        if low >= MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decision_probability(question, difference, middle) >= power else (middle, high)
    return high if high <= MOST else None


def needed_range(
    question: Question, difference: float, replicates: int, looks: Looks | None = None
) -> tuple[int | None, int | None]:
    """Return the replicates needed at both ends of the spread's 80 % interval.

    The range says only what follows from the uncertainty of the spread; the difference is taken as true.

    Args:
        question: the comparison, with a spread that so many replicates gave.
        difference: its true difference.
        replicates: two or more.
        looks: those at which it is tested; None: once.
    """
    low, high = (
        replicates_needed(replace(question, spread=spread), difference, looks)
        for spread in spread_range(question.spread, replicates)
    )
    return low, high


def spread_range(spread: float, replicates: int, level: float = POWER) -> tuple[float, float]:
    """Return the interval of the true standard deviation, given that of so many normal replicates.

    >>> low, high = spread_range(1.0, 2)
    >>> round(low, 2), round(high, 2)
    (0.61, 7.96)
    """
    from scipy.special import chdtri

    freedom, tail = replicates - 1, (1 - level) / 2
    low, high = (spread * sqrt(freedom / float(chdtri(freedom, share))) for share in (tail, 1 - tail))
    return low, high
