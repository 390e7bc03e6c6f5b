"""Claims: sentences that papers draw from their artifacts, put to the test on what was measured here.

A claim is a difference that has to be above zero: of a measure of two methods, or of two such gains. Where both sides were run with at least two common
seeds, it is paired by seed and the interval is Student's, 95 %, of the mean difference. Where one side has a single seed, the interval is that in
which one more run of the other side would lie: it is wide, because little is known.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite, nan, sqrt
from statistics import mean, stdev

from scipy.stats import t as student

from recompose.papers.declaration import Claim, Paper
from recompose.report.cells import Cell
from recompose.report.results import Results
from recompose.tracks import TRACKS

LEVEL = 0.95
VERDICTS = ("fails", "not run", "within seed noise", "holds")  # a claim of several parts is as good as its worst


@dataclass(frozen=True)
class Difference:
    """A difference with its interval; of how many seeds."""

    value: float
    low: float
    high: float
    n: int

    @property
    def verdict(self) -> str:
        """What it says of a claim."""
        if self.n == 0:
            return "not run"
        if self.low > 0:
            return "holds"
        return "fails" if self.high < 0 else "within seed noise"


def difference(higher: dict[int, float], lower: dict[int, float]) -> Difference:
    """How much higher a measure is, from its values by seed on both sides."""
    common = sorted(higher.keys() & lower.keys())
    if not higher or not lower:
        return Difference(nan, nan, nan, 0)
    if len(common) > 1:
        each = [higher[seed] - lower[seed] for seed in common]
        return _around(mean(each), stdev(each) / sqrt(len(each)), len(each))
    value, larger = mean(higher.values()) - mean(lower.values()), max(higher, lower, key=len)
    if len(larger) < 2:
        return Difference(value, -float("inf"), float("inf"), 1)
    return _around(value, stdev(larger.values()) * sqrt(1 + 1 / len(larger)), len(larger))


def _around(value: float, error: float, n: int) -> Difference:
    reach = float(student.ppf((1 + LEVEL) / 2, n - 1)) * error
    return Difference(value, value - reach, value + reach, n)


def _minus(first: dict[int, float], second: dict[int, float]) -> dict[int, float]:
    """The differences at common seeds."""
    return {seed: first[seed] - second[seed] for seed in first.keys() & second.keys()}


def verdicts(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """The cells of a table of claims: of each benchmark a verdict, with the smallest difference that it needs, its interval and seeds."""
    for row, claim in paper.claims.items():
        for benchmark in results.benchmarks(paper.track):
            if not all(results.planned(paper.track, method, benchmark) for method in claim.methods):
                continue  # the profile does not ask for all of it there
            differences = [_tested(results, paper, claim, lower, benchmark) for lower in claim.lower]
            yield from _cells(results, paper, row, benchmark, differences)


def _tested(results: Results, paper: Paper, claim: Claim, lower: str, benchmark: str) -> Difference:
    higher, low = (_values(results, paper, claim.measure, method, benchmark) for method in (claim.higher, lower))
    if claim.beyond:
        others = (_values(results, paper, claim.beyond, method, benchmark) for method in (claim.higher, lower))
        return difference(_minus(higher, low), _minus(*others))
    if claim.gain:
        others = (
            _values(results, paper, claim.measure, method, benchmark)
            for method in (claim.gain.higher, claim.gain.lower)
        )
        return difference(_minus(higher, low), _minus(*others))
    return difference(higher, low)


def _values(results: Results, paper: Paper, measure: str, method: str, benchmark: str) -> dict[int, float]:
    """A measure by seed, in its unit."""
    factor = TRACKS[paper.track].description_of(measure).factor
    complete = results.complete(paper.track, method, benchmark)
    measured = {int(each.labels["seed"]): results.measures(each) for each in complete}
    return {seed: factor * measures[measure] for seed, measures in measured.items() if measure in measures}


def _cells(results: Results, paper: Paper, row: str, benchmark: str, differences: list[Difference]) -> Iterator[Cell]:
    """Verdict, difference, interval and seeds, of the part of the claim that stands worst."""
    claim = paper.claims[row]
    worst = min(differences, key=lambda each: (VERDICTS.index(each.verdict), each.low))
    planned = [each for method in claim.methods for each in results.planned(paper.track, method, benchmark)]
    complete = tuple(each.key for each in planned if results.is_complete(each))
    parts = {
        "verdict": worst.verdict,
        "difference": f"{worst.value:+.2f}",
        "95 % interval": f"{worst.low:+.2f} to {worst.high:+.2f}" if isfinite(worst.low) else "unknown: one seed",
        "seeds": str(worst.n),
    }
    for part, text in parts.items():
        yield Cell(
            row,
            f"{benchmark} {part}",
            "measured",
            text if worst.n else worst.verdict,
            worst.value if part == "difference" and worst.n else None,
            n=worst.n,
            made_from=tuple(dict.fromkeys(complete)),
            expected=tuple(dict.fromkeys(each.key for each in planned)),
            names=tuple(claim.methods),
            benchmark=benchmark,
            measure=claim.measure,
            part=part,
        )
