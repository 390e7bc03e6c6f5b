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

from recompose.papers.declaration import METRICS, Claim, Measure, Paper
from recompose.plan import Run
from recompose.report.cells import Cell
from recompose.report.lineage import key_of
from recompose.report.measured import group_accuracy, group_counts
from recompose.report.numbers import read_costs, read_metrics, read_pairs
from recompose.workspace import Workspace

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
    value, known = mean(higher.values()) - mean(lower.values()), max(higher, lower, key=len)
    if len(known) < 2:
        return Difference(value, -float("inf"), float("inf"), 1)
    return _around(value, stdev(known.values()) * sqrt(1 + 1 / len(known)), len(known))


def _around(value: float, error: float, n: int) -> Difference:
    reach = float(student.ppf((1 + LEVEL) / 2, n - 1)) * error
    return Difference(value, value - reach, value + reach, n)


def _minus(first: dict[int, float], second: dict[int, float]) -> dict[int, float]:
    """The differences at common seeds."""
    return {seed: first[seed] - second[seed] for seed in first.keys() & second.keys()}


def verdicts(work: Workspace, paper: Paper, name: str) -> Iterator[Cell]:
    """The cells of a table of claims: of each data set a verdict, with the smallest difference that it needs, its interval and seeds."""
    for row, claim in paper.claims.items():
        for dataset in work.plan.datasets:
            if not all(work.plan.runs_of(method, dataset) for method in claim.methods):
                continue  # the profile does not ask for all of it there
            found = [_tested(work, claim, lower, dataset) for lower in claim.lower]
            yield from _cells(work, row, dataset, found, claim.methods)


def _tested(work: Workspace, claim: Claim, lower: str, dataset: str) -> Difference:
    higher, low = (_values(work, claim, claim.measure, method, dataset) for method in (claim.higher, lower))
    if claim.beyond:
        others = (_values(work, claim, claim.beyond, method, dataset) for method in (claim.higher, lower))
        return difference(_minus(higher, low), _minus(*others))
    if claim.gain:
        others = (
            _values(work, claim, claim.measure, method, dataset) for method in (claim.gain.higher, claim.gain.lower)
        )
        return difference(_minus(higher, low), _minus(*others))
    return difference(higher, low)


def _values(work: Workspace, claim: Claim, measure: Measure, method: str, dataset: str) -> dict[int, float]:
    runs = [run for run in work.plan.runs_of(method, dataset) if work.runs.is_complete(run)]
    return {run.seed: _value(work, claim, measure, run) for run in runs}


def _value(work: Workspace, claim: Claim, measure: Measure, run: Run) -> float:
    if measure == "test seconds":
        return float(read_costs(work, run)["test_seconds"])
    metrics = read_metrics(work, run)
    if measure in METRICS:
        return 100 * float(metrics[f"test/{claim.world}"]["dense"][METRICS[measure]])
    counts = group_counts(read_pairs(work, run.dataset), "test")
    return group_accuracy(metrics, claim.world, "unbiased", measure.removesuffix(" group"), counts)


def _cells(work: Workspace, row: str, dataset: str, found: list[Difference], methods: list[str]) -> Iterator[Cell]:
    """Verdict, difference, interval and seeds, of the part of the claim that stands worst."""
    worst = min(found, key=lambda each: (VERDICTS.index(each.verdict), each.low))
    runs = [run for method in methods for run in work.plan.runs_of(method, dataset)]
    keys = tuple(key_of("runs", run) for run in runs)
    complete = tuple(key for key, run in zip(keys, runs, strict=True) if work.runs.is_complete(run))
    said = {
        "verdict": worst.verdict,
        "difference": f"{worst.value:+.2f}",
        "95 % interval": f"{worst.low:+.2f} to {worst.high:+.2f}" if isfinite(worst.low) else "unknown: one seed",
        "seeds": str(worst.n),
    }
    values = {"difference": worst.value}
    for column, text in said.items():
        yield Cell(
            row,
            f"{dataset} {column}",
            "measured",
            text if worst.n else worst.verdict,
            values.get(column) if worst.n else None,
            n=worst.n,
            made_from=complete,
            expected=keys,
            measures=tuple(methods),
        )
