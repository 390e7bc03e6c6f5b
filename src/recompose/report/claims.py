"""Tests of claims: sentences that papers draw from their artifacts, checked against the measured values.

A claim is one or several comparisons. A comparison is a difference of a metric of two methods, of two metrics of one
method, or of two differences of methods, that must be above zero, or within a margin of it. It is paired by seed if
both sides share at least two seeds; otherwise it is Welch's test if each side has two values or more. A method whose
numbers are the same for every seed is a constant. One run of a method that depends on its seed decides nothing.

All distinct comparisons of a paper on a benchmark are corrected for each other (Holm). A claim is supported here if all
of its comparisons are, reversed if one of them is, and undecided otherwise, with the reason.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite, nan
from statistics import mean

from recompose.exhibits.cells import Cell
from recompose.exhibits.metric import Metric
from recompose.exhibits.results import Results
from recompose.papers.declaration import Claim, Gain, Paper
from recompose.plan import Recipe
from recompose.report.inference import ALPHA, MeanWithInterval, holm, paired, welch
from recompose.tracks import TRACKS

SUPPORTED, REVERSED, UNDECIDED = VERDICTS = ("supported here", "reversed here", "undecided")
NOT_RUN, ONE_SEED = "not run", "one seed"
PARTS = ("verdict", "estimate", "95 % interval", "n", "adjusted p")  # the cells of a claim
MAX_DIGITS = 6


@dataclass(frozen=True)
class ClaimComparison:
    """A difference that is tested: two claims that rest on the same one test it once."""

    metric: str
    higher: str
    lower: str  # the same one, where two metrics of it are compared
    beyond: str | None = None
    gain: Gain | None = None
    within: float | None = None
    lower_metric: str | None = None

    @property
    def metrics(self) -> list[str]:
        """The metrics in it."""
        return [metric for metric in (self.metric, self.lower_metric or self.beyond) if metric]

    @property
    def methods(self) -> list[str]:
        """The methods and variants in it."""
        gain = [self.gain.higher, self.gain.lower] if self.gain else []
        return list(dict.fromkeys([self.higher, self.lower, *gain]))


def comparisons_of(claim: Claim) -> list[ClaimComparison]:
    """Return the comparisons that a claim rests on."""
    if claim.lower_metrics:
        return [
            ClaimComparison(claim.metric, claim.higher, claim.higher, within=claim.within, lower_metric=metric)
            for metric in claim.lower_metrics
        ]
    return [
        ClaimComparison(claim.metric, claim.higher, lower, claim.beyond, claim.gain, claim.within)
        for lower in claim.lower
    ]


@dataclass(frozen=True)
class Side:
    """One side of a comparison: the values of a method by seed, or the differences of two methods."""

    label: str
    values: Mapping[int, float]
    is_constant: bool = False  # every seed gives the same value, so it was run once
    parts: "tuple[Side, Side] | None" = None  # of a difference

    def at(self, seeds: Iterable[int]) -> "Side":
        """Return this side restricted to some seeds; a constant has its value at each of them."""
        values = {seed: self._value(seed) for seed in seeds}
        parts = (self.parts[0].at(values), self.parts[1].at(values)) if self.parts else None
        return Side(self.label, values, self.is_constant, parts)

    def _value(self, seed: int) -> float:
        return next(iter(self.values.values())) if self.is_constant else self.values[seed]

    @property
    def mean(self) -> float:
        """The mean over its seeds."""
        return mean(self.values.values())

    @property
    def n(self) -> int:
        """The number of different runs."""
        return min(1, len(self.values)) if self.is_constant else len(self.values)

    def text(self, digits: int) -> str:
        """Return its mean with the number of runs."""
        if self.parts:
            first, second = (f"{part.label} {_number(part.mean, digits)}" for part in self.parts)
            return f"({first} - {second}) ({self.n})"
        return f"{self.label} {_number(self.mean, digits)} ({self.n})"


def common_seeds(first: Side, second: Side) -> list[int]:
    """Return the seeds at which both sides have a value."""
    if first.is_constant or second.is_constant:
        return sorted(second.values if first.is_constant else first.values)
    return sorted(first.values.keys() & second.values.keys())


def subtract(first: Side, second: Side, label: str = "") -> Side:
    """Return the differences of two sides at their common seeds."""
    seeds = common_seeds(first, second) if first.values and second.values else []
    if seeds:
        first, second = first.at(seeds), second.at(seeds)
    values = {seed: first.values[seed] - second.values[seed] for seed in seeds}
    return Side(label, values, first.is_constant and second.is_constant, (first, second))


@dataclass(frozen=True)
class Difference:
    """The result of a comparison before the correction for the other ones."""

    higher: Side
    lower: Side
    estimate: MeanWithInterval | None  # None if nothing was run; without an interval if there are too few seeds
    by_seed: tuple[float, ...] = ()  # a difference for each seed, where it is paired
    obstacle: str = ""  # the reason why there is no test

    @property
    def is_tested(self) -> bool:
        """Return True if there is a p."""
        return self.estimate is not None and not self.obstacle

    @property
    def n(self) -> int:
        """The number of pairs, or of the runs of the side with fewer runs."""
        return len(self.by_seed) or min(self.higher.n, self.lower.n)


def difference(higher: Side, lower: Side, margin: float | None = None) -> Difference:
    """Test whether one side is higher than the other, or within a margin of it."""
    if not higher.values or not lower.values:
        return Difference(higher, lower, None, obstacle=_missing_values_reason(higher, lower))
    seeds = common_seeds(higher, lower)
    if len(seeds) < 2 and min(higher.n, lower.n) > 1:
        estimate = welch(list(higher.values.values()), list(lower.values.values()), margin)
        return Difference(higher, lower, estimate)
    if seeds:
        higher, lower = higher.at(seeds), lower.at(seeds)
    by_seed = tuple(higher.values[seed] - lower.values[seed] for seed in seeds)
    if len(seeds) > 1:
        estimate = paired(list(higher.values.values()), list(lower.values.values()), margin)
        return Difference(higher, lower, estimate, by_seed)
    obstacle = "no seeds to vary" if higher.is_constant and lower.is_constant else ONE_SEED
    estimate = MeanWithInterval(higher.mean - lower.mean, -inf, inf, nan)
    return Difference(higher, lower, estimate, by_seed, obstacle)


def _missing_values_reason(*sides: Side) -> str:
    """Return why a side has no values: something was not run, or the parts of a gain share no seed."""
    runs = [part for side in sides for part in (side.parts or (side,))]
    return "no common seeds" if all(part.values for part in runs) else NOT_RUN


@dataclass(frozen=True)
class TestedComparison:
    """The result of a comparison on a benchmark, corrected for the other ones."""

    comparison: ClaimComparison
    difference: Difference
    metric: Metric
    labels: tuple[str, ...]  # of its metrics
    adjusted: float | None = None  # p, corrected
    family_size: int = 0  # the number of comparisons that p is corrected for

    @property
    def verdict(self) -> str:
        """Return one of: supported here, reversed here, undecided."""
        estimate = self.difference.estimate
        if estimate is None or self.adjusted is None or self.adjusted >= ALPHA:
            return UNDECIDED
        within = self.comparison.within
        is_supported = estimate.value > 0 if within is None else abs(estimate.value) < within
        return SUPPORTED if is_supported else REVERSED

    @property
    def reason(self) -> str:
        """The reason why it is undecided; empty if it is decided."""
        if self.verdict != UNDECIDED:
            return ""
        estimate = self.difference.estimate
        if estimate is None or not self.difference.is_tested:
            return self.difference.obstacle
        if estimate.p >= ALPHA:
            return "interval spans zero" if self.comparison.within is None else "interval spans the margin"
        return f"not after correction for {self.family_size} comparisons"

    @property
    def verdict_text(self) -> str:
        """The verdict with its reason."""
        return f"{self.verdict} ({self.reason})" if self.reason else self.verdict

    @property
    def metrics_text(self) -> str:
        """The compared metrics: "AUC", "U beyond S", or of two metrics of one method "first - last"."""
        return (" - " if self.comparison.lower_metric else " beyond ").join(self.labels)

    @property
    def unit(self) -> str:
        """The unit of the difference; points for percentages."""
        return "points" if self.metric.unit == "%" else self.metric.unit

    @cached_property
    def digits(self) -> int:
        """The number of digits to print: no number other than zero is printed as zero."""
        estimate, digits = self.difference.estimate, self.metric.digits
        numbers = [abs(number) for number in (estimate.value, estimate.low, estimate.high)] if estimate else []
        while digits < MAX_DIGITS and any(0 < number < 0.5 * 10**-digits for number in numbers):
            digits += 1
        return digits

    @property
    def estimate_text(self) -> str:
        """Both sides, and their difference: "AUC: a 23.7 (5) - b 26.1 (5) = -2.4 points"."""
        result = self.difference
        if result.estimate is None:
            return result.obstacle
        sides = " - ".join(side.text(self.digits) for side in (result.higher, result.lower))
        margin = "" if self.comparison.within is None else f", to be within {self.comparison.within:g}"
        value = _number(result.estimate.value, self.digits, "+")
        label = f"{self.labels[0]}: " if len(self.labels) == 1 else ""
        return f"{label}{sides} = {value} {self.unit}".rstrip() + margin

    @property
    def interval_text(self) -> str:
        """The interval."""
        estimate = self.difference.estimate
        if estimate is None or not isfinite(estimate.low):
            return f"unknown: {self.difference.obstacle}"
        low, high = (_number(end, self.digits, "+") for end in (estimate.low, estimate.high))
        return f"{low} to {high}"

    @property
    def n_text(self) -> str:
        """The number of pairs, or of the runs of each side."""
        result = self.difference
        if result.estimate is None:
            return "0"
        if result.higher.is_constant != result.lower.is_constant:
            return f"{result.n}, against a constant"
        if result.by_seed:
            return f"{result.n} {'pair' if result.n == 1 else 'pairs'}"
        return f"{result.higher.n} and {result.lower.n}"

    @property
    def p_text(self) -> str:
        """The corrected p."""
        if self.adjusted is None:
            return "-"
        return "< 0.001" if self.adjusted < 0.001 else f"{self.adjusted:.3f}"


def _number(value: float, digits: int, sign: str = "") -> str:
    """Return a number with so many digits; zero has no sign."""
    text = f"{value:{sign}.{digits}f}"
    return f"{0:.{digits}f}" if float(text) == 0 else text


# a paper on a benchmark


def planned_claims(results: Results, paper: Paper, benchmark: str) -> dict[str, Claim]:
    """Return the claims whose methods are all planned on a benchmark."""
    return {
        row: claim
        for row, claim in paper.claims.items()
        if all(results.planned(paper.track, method, benchmark) for method in claim.methods)
    }


def compare_all(results: Results, paper: Paper, benchmark: str) -> dict[ClaimComparison, TestedComparison]:
    """Test all distinct comparisons of a paper's claims on a benchmark, corrected for each other."""
    claims = planned_claims(results, paper, benchmark).values()
    distinct = dict.fromkeys(comparison for claim in claims for comparison in comparisons_of(claim))
    differences = {comparison: _difference(results, paper, comparison, benchmark) for comparison in distinct}
    p_values = {
        comparison: result.estimate.p
        for comparison, result in differences.items()
        if result.estimate and result.is_tested
    }
    adjusted = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    track = TRACKS[paper.track]
    return {
        comparison: TestedComparison(
            comparison,
            result,
            track.description_of(comparison.metric),
            tuple(_label(paper, metric) for metric in comparison.metrics),
            adjusted.get(comparison),
            len(p_values),
        )
        for comparison, result in differences.items()
    }


