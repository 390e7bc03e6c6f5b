"""Verdicts on comparisons and claims.

A comparison is a difference of a metric of two methods, of two metrics of one method, or of two differences of methods.
Most claims say that it is above zero: it is supported if it is significantly above zero, reversed if significantly
below, and negligible if its interval lies within the claim's margin, the smallest difference of interest. A negligible
difference is called that even if it is significantly different from zero. A claim that says that something is kept is
supported if its interval lies within the margin, and reversed if it lies outside.

All distinct comparisons of a paper on a benchmark are corrected for each other (Holm): the tests of a difference among
themselves, and the tests of a difference within its margin among themselves, each at 3.5 %. So the probability of any
wrong "supported" or "reversed" in a paper is at most 5 %, also of skewed differences, and so is that of any wrong
"negligible".

A claim of several comparisons is reversed if one of them is, otherwise negligible if one of them is, supported if all
of them are, and otherwise undecided.
"""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property

from recompose.claims.differences import Difference, number_text
from recompose.claims.estimates import ALPHA, FAMILY_ALPHA, Estimate
from recompose.console import pluralize
from recompose.papers.declaration import Claim
from recompose.tables.metric import Metric

SUPPORTED, REVERSED, NEGLIGIBLE, UNDECIDED = VERDICTS = (
    "supported here",
    "reversed here",
    "negligible here",
    "undecided",
)
MAX_DIGITS = 6
Sides = tuple[tuple[str, str], ...]  # methods, each in a metric


@dataclass(frozen=True)
class ClaimComparison:
    """A difference that is tested: two claims that rest on the same one test it once.

    Its sides are methods, each in a metric: first - second, or (first - second) - (third - fourth).
    """

    sides: Sides
    margin: float  # the smallest difference of interest
    is_kept: bool = False  # the claim is that the difference lies within the margin

    @property
    def methods(self) -> list[str]:
        """The methods and variants in it."""
        return list(dict.fromkeys(method for method, _ in self.sides))

    @property
    def metrics(self) -> list[str]:
        """The metrics in it."""
        return list(dict.fromkeys(metric for _, metric in self.sides))

    @property
    def hypothesis(self) -> Hashable:
        """What the test of a difference is about: comparisons that differ in their margins only share one."""
        return self if self.is_kept else replace(self, margin=0.0)

    @property
    def text(self) -> str:
        """The compared methods, and the margin if they are to be within it."""
        methods = [method for method, _ in self.sides]
        text = " - ".join(dict.fromkeys(methods[:2]))
        if len(self.methods) > 2:
            text = f"({text}) - ({methods[2]} - {methods[3]})"
        return f"{text}, within ±{self.margin:g}" if self.is_kept else text

    def p_beyond(self, test: Estimate) -> float:
        """Return the uncorrected p that a difference is not zero; of a claim that something is kept, that it is beyond
        the margin.
        """
        return test.p_beyond(self.margin) if self.is_kept else test.p_zero()


def comparisons_of(claim: Claim) -> list[ClaimComparison]:
    """Return the comparisons that a claim rests on."""
    higher, metric, beyond, gain = claim.higher, claim.metric, claim.beyond, claim.gain
    if claim.lower_metrics:
        sides: list[Sides] = [((higher, metric), (higher, other)) for other in claim.lower_metrics]
    elif beyond:
        sides = [((higher, metric), (lower, metric), (higher, beyond), (lower, beyond)) for lower in claim.lower]
    else:
        subtrahend = ((gain.higher, metric), (gain.lower, metric)) if gain else ()
        sides = [((higher, metric), (lower, metric), *subtrahend) for lower in claim.lower]
    return [ClaimComparison(each, claim.margin.value, claim.kept) for each in sides]


@dataclass(frozen=True)
class Correction:
    """The p of a comparison's tests, each corrected for the other comparisons."""

    beyond: float  # that there is a difference; of a claim that something is kept: that it is beyond the margin
    within: float  # that the difference is within the margin
    family: int  # the comparisons whose tests of a difference are corrected for each other
    margin_family: int  # the same of the tests of a difference within its margin


