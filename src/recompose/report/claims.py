"""Claims: sentences that papers draw from their artifacts, put to the test on what was measured here.

A claim is one or several comparisons. A comparison is a difference of a metric of two methods, of two metrics of one
method, or of two differences of methods, that has to be above zero, or within a margin of it. It is paired by seed
where both sides have at least two seeds in common; Welch's test where they have not, but two values or more each. A
method whose numbers are the same for every seed is a constant. One run of a method that depends on its seed decides
nothing.

All distinct comparisons of a paper on a benchmark are corrected for each other (Holm). A claim is supported here if all
of its comparisons are, reversed if one of them is, and undecided otherwise, which is said with the reason.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite, nan
from statistics import mean

from recompose.papers.declaration import Claim, Gain, Paper
from recompose.plan import Recipe
from recompose.report.cells import Cell
from recompose.report.inference import ALPHA, Estimate, holm, paired, welch
from recompose.report.results import Results
from recompose.tracks import TRACKS
from recompose.tracks.track import Metric

SUPPORTED, REVERSED, UNDECIDED = VERDICTS = ("supported here", "reversed here", "undecided")
NOT_RUN, ONE_SEED = "not run", "one seed"
PARTS = ("verdict", "estimate", "95 % interval", "n", "adjusted p")  # what the cells of a claim say
MOST_DIGITS = 6


@dataclass(frozen=True)
class Comparison:
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
        return [each for each in (self.metric, self.lower_metric or self.beyond) if each]

    @property
    def methods(self) -> list[str]:
        """The methods and variants in it."""
        return list(
            dict.fromkeys([self.higher, self.lower, *([self.gain.higher, self.gain.lower] if self.gain else [])])
        )


def comparisons_of(claim: Claim) -> list[Comparison]:
    """The comparisons that a claim rests on."""
    if claim.lower_metrics:
        return [
            Comparison(claim.metric, claim.higher, claim.higher, within=claim.within, lower_metric=metric)
            for metric in claim.lower_metrics
        ]
    return [
        Comparison(claim.metric, claim.higher, lower, claim.beyond, claim.gain, claim.within) for lower in claim.lower
    ]


@dataclass(frozen=True)
class Side:
    """One side of a comparison: the values of a method by seed, or the differences of two of them."""

    label: str
    values: Mapping[int, float]
    is_constant: bool = False  # another seed gives the same, so it was run once
    parts: "tuple[Side, Side] | None" = None  # of a difference

    def at(self, seeds: Iterable[int]) -> "Side":
        """The same at some seeds alone; a constant is there at all of them."""
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
        """How many different runs of it count."""
        return min(1, len(self.values)) if self.is_constant else len(self.values)

    def text(self, digits: int) -> str:
        """Its mean and how many runs that is of."""
        if self.parts:
            first, second = (f"{part.label} {_number(part.mean, digits)}" for part in self.parts)
            return f"({first} - {second}) ({self.n})"
        return f"{self.label} {_number(self.mean, digits)} ({self.n})"


def common_seeds(first: Side, second: Side) -> list[int]:
    """The seeds at which both sides have a value."""
    if first.is_constant or second.is_constant:
        return sorted(second.values if first.is_constant else first.values)
    return sorted(first.values.keys() & second.values.keys())


def minus(first: Side, second: Side, label: str = "") -> Side:
    """The differences of two sides at common seeds."""
    seeds = common_seeds(first, second) if first.values and second.values else []
    if seeds:
        first, second = first.at(seeds), second.at(seeds)
    values = {seed: first.values[seed] - second.values[seed] for seed in seeds}
    return Side(label, values, first.is_constant and second.is_constant, (first, second))


@dataclass(frozen=True)
class Difference:
    """What was found of a comparison, before it is corrected for others."""

    higher: Side
    lower: Side
    estimate: Estimate | None  # none where nothing was run; without an interval where seeds are lacking
    each: tuple[float, ...] = ()  # by seed, where it is paired
    lacking: str = ""  # why there is no test

    @property
    def is_tested(self) -> bool:
        """Whether there is a p."""
        return self.estimate is not None and not self.lacking

    @property
    def n(self) -> int:
        """How many pairs, or runs of the side that has fewer, there are."""
        return len(self.each) or min(self.higher.n, self.lower.n)


def difference(higher: Side, lower: Side, margin: float | None = None) -> Difference:
    """How much higher one side is."""
    if not higher.values or not lower.values:
        return Difference(higher, lower, None, lacking=_why_nothing(higher, lower))
    seeds = common_seeds(higher, lower)
    if len(seeds) < 2 and min(higher.n, lower.n) > 1:
        estimate = welch(list(higher.values.values()), list(lower.values.values()), margin)
        return Difference(higher, lower, estimate)
    if seeds:
        higher, lower = higher.at(seeds), lower.at(seeds)
    each = tuple(higher.values[seed] - lower.values[seed] for seed in seeds)
    if len(seeds) > 1:
        return Difference(
            higher, lower, paired(list(higher.values.values()), list(lower.values.values()), margin), each
        )
    lacking = "no seeds to vary" if higher.is_constant and lower.is_constant else ONE_SEED
    return Difference(higher, lower, Estimate(higher.mean - lower.mean, -inf, inf, nan), each, lacking)


def _why_nothing(*sides: Side) -> str:
    """Whether something was not run, or the parts of a gain have no seed in common."""
    runs = [part for side in sides for part in (side.parts or (side,))]
    return "no common seeds" if all(part.values for part in runs) else NOT_RUN


@dataclass(frozen=True)
class Tested:
    """What came of a comparison on a benchmark."""

    comparison: Comparison
    difference: Difference
    about: Metric
    labels: tuple[str, ...]  # of its metrics
    adjusted: float | None = None  # p, corrected
    of: int = 0  # how many comparisons it is corrected for

    @property
    def verdict(self) -> str:
        """Supported here, reversed here, or undecided."""
        estimate = self.difference.estimate
        if estimate is None or self.adjusted is None or self.adjusted >= ALPHA:
            return UNDECIDED
        within = self.comparison.within
        holds = estimate.value > 0 if within is None else abs(estimate.value) < within
        return SUPPORTED if holds else REVERSED

    @property
    def reason(self) -> str:
        """Why it is undecided; empty where it is not."""
        if self.verdict != UNDECIDED:
            return ""
        estimate = self.difference.estimate
        if estimate is None or not self.difference.is_tested:
            return self.difference.lacking
        if estimate.p >= ALPHA:
            return "interval spans zero" if self.comparison.within is None else "interval spans the margin"
        return f"not after correction for {self.of} comparisons"

    @property
    def said(self) -> str:
        """The verdict with its reason."""
        return f"{self.verdict} ({self.reason})" if self.reason else self.verdict

    @property
    def metrics_text(self) -> str:
        """What is measured: "AUC", "U beyond S", or of two metrics of one method "first - last"."""
        return (" - " if self.comparison.lower_metric else " beyond ").join(self.labels)

    @property
    def unit(self) -> str:
        """The unit of the difference: of percentages, points."""
        return "points" if self.about.unit == "%" else self.about.unit

    @cached_property
    def digits(self) -> int:
        """How many digits show it: no number that is not zero is printed as zero."""
        estimate, digits = self.difference.estimate, self.about.digits
        numbers = [abs(each) for each in (estimate.value, estimate.low, estimate.high)] if estimate else []
        while digits < MOST_DIGITS and any(0 < number < 0.5 * 10**-digits for number in numbers):
            digits += 1
        return digits

    @property
    def estimate_text(self) -> str:
        """Both sides, and their difference: "AUC: a 23.7 (5) - b 26.1 (5) = -2.4 points"."""
        found = self.difference
        if found.estimate is None:
            return found.lacking
        sides = " - ".join(side.text(self.digits) for side in (found.higher, found.lower))
        margin = "" if self.comparison.within is None else f", to be within {self.comparison.within:g}"
        value = _number(found.estimate.value, self.digits, "+")
        label = f"{self.labels[0]}: " if len(self.labels) == 1 else ""
        return f"{label}{sides} = {value} {self.unit}".rstrip() + margin

    @property
    def interval_text(self) -> str:
        """The interval."""
        estimate = self.difference.estimate
        if estimate is None or not isfinite(estimate.low):
            return f"unknown: {self.difference.lacking}"
        low, high = (_number(each, self.digits, "+") for each in (estimate.low, estimate.high))
        return f"{low} to {high}"

    @property
    def n_text(self) -> str:
        """How many pairs, or runs of each side."""
        found = self.difference
        if found.estimate is None:
            return "0"
        if found.higher.is_constant != found.lower.is_constant:
            return f"{found.n}, against a constant"
        return (
            f"{found.n} {'pair' if found.n == 1 else 'pairs'}"
            if found.each
            else f"{found.higher.n} and {found.lower.n}"
        )


def _number(value: float, digits: int, sign: str = "") -> str:
    """A number with so many digits; zero has no sign."""
    text = f"{value:{sign}.{digits}f}"
    return f"{0:.{digits}f}" if float(text) == 0 else text


# a paper on a benchmark


def asked_claims(results: Results, paper: Paper, benchmark: str) -> dict[str, Claim]:
    """The claims that the profile asks for all methods of there."""
    return {
        row: claim
        for row, claim in paper.claims.items()
        if all(results.planned(paper.track, method, benchmark) for method in claim.methods)
    }


def compare_all(results: Results, paper: Paper, benchmark: str) -> dict[Comparison, Tested]:
    """All distinct comparisons of a paper's claims on a benchmark, corrected for each other."""
    claims = asked_claims(results, paper, benchmark).values()
    distinct = dict.fromkeys(comparison for claim in claims for comparison in comparisons_of(claim))
    found = {comparison: _differ(results, paper, comparison, benchmark) for comparison in distinct}
    tested = {comparison: of.estimate.p for comparison, of in found.items() if of.estimate and of.is_tested}
    adjusted = dict(zip(tested, holm(list(tested.values())), strict=True))
    track = TRACKS[paper.track]
    return {
        comparison: Tested(
            comparison,
            of,
            track.description_of(comparison.metric),
            tuple(_label(paper, each) for each in comparison.metrics),
            adjusted.get(comparison),
            len(tested),
        )
        for comparison, of in found.items()
    }


