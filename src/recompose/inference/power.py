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
    error = question.spread / sqrt(replicates)
    return _decision_probability(question, difference, replicates, error)


def predictive_probability(question: Question, difference: float, seen: int, replicates: int) -> float:
    """Return the probability that so many replicates decide a comparison, given the mean of those seen among them.

    The true difference is not taken to be that mean: under a flat prior, the mean of all n replicates is normal around
    that of the m seen, with variance s^2 (1/m - 1/n) (predictive power: Spiegelhalter, Freedman and Blackburn, 1986).

    Args:
        question: the comparison.
        difference: the mean of the replicates seen.
        seen: their number, at least one and below that of all.
        replicates: of all.

    >>> question = Question(spread=1.0, margin=0.1)
    >>> round(predictive_probability(question, difference=0.3, seen=5, replicates=20), 2)
    0.37
    >>> round(decision_probability(question, difference=0.3, replicates=20), 2)
    0.25
    """
    deviation = question.spread * sqrt(1 / seen - 1 / replicates)
    return _decision_probability(question, difference, replicates, deviation)


def _decision_probability(question: Question, difference: float, replicates: int, deviation: float) -> float:
    """Return the probability of a decision if the mean is normal around a difference with this deviation."""
    import numpy as np
    from scipy.special import ndtr, stdtrit

    if question.spread == 0:
        return float(difference != 0)
    freedom = replicates - 1
    sampled = question.spread / sqrt(replicates) * _sampled_spreads(freedom)
    far = -float(stdtrit(freedom, question.level / 2)) * sampled + (question.margin if question.is_kept else 0.0)
    near = question.margin + float(stdtrit(freedom, question.margin_level / 2)) * sampled

    def below(limit: Any) -> "np.ndarray":
        return np.asarray(ndtr((limit - difference) / deviation))

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


def question_at(question: Question, looks: Looks, size: int) -> Question | None:
    """Return a comparison as a look tests it, at its share of the error; None if that is nothing."""
    share = dict(zip(looks.sizes, looks.shares, strict=True))[size]
    level, margin_level = question.level * share, question.margin_level * share
    return replace(question, level=level, margin_level=margin_level) if share else None


def look_probability(question: Question, difference: float, looks: Looks, size: int) -> float:
    """Return the probability that a look decides a comparison whose true difference is this."""
    at_look = question_at(question, looks, size)
    return decision_probability(at_look, difference, size) if at_look else 0.0


def replicates_needed(question: Question, difference: float, power: float = POWER) -> int | None:
    """Return the fewest replicates that decide a comparison, tested once, with this probability; None: above MOST.

    >>> replicates_needed(Question(spread=1.0, margin=0.1), difference=1.0)
    10
    >>> replicates_needed(Question(spread=1.0, margin=1.0), difference=0.0)
    12
    """
    low, high = 1, 2
    while decision_probability(question, difference, high) < power:
        low, high = high, 2 * high
        if low >= MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decision_probability(question, difference, middle) >= power else (middle, high)
    return high if high <= MOST else None


@dataclass(frozen=True)
class SampleSize:
    """The replicates that decide a comparison with 80 % probability."""

    replicates: int | None  # None: above MOST
    is_new: bool = False  # no look of this study would: all replicates are those of a new study, tested once

    @property
    def text(self) -> str:
        """The number in short: "12", "55 new", "> 1000"."""
        if self.replicates is None:
            return f"> {MOST}"
        return f"{self.replicates} new" if self.is_new else str(self.replicates)


def sample_size(question: Question, difference: float, looks: Looks | None = None, seen: int = 0) -> SampleSize:
    """Return the first look to come that decides a comparison, or else the replicates of a new study.

    Args:
        question: the comparison.
        difference: its true difference.
        looks: those of the study; None: it is tested once.
        seen: replicates so far; looks that they reached are over.

    >>> sample_size(Question(spread=1.0, margin=0.1), difference=1.0, looks=Looks((6, 12, 18))).text
    '18'
    >>> sample_size(Question(spread=1.0, margin=0.1), difference=0.3, looks=Looks((6, 12, 18))).text
    '90 new'
    """
    if looks is None:
        return SampleSize(replicates_needed(question, difference))
    for size in looks.sizes:
        if size > seen and look_probability(question, difference, looks, size) >= POWER:
            return SampleSize(size)
    return SampleSize(replicates_needed(question, difference), is_new=True)


def sample_size_range(
    question: Question, difference: float, replicates: int, looks: Looks | None = None
) -> tuple[SampleSize, SampleSize]:
    """Return the replicates that decide a comparison at both ends of the spread's 80 % interval.

    The range says only what follows from the uncertainty of the spread; the difference is taken as true.

    Args:
        question: the comparison, with a spread that so many replicates gave.
        difference: its true difference.
        replicates: two or more.
        looks: those at which it is tested; None: once.
    """
    low, high = (
        sample_size(replace(question, spread=spread), difference, looks, replicates)
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