def _label(paper: Paper, metric: str) -> str:
    """Return the label of a metric, or its name without the split if it has none."""
    labels = {name: label for label, name in TRACKS[paper.track].compared.items()}
    return labels.get(metric, metric.partition("/")[2].replace("/", " ").replace("_", " "))


def _difference(results: Results, paper: Paper, comparison: ClaimComparison, benchmark: str) -> Difference:
    def side(method: str, metric: str) -> Side:
        label = f"{_label(paper, metric)} of {method}" if len(comparison.metrics) > 1 else method
        return _side(results, paper, comparison, method, metric, benchmark, label)

    metric = comparison.metric
    higher = side(comparison.higher, metric)
    lower = side(comparison.lower, comparison.lower_metric or metric)
    if comparison.beyond:
        subtrahend = subtract(side(comparison.higher, comparison.beyond), side(comparison.lower, comparison.beyond))
    elif comparison.gain:
        subtrahend = subtract(side(comparison.gain.higher, metric), side(comparison.gain.lower, metric))
    else:
        return difference(higher, lower, comparison.within)
    return difference(subtract(higher, lower), subtrahend, comparison.within)


def _side(
    results: Results, paper: Paper, comparison: ClaimComparison, method: str, metric: str, benchmark: str, label: str
) -> Side:
    """Return the values of a method, in the metric's unit; NaN and infinity count as not measured."""
    factor = TRACKS[paper.track].description_of(metric).factor
    measured = {
        int(evaluation.labels["seed"]): factor * results.metrics(evaluation).get(metric, nan)
        for evaluation in results.complete(paper.track, method, benchmark)
    }
    values = {seed: value for seed, value in sorted(measured.items()) if isfinite(value)}
    planned = {name: results.planned(paper.track, name, benchmark) for name in comparison.methods}
    return Side(label, values, _is_constant(paper, planned[method], planned))


