"""Prices of verdicts: the replicates that decide a comparison with 80 % probability, and the time that these take.

The differences are taken as normal. Their standard deviation in the sample varies as that of a normal sample does, so
the probabilities are those of Student's t.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import sqrt
from statistics import median
from typing import TYPE_CHECKING, Any

from recompose.claims.estimates import ALPHA, FEWEST, POWER
from recompose.claims.verdicts import UNDECIDED, ClaimTests, TestedComparison
from recompose.papers.declaration import Paper
from recompose.parts.results import Results
from recompose.recipes.plan import Recipe, closure

if TYPE_CHECKING:
    import numpy as np

MOST = 1_000  # replicates; more are not counted
POINTS = 400  # of the distribution of the sample's standard deviation
MEASURED, SIMILAR, GIVEN, UNKNOWN = "measured", "similar", "given", "unknown"  # sources of a spread
Seconds = Callable[[Recipe], float | None]  # that making a recipe takes; None: unknown
Needed = Iterable[tuple[Sequence[str], int | None]]  # methods, and the replicates that they need; None: unknown


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
    """Return the fewest replicates that decide a comparison with a probability of ``POWER``, at least those of a test;
    None: above MOST.

    >>> replicates_needed(Question(spread=1.0, margin=0.1), difference=1.0)
    10
    >>> replicates_needed(Question(spread=1.0, margin=1.0), difference=0.0)
    12
    """
    low, high = FEWEST - 1, FEWEST
    while decision_probability(question, difference, high) < POWER:
        low, high = high, 2 * high
        if low >= MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decision_probability(question, difference, middle) >= POWER else (middle, high)
    return high if high <= MOST else None


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
        """Both numbers of replicates in short: "12 / > 1000"."""
        return " / ".join(f"> {MOST}" if count is None else str(count) for count in (self.as_measured, self.if_zero))


def price(tested: TestedComparison, levels: tuple[float, float], spread: float | None = None) -> Price | None:
    """Return the price of an undecided comparison; None if it is decided or its spread is unknown.

    Args:
        tested: the comparison; where it was not run, the difference counts as printed, which is twice the margin.
        levels: those that are left to its tests, see ClaimTests.
        spread: the standard deviation of the difference over replicates; None: as measured.
    """
    comparison, expected = tested.comparison, tested.difference.value
    spread = spread or tested.difference.spread
    if tested.verdict != UNDECIDED or not spread:
        return None
    if expected is None:
        expected = 0.0 if comparison.is_kept else 2 * comparison.margin
    question = Question(spread, comparison.margin, *levels, comparison.is_kept)
    return Price(replicates_needed(question, expected), replicates_needed(question, 0.0))


@dataclass(frozen=True)
class ComparisonPrice:
    """An undecided comparison with its price."""

    text: str
    methods: tuple[str, ...]
    difference: float | None  # measured; None: not measured
    margin: float
    n: int
    spread: float | None  # the standard deviation of the difference over replicates
    source: str  # of the spread
    price: Price | None  # None: unknown
    is_kept: bool = False  # the claim is that the difference is within the margin

    @property
    def as_measured(self) -> int | None:
        """The replicates that decide it if the difference is as measured; None: unknown, or more than are counted."""
        return self.price.as_measured if self.price else None

    @property
    def contradicts(self) -> bool:
        """True if a difference as measured is not what the claim says."""
        if self.difference is None:
            return False
        return abs(self.difference) > self.margin if self.is_kept else self.difference < self.margin


@dataclass(frozen=True)
class ClaimPrice:
    """A claim on a benchmark, with the price of its undecided comparisons."""

    paper: str
    claim: str
    benchmark: str
    verdict: str
    comparisons: Sequence[ComparisonPrice]  # the undecided ones; none: it is decided
    core_seconds_as_measured: float | None = None  # runs that several comparisons share count once
    core_seconds_if_zero: float | None = None


def price_claims(
    results: Results, papers: Iterable[Paper], seconds: Seconds, only: str | None = None, spread: float | None = None
) -> Iterator[ClaimPrice]:
    """Yield the price of each claim of some papers on each benchmark.

    Args:
        results: what was measured.
        papers: the papers.
        seconds: the time that a recipe takes.
        only: the only claim to price.
        spread: the standard deviation of all differences; None: as measured.
    """
    for paper in papers:
        for benchmark in paper.benchmarks_among(results.benchmarks(paper.track)):
            tests = ClaimTests.of(results, paper, benchmark)
            together = partial(core_seconds, results, seconds, paper.track, benchmark)
            for name, claim in tests.claims.items():
                if only in (None, name):
                    tested = tests.of_claim(claim)
                    verdict = tested[0].verdict
                    undecided = [each for each in tested if verdict == each.verdict == UNDECIDED]
                    prices = [_price_comparison(tests, each, spread) for each in undecided]
                    yield ClaimPrice(paper.name, name, benchmark, verdict, prices, *_times(prices, together))


def _times(
    prices: Sequence[ComparisonPrice], together: Callable[[Needed], float | None]
) -> tuple[float | None, float | None]:
    """Return the time that decides a claim if differences are as measured, and that if they are zero.

    One comparison that contradicts a claim decides it, the cheapest one first, and so does a negligible one.
    """
    if not prices:
        return None, None
    contradicting = [price for price in prices if price.contradicts and price.as_measured]
    decisive = [min(contradicting, key=lambda each: each.as_measured or 0)] if contradicting else prices
    if_zero = (together([(each.methods, each.price.if_zero if each.price else None)]) for each in prices)
    return (
        together((each.methods, each.as_measured) for each in decisive),
        min((time for time in if_zero if time is not None), default=None),
    )


def _price_comparison(tests: ClaimTests, tested: TestedComparison, given: float | None) -> ComparisonPrice:
    """Return the price of a comparison by its spread: given, its own, or that of others in the same metric."""
    comparison, result = tested.comparison, tested.difference
    others = (each for each in tests.comparisons.values() if each.comparison.metrics == comparison.metrics)
    similar = [other.difference.spread for other in others if other.difference.spread]
    spreads = {GIVEN: given, MEASURED: result.spread, SIMILAR: median(similar) if similar else None, UNKNOWN: None}
    source = next((source for source, spread in spreads.items() if spread), UNKNOWN)
    return ComparisonPrice(
        text=comparison.text if len(comparison.methods) > 1 else tested.metrics_text,
        methods=tuple(comparison.methods),
        difference=result.value,
        margin=comparison.margin,
        n=result.n,
        spread=spreads[source],
        source=source,
        price=price(tested, tests.levels, spreads[source]),
        is_kept=comparison.is_kept,
    )


def core_seconds(results: Results, seconds: Seconds, track: str, benchmark: str, needed: Needed) -> float | None:
    """Return the time of the replicates that methods lack on a benchmark, or None if a number or a time is unknown.

    A replicate makes anew what belongs to a track and is not that of another replicate, as published data is; methods
    share data.
    """
    times: dict[str, float] = {}  # by digest
    for methods, replicates in needed:
        if replicates is None:
            return None
        for method in methods:
            planned = results.planned(track, method, benchmark)
            lacking = max(replicates - len(results.complete(track, method, benchmark)), 0)
            shared = {recipe.digest for recipe in closure(planned[1:2])}
            for recipe in closure(planned[:1]):
                if recipe.track and recipe.digest not in shared:
                    if (time := seconds(recipe)) is None:
                        return None
                    times[recipe.digest] = max(times.get(recipe.digest, 0.0), lacking * time)
    return sum(times.values())