def _label(paper: Paper, metric: str) -> str:
    """A metric as people call it; one that has no label by its name without the split."""
    labels = {name: label for label, name in TRACKS[paper.track].compared.items()}
    return labels.get(metric, metric.partition("/")[2].replace("/", " ").replace("_", " "))


def _differ(results: Results, paper: Paper, comparison: Comparison, benchmark: str) -> Difference:
    def side(method: str, metric: str) -> Side:
        label = f"{_label(paper, metric)} of {method}" if len(comparison.metrics) > 1 else method
        return _side(results, paper, comparison, method, metric, benchmark, label)

    metric = comparison.metric
    higher = side(comparison.higher, metric)
    lower = side(comparison.lower, comparison.lower_metric or metric)
    if comparison.beyond:
        others = side(comparison.higher, comparison.beyond), side(comparison.lower, comparison.beyond)
    elif comparison.gain:
        others = side(comparison.gain.higher, metric), side(comparison.gain.lower, metric)
    else:
        return difference(higher, lower, comparison.within)
    return difference(minus(higher, lower), minus(*others), comparison.within)


def _side(
    results: Results, paper: Paper, comparison: Comparison, method: str, metric: str, benchmark: str, label: str
) -> Side:
    """The values of a method, in the metric's unit; what is not a number counts as not measured."""
    factor = TRACKS[paper.track].description_of(metric).factor
    measured = {
        int(each.labels["seed"]): factor * results.metrics(each).get(metric, nan)
        for each in results.complete(paper.track, method, benchmark)
    }
    values = {seed: value for seed, value in sorted(measured.items()) if isfinite(value)}
    planned = {each: results.planned(paper.track, each, benchmark) for each in comparison.methods}
    return Side(label, values, _is_constant(paper, planned[method], planned))