def _is_constant(paper: Paper, planned: list[Recipe], compared: Mapping[str, list[Recipe]]) -> bool:
    """Return True if no seed changes a method: it is run once, and all compared methods share the data."""
    evaluations = [evaluation for recipes in compared.values() for evaluation in recipes]
    data = {evaluation.needs["data"].digest for evaluation in evaluations if "data" in evaluation.needs}
    return len(planned) == 1 and len(data) <= 1 and not TRACKS[paper.track].depends_on_seed(planned[0])


def deciding_comparison(comparisons: list[TestedComparison]) -> TestedComparison:
    """Return the comparison that decides a claim.

    Reversed comes before undecided before supported. Among equal ones, one that was not run comes first, and then the
    one with the lowest interval, which is infinite without a test.
    """

    def rank(comparison: TestedComparison) -> tuple[int, tuple[float, ...]]:
        order, estimate = (REVERSED, UNDECIDED, SUPPORTED), comparison.difference.estimate
        return order.index(comparison.verdict), (estimate.low,) if estimate else ()

    return min(comparisons, key=rank)


# cells


def verdicts(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """Yield the cells of a table of claims: by benchmark a verdict, and the numbers of the deciding comparison."""
    for benchmark in results.benchmarks(paper.track):
        tested, claims = compare_all(results, paper, benchmark), planned_claims(results, paper, benchmark)
        all_methods = (method for claim in claims.values() for method in claim.methods)
        family = Basis.collect(results, paper, benchmark, all_methods)
        for row, claim in claims.items():
            claim_basis = Basis.collect(results, paper, benchmark, claim.methods)
            decisive = deciding_comparison([tested[comparison] for comparison in comparisons_of(claim)])
            for part, text, value in _cell_texts(decisive):
                # corrected values rest on all comparisons
                basis = family if part in ("verdict", "adjusted p") else claim_basis
                by_seed = decisive.difference.by_seed if part == "estimate" else ()
                yield basis.cell(row, part, text, value, decisive.difference.n, claim.metric, by_seed)


def _cell_texts(comparison: TestedComparison) -> Iterator[tuple[str, str, float | None]]:
    """Yield part, text and value of each cell of a claim."""
    estimate = comparison.difference.estimate
    yield "verdict", comparison.verdict_text, None
    yield "estimate", comparison.estimate_text, estimate.value if estimate else None
    yield "95 % interval", comparison.interval_text, None
    yield "n", comparison.n_text, None
    yield "adjusted p", comparison.p_text, comparison.adjusted


@dataclass(frozen=True)
class Basis:
    """The evaluations that cells of claims rest on: those of some methods on a benchmark, complete and planned."""

    benchmark: str
    methods: tuple[str, ...]
    complete: tuple[str, ...]
    planned: tuple[str, ...]

    @classmethod
    def collect(cls, results: Results, paper: Paper, benchmark: str, methods: Iterable[str]) -> "Basis":
        """Collect the evaluations of some methods; several methods may share an evaluation."""
        names = tuple(dict.fromkeys(methods))
        planned = {
            evaluation.key: evaluation for name in names for evaluation in results.planned(paper.track, name, benchmark)
        }
        complete = tuple(key for key, evaluation in planned.items() if results.is_complete(evaluation))
        return cls(benchmark, names, complete, tuple(planned))

    def cell(
        self,
        row: str,
        part: str,
        text: str,
        value: float | None,
        n: int,
        metric: str,
        values: tuple[float, ...] = (),
    ) -> Cell:
        """Return a cell that rests on these evaluations."""
        return Cell(
            row,
            f"{self.benchmark} {part}",
            "measured",
            text,
            value,
            n=n,
            made_from=self.complete,
            expected=self.planned,
            values=values,
            names=self.methods,
            benchmark=self.benchmark,
            metric=metric,
            part=part,
        )


def scope_text(benchmark: str, is_synthetic: bool, counts: Iterable[int]) -> str:
    """Return the data of verdicts and their number of seeds, in words."""
    positive = sorted({count for count in counts if count})
    seeds = " to ".join(str(count) for count in dict.fromkeys((positive[0], positive[-1]))) if positive else "no"
    return f"on {benchmark}{', synthetic' if is_synthetic else ''}, {seeds} {'seed' if seeds == '1' else 'seeds'}"


def verdict_counts(texts: Iterable[str]) -> dict[str, int]:
    """Return the number of verdicts of each kind, given the texts of their cells."""
    counts = Counter(text.partition(" (")[0] for text in texts)
    return {verdict: counts[verdict] for verdict in VERDICTS}


def summary(results: Results, paper: Paper, cells: Iterable[Cell]) -> str:
    """Return the number of verdicts of each kind, a sentence for each benchmark."""
    by_benchmark: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.part == "verdict":
            by_benchmark.setdefault(cell.benchmark, []).append(cell)
    sentences = []
    for benchmark, verdict_cells in by_benchmark.items():
        is_synthetic = TRACKS[paper.track].is_synthetic(results.data(paper.track, benchmark))
        scope = scope_text(benchmark, is_synthetic, (cell.n or 0 for cell in verdict_cells))
        counts = verdict_counts(cell.text for cell in verdict_cells)
        counts_text = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        sentences.append(f"{scope[0].upper()}{scope[1:]}: {counts_text}.")
    return " ".join(sentences)
