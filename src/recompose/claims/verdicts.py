"""Verdicts on comparisons and claims.

A comparison is a difference of a metric of two methods, of two metrics of one method, or of two differences of methods.
Most claims say that it is above zero: it is supported if it is significantly above zero, reversed if significantly
below, and negligible if its interval lies within the claim's margin, the smallest difference of interest. A negligible
difference is called that even if it is significantly different from zero. A claim that says that something is kept is
supported if its interval lies within the margin, and reversed if it lies outside.

All distinct comparisons of a paper on a benchmark are corrected for each other (Holm): the tests of a difference among
themselves, and the tests of a difference within its margin among themselves, each at 3.5 %. So the probability of any
wrong "supported" or "reversed" in a paper, and that of any wrong "negligible", is 3.5 % at most if differences are
normal. It is about 5 % if they are as skewed as those of an earlier study, and with ten or more replicates 9 to 12 % if
all of them have a skewness of 1 (`python -m benchmarks.familywise`).

A claim of several comparisons is reversed if one of them is, otherwise negligible if one of them is, supported if all
of them are, and otherwise undecided.
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite, nan
from typing import Any

from recompose.claims.differences import Difference, Side, number_text
from recompose.claims.estimates import ALPHA, FAMILY_ALPHA, FEWEST, Estimate, holm
from recompose.console import pluralize
from recompose.papers.declaration import Claim, Paper
from recompose.parts.results import Results
from recompose.recipes.plan import Recipe
from recompose.tables.metric import Metric
from recompose.tracks import TRACKS
from recompose.tracks.track import Track

VERDICTS = "supported here", "reversed here", "negligible here", "undecided"
SUPPORTED, REVERSED, NEGLIGIBLE, UNDECIDED = VERDICTS
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
        return test.p_beyond(self.margin if self.is_kept else 0.0)


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

    beyond: float = 1.0  # that there is a difference; of a claim that something is kept: that it is beyond the margin
    within: float = 1.0  # that the difference is within the margin
    family: int = 0  # the comparisons whose tests of a difference are corrected for each other
    margin_family: int = 0  # the same of the tests of a difference within its margin


@dataclass(frozen=True)
class TestedComparison:
    """The result of a comparison on a benchmark."""

    comparison: ClaimComparison
    difference: Difference
    metric: Metric
    labels: tuple[str, ...]  # of its metrics
    correction: Correction

    @property
    def verdict(self) -> str:
        """One of the verdicts."""
        if self.correction.within < FAMILY_ALPHA:
            return SUPPORTED if self.comparison.is_kept else NEGLIGIBLE
        if self.correction.beyond < FAMILY_ALPHA:
            is_supported = (self.difference.value or 0.0) > 0 and not self.comparison.is_kept
            return SUPPORTED if is_supported else REVERSED
        return UNDECIDED

    @property
    def rank(self) -> tuple[int, int, float]:
        """The place among the comparisons of a claim, the first of which decides it: reversed before negligible before
        undecided before supported.

        Among equal ones, one that was not run comes first, then one with too few replicates for a test, and then the
        one with the lowest interval.
        """
        result, order = self.difference, (REVERSED, NEGLIGIBLE, UNDECIDED, SUPPORTED)
        low = result.test.interval()[0] if result.test else 0.0
        return order.index(self.verdict), min(result.n, FEWEST), low

    @property
    def adjusted(self) -> float | None:
        """The smaller one of its corrected p; None if it is not tested."""
        return min(self.correction.beyond, self.correction.within) if self.difference.test else None

    @property
    def reason(self) -> str:
        """The reason why it is undecided; empty if it is decided."""
        if self.verdict != UNDECIDED:
            return ""
        if (test := self.difference.test) is None:
            return self.difference.obstacle
        beyond, within = self.comparison.p_beyond(test), test.p_within(self.comparison.margin)
        if min(beyond, within) < ALPHA:
            family = self.correction.family if beyond < within else self.correction.margin_family
            return f"not after correction for {family} comparisons"
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
        sides = " - ".join(result.texts(self.digits))
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
        """The number of pairs."""
        result = self.difference
        before, after = (all(side.is_constant for side in half) for half in result.halves)
        if before != after and result.n:
            return f"{result.n}, against a constant"
        return pluralize(result.n, "pair") if result.n else "0"

    @property
    def p_text(self) -> str:
        """The smaller corrected p."""
        return probability_text(self.adjusted)


def probability_text(p: float | None) -> str:
    """Return a p in words; a dash if there is none."""
    return "-" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


@dataclass(frozen=True)
class ClaimTests:
    """The tests of a paper's claims on a benchmark."""

    claims: Mapping[str, Claim]  # whose methods are all planned
    comparisons: Mapping[ClaimComparison, TestedComparison]  # distinct ones: claims may share them
    # the error that is left to each test that is not significant so far: of a difference, and of one within its margin
    levels: tuple[float, float]

    @classmethod
    def of(cls, results: Results, paper: Paper, benchmark: str) -> "ClaimTests":
        """Test all distinct comparisons of a paper's claims on a benchmark, corrected for each other.

        Those of a user's own comparison are corrected for those on its other data sets, too.
        """
        family = paper.corrected_with(benchmark, results.benchmarks(paper.track))
        planned = {
            (name, row): claim
            for name in family
            for row, claim in paper.claims.items()
            if all(results.planned(paper.track, method, name) for method in claim.methods)
        }
        differences = {
            (name, comparison): _difference(results, paper, name, comparison)
            for (name, _), claim in planned.items()
            for comparison in comparisons_of(claim)
        }
        tests = {place: result.test for place, result in differences.items() if result.test}
        beyond = _corrected({(name, each.hypothesis): each.p_beyond(test) for (name, each), test in tests.items()})
        within = _corrected({place: test.p_within(place[1].margin) for place, test in tests.items()})
        corrections = {
            (name, each): Correction(beyond[name, each.hypothesis], p, len(beyond), len(within))
            for (name, each), p in within.items()
        }
        comparisons = {
            comparison: TestedComparison(
                comparison,
                result,
                results.tracks[paper.track].description_of(comparison.metrics[0]),
                tuple(_label(paper, metric) for metric in comparison.metrics),
                corrections.get((name, comparison), Correction()),
            )
            for (name, comparison), result in differences.items()
            if name == benchmark
        }
        hypotheses = ((name, comparison.hypothesis) for name, comparison in differences)
        claims = {row: claim for (name, row), claim in planned.items() if name == benchmark}
        return cls(claims, comparisons, (_level(hypotheses, beyond), _level(differences, within)))

    def of_claim(self, claim: Claim) -> list[TestedComparison]:
        """Return the comparisons that a claim rests on, the deciding one first."""
        comparisons = [self.comparisons[comparison] for comparison in comparisons_of(claim)]
        decisive = min(comparisons, key=lambda tested: tested.rank)
        return [decisive, *(other for other in comparisons if other is not decisive)]