def _is_constant(paper: Paper, planned: list[Recipe], compared: Mapping[str, list[Recipe]]) -> bool:
    """Whether no seed changes a method among those that it is compared with: it is run once, and all share the data."""
    data = {each.needs["data"].digest for recipes in compared.values() for each in recipes if "data" in each.needs}
    return len(planned) == 1 and len(data) <= 1 and not TRACKS[paper.track].depends_on_seed(planned[0])


def deciding(tested: list[Tested]) -> Tested:
    """Of a claim's comparisons the one that decides it.

    Reversed comes before undecided before supported, and among equal ones the one that stands worst.
    """

    def standing(each: Tested) -> tuple[int, float]:
        order = (REVERSED, UNDECIDED, SUPPORTED)
        lacking = 0 if each.difference.estimate is None else 1 if each.difference.lacking else 2
        estimate = each.difference.estimate
        return order.index(each.verdict) * 10 + lacking, estimate.low if estimate and isfinite(estimate.low) else -inf

    return min(tested, key=standing)


# cells


def verdicts(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """The cells of a table of claims: by benchmark a verdict, and the numbers of the comparison that decides it."""
    for benchmark in results.benchmarks(paper.track):
        tested, claims = compare_all(results, paper, benchmark), asked_claims(results, paper, benchmark)
        family = Basis.of(results, paper, benchmark, (method for claim in claims.values() for method in claim.methods))
        for row, claim in claims.items():
            own = Basis.of(results, paper, benchmark, claim.methods)
            found = deciding([tested[comparison] for comparison in comparisons_of(claim)])
            for part, text, value in _said(found):
                # what is corrected rests on all comparisons
                basis = family if part in ("verdict", "adjusted p") else own
                each = found.difference.each if part == "estimate" else ()
                yield basis.cell(row, part, text, value, found.difference.n, claim.metric, each)


def _said(found: Tested) -> Iterator[tuple[str, str, float | None]]:
    """What the cells of a claim say: part, text, value."""
    estimate, adjusted = found.difference.estimate, found.adjusted
    p = "-" if adjusted is None else "< 0.001" if adjusted < 0.001 else f"{adjusted:.3f}"
    texts = (found.said, found.estimate_text, found.interval_text, found.n_text, p)
    values = (None, estimate.value if estimate else None, None, None, adjusted)
    yield from zip(PARTS, texts, values, strict=True)


@dataclass(frozen=True)
class Basis:
    """What cells of claims rest on: methods on a benchmark, their complete evaluations, and those that are wanted."""

    benchmark: str
    methods: tuple[str, ...]
    complete: tuple[str, ...]
    planned: tuple[str, ...]

    @classmethod
    def of(cls, results: Results, paper: Paper, benchmark: str, methods: Iterable[str]) -> "Basis":
        """That of some methods."""
        names = tuple(dict.fromkeys(methods))
        planned = {
            each.key: each for name in names for each in results.planned(paper.track, name, benchmark)
        }  # several names may share an evaluation
        complete = tuple(key for key, each in planned.items() if results.is_complete(each))
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
        """A cell that rests on it."""
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


def where(benchmark: str, is_synthetic: bool, counts: Iterable[int]) -> str:
    """On what data verdicts are, and with how many seeds."""
    known = sorted({count for count in counts if count})
    seeds = " to ".join(str(count) for count in dict.fromkeys((known[0], known[-1]))) if known else "no"
    return f"on {benchmark}{', drawn' if is_synthetic else ''}, {seeds} {'seed' if seeds == '1' else 'seeds'}"


def counted(texts: Iterable[str]) -> dict[str, int]:
    """How many verdicts, as cells say them, are of each kind."""
    counts = Counter(text.partition(" (")[0] for text in texts)
    return {verdict: counts[verdict] for verdict in VERDICTS}


def summary(results: Results, paper: Paper, cells: Iterable[Cell]) -> str:
    """How the claims of a table fared, with the data that this is said of."""
    by_benchmark: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.part == "verdict":
            by_benchmark.setdefault(cell.benchmark, []).append(cell)
    sentences = []
    for benchmark, of in by_benchmark.items():
        is_synthetic = TRACKS[paper.track].is_synthetic(results.data(paper.track, benchmark))
        place = where(benchmark, is_synthetic, (cell.n or 0 for cell in of))
        counts = ", ".join(f"{count} {verdict}" for verdict, count in counted(cell.text for cell in of).items())
        sentences.append(f"{place[0].upper()}{place[1:]}: {counts}.")
    return " ".join(sentences)