@dataclass(frozen=True)
class TestedComparison:
    """The result of a comparison on a benchmark."""

    comparison: ClaimComparison
    difference: Difference
    metric: Metric
    labels: tuple[str, ...]  # of its metrics
    correction: Correction | None = None  # None if it is not tested

    @property
    def verdict(self) -> str:
        """One of the verdicts."""
        test, correction = self.difference.test, self.correction
        if test is None or correction is None:
            return UNDECIDED
        if correction.within < FAMILY_ALPHA:
            return SUPPORTED if self.comparison.is_kept else NEGLIGIBLE
        if correction.beyond < FAMILY_ALPHA:
            is_supported = test.value > 0 and not self.comparison.is_kept
            return SUPPORTED if is_supported else REVERSED
        return UNDECIDED

    @property
    def adjusted(self) -> float | None:
        """The smaller one of its corrected p."""
        return None if self.correction is None else min(self.correction.beyond, self.correction.within)

    @property
    def reason(self) -> str:
        """The reason why it is undecided; empty if it is decided."""
        if self.verdict != UNDECIDED:
            return ""
        test, correction = self.difference.test, self.correction
        if test is None or correction is None:
            return self.difference.obstacle
        if min(self.comparison.p_beyond(test), test.p_within(self.comparison.margin)) < ALPHA:
            return f"not after correction for {correction.family} comparisons"
        return "interval spans the margin" if self.comparison.is_kept else "interval spans zero"

    @property
    def verdict_text(self) -> str:
        """The verdict with its reason."""
        return f"{self.verdict} ({self.reason})" if self.reason else self.verdict

    @property
    def metrics_text(self) -> str:
        """The compared metrics: "AUC", "U beyond S", or of two metrics of one method "first - last"."""
        return (" - " if len(self.comparison.sides) == 2 else " beyond ").join(self.labels)

    @property
    def unit(self) -> str:
        """The unit of the difference; points for percentages."""
        return "points" if self.metric.unit == "%" else self.metric.unit

    @cached_property
    def digits(self) -> int:
        """The number of digits to print: no number other than zero is printed as zero."""
        result, digits = self.difference, self.metric.digits
        numbers = [] if result.value is None else [result.value, *(result.test.interval() if result.test else ())]
        # what is zero at most digits is noise of sums
        while any(0.5 * 10**-MAX_DIGITS < abs(number) < 0.5 * 10**-digits for number in numbers):
            digits += 1
        return digits

    @property
    def estimate_text(self) -> str:
        """Both sides, and their difference: "AUC: a 23.7 (5) - b 26.1 (5) = -2.4 points"."""
        result = self.difference
        if result.value is None:
            return result.obstacle
        sides = " - ".join(side.text(self.digits) for side in (result.higher, result.lower))
        value = number_text(result.value, self.digits, "+")
        label = f"{self.labels[0]}: " if len(self.labels) == 1 else ""
        return f"{label}{sides} = {value} {self.unit}".rstrip()

    @property
    def margin_text(self) -> str:
        """The margin: "0.6", "to be within 0.6" if the claim is that the difference is, or "none"."""
        if not self.comparison.margin:
            return "none"
        return f"{'to be within ' if self.comparison.is_kept else ''}{self.comparison.margin:g}"

    @property
    def interval_text(self) -> str:
        """The interval."""
        test = self.difference.test
        if test is None:
            return f"unknown: {self.difference.obstacle}"
        return " to ".join(number_text(end, self.digits, "+") for end in test.interval())

    @property
    def spread_text(self) -> str:
        """The standard deviation of the difference over replicates, with one digit more."""
        spread = self.difference.spread
        return "-" if spread is None else f"{spread:.{self.digits + 1}f}"

    @property
    def n_text(self) -> str:
        """The number of pairs, or of the runs of each side."""
        result = self.difference
        if result.value is None:
            return "0"
        if result.higher.is_constant != result.lower.is_constant:
            return f"{result.n}, against a constant"
        if result.by_seed:
            return pluralize(result.n, "pair")
        return f"{result.higher.n} and {result.lower.n}"

    @property
    def p_text(self) -> str:
        """The smaller corrected p."""
        return probability_text(self.adjusted)


def probability_text(p: float | None) -> str:
    """Return a p in words; a dash if there is none."""
    return "-" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def deciding_comparison(comparisons: list[TestedComparison]) -> TestedComparison:
    """Return the comparison that decides a claim: reversed before negligible before undecided before supported.

    Among equal ones, one that was not run comes first, then one without a test, and then the one with the lowest
    interval.
    """

    def rank(tested: TestedComparison) -> tuple[int, int, float]:
        order, result = (REVERSED, NEGLIGIBLE, UNDECIDED, SUPPORTED), tested.difference
        low = result.test.interval()[0] if result.test else 0.0
        return order.index(tested.verdict), 0 if result.value is None else 1 if result.test is None else 2, low

    return min(comparisons, key=rank)