def _corrected(p_values: Mapping[Any, float]) -> dict[Any, float]:
    """Return the p of each test, corrected for the others."""
    return dict(zip(p_values, holm([*p_values.values()]), strict=True))


def _level(hypotheses: Iterable[Hashable], corrected: Mapping[Any, float]) -> float:
    """Return the error divided by the hypotheses that are not rejected so far; what was not run is one of them.

    After Holm's correction, no more than their number is against one of them.
    """
    return FAMILY_ALPHA / max(1, sum(corrected.get(each, 1.0) >= FAMILY_ALPHA for each in {*hypotheses}))


def _label(paper: Paper, metric: str) -> str:
    """Return the label of a metric, or its name without the split if it has none."""
    labels = {name: label for label, name in TRACKS[paper.track].compared.items()}
    return labels.get(metric, metric.partition("/")[2].replace("/", " ").replace("_", " "))


def _difference(results: Results, paper: Paper, benchmark: str, comparison: ClaimComparison) -> Difference:
    """Return the difference of a comparison, in its metric's unit; NaN and infinity count as not measured."""
    track, sides = results.tracks[paper.track], []
    planned = {name: results.planned(paper.track, name, benchmark) for name in comparison.methods}
    for method, metric in comparison.sides:
        factor = track.description_of(metric).factor
        measured = {
            int(evaluation.labels["seed"]): factor * results.metrics(evaluation).get(metric, nan)
            for evaluation in results.complete(paper.track, method, benchmark)
        }
        values = {seed: value for seed, value in sorted(measured.items()) if isfinite(value)}
        label = f"{_label(paper, metric)} of {method}" if len(comparison.metrics) > 1 else method
        sides.append(Side(label, values, _is_constant(track, planned[method], planned)))
    return Difference.of(sides)


def _is_constant(track: Track, planned: list[Recipe], compared: Mapping[str, list[Recipe]]) -> bool:
    """Return True if no seed changes a method: it is run once, and all compared methods share the data."""
    evaluations = [evaluation for recipes in compared.values() for evaluation in recipes]
    data = {evaluation.needs["data"].digest for evaluation in evaluations if "data" in evaluation.needs}
    return len(planned) == 1 and len(data) <= 1 and not track.depends_on_seed(planned[0])
