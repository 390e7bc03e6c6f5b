"""The price of verdicts: the replicates and core-hours that would decide each undecided claim."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from recompose.costs import Costs
from recompose.errors import PlanError
from recompose.inference.power import SampleSize, sample_size, sample_size_range
from recompose.papers.declaration import Paper
from recompose.params.mistakes import nearest
from recompose.plan import Recipe, closure
from recompose.report.claims.paper_tests import compare_all, open_tests, planned_claims
from recompose.report.claims.price import OpenTests, question_of
from recompose.report.claims.verdicts import UNDECIDED, TestedComparison, comparisons_of, deciding_comparison
from recompose.report.published import PublishedLineage
from recompose.report.results import StoredResults
from recompose.workspace import Workspace

MEASURED, SIMILAR, PILOT, GIVEN, UNKNOWN = "measured", "similar", "pilot", "given", "unknown"  # sources of a spread
SHARED = ("corpora", "backbones")  # what a replicate does not make anew
RANGED_BELOW = 5  # replicates: the spread of fewer is so uncertain that the price is given as a range, too

Range = tuple[SampleSize, SampleSize]


@dataclass(frozen=True)
class Spread:
    """The standard deviation of a difference over replicates."""

    value: float | None
    source: str


@dataclass(frozen=True)
class ComparisonPrice:
    """The replicates that decide an undecided comparison with 80 % probability."""

    text: str
    methods: tuple[str, ...]
    difference: float | None  # measured; None: not measured
    margin: float
    n: int
    spread: Spread
    as_measured: SampleSize | None  # None: unknown; where nothing was measured, as printed: twice the margin
    if_zero: SampleSize | None
    range_as_measured: Range | None = None  # with few replicates: at the ends of the spread's 80 % interval
    range_if_zero: Range | None = None
    is_kept: bool = False  # the claim is that the difference is within the margin

    @property
    def contradicts(self) -> bool:
        """True if a difference as measured is not what the claim says."""
        if self.difference is None:
            return False
        return abs(self.difference) > self.margin if self.is_kept else self.difference < self.margin


Priced = tuple[ComparisonPrice, SampleSize | None]  # a comparison, and the replicates that decide it


@dataclass(frozen=True)
class ClaimPrice:
    """A claim on a benchmark, with the price of its undecided comparisons."""

    paper: str
    claim: str
    benchmark: str
    verdict: str
    comparisons: tuple[ComparisonPrice, ...]  # the undecided ones; none: it is decided
    core_seconds_as_measured: float | None = None  # runs that several comparisons share count once
    core_seconds_if_zero: float | None = None


def price_claims(
    work: Workspace, papers: Iterable[Paper], claim: str | None = None, spread: float | None = None
) -> list[ClaimPrice]:
    """Return the price of each claim of some papers on each benchmark of the profile.

    Args:
        work: the workspace.
        papers: the papers.
        claim: the only claim to price.
        spread: the standard deviation of all differences; None: as measured here, or in other profiles' reports.

    Raises:
        PlanError: no paper has the claim.
    """
    papers = list(papers)
    names = [name for paper in papers for name in paper.claims]
    if claim is not None and claim not in names:
        raise PlanError(f"no claim is called {claim!r}{nearest(claim, names)}", code="unknown-claim", place=claim)
    prices, costs = list[ClaimPrice](), Costs.of(work, work.plan)
    for paper in papers:
        pricing = _Pricing(work, costs, StoredResults(work), paper, spread)
        for benchmark in paper.benchmarks_among(work.plan.benchmarks(paper.track)):
            prices += pricing.claims(benchmark, claim)
    return prices


@dataclass(frozen=True)
class _Pricing:
    """The pricing of the claims of a paper."""

    work: Workspace
    costs: Costs
    results: StoredResults
    paper: Paper
    given: float | None

    def claims(self, benchmark: str, only: str | None) -> Iterator[ClaimPrice]:
        """Yield the price of each claim on a benchmark."""
        tested = compare_all(self.results, self.paper, benchmark)
        remaining = open_tests(self.results, self.paper, benchmark, tested)
        for name, claim in planned_claims(self.results, self.paper, benchmark).items():
            if only not in (None, name):
                continue
            comparisons = [tested[comparison] for comparison in comparisons_of(claim)]
            verdict = deciding_comparison(comparisons).verdict
            if verdict != UNDECIDED:
                yield ClaimPrice(self.paper.name, name, benchmark, verdict, ())
                continue
            prices = tuple(
                self._price(name, comparison, tested.values(), remaining)
                for comparison in comparisons
                if comparison.verdict == UNDECIDED
            )
            yield ClaimPrice(
                self.paper.name,
                name,
                benchmark,
                verdict,
                prices,
                self._core_seconds(benchmark, [(price, price.as_measured) for price in _decisive(prices)]),
                self._cheapest(benchmark, [(price, price.if_zero) for price in prices]),
            )

    def _price(
        self, claim: str, tested: TestedComparison, others: Iterable[TestedComparison], open_tests: OpenTests
    ) -> ComparisonPrice:
        comparison, result = tested.comparison, tested.difference
        spread = self._spread(claim, tested, others)
        expected = 2 * comparison.margin if result.value is None else result.value
        if result.value is None and comparison.is_kept:
            expected = 0.0
        needed: tuple[SampleSize | None, SampleSize | None] = (None, None)
        ranges: tuple[Range | None, Range | None] = (None, None)
        looks = self.results.looks(self.paper.track)
        if spread.value:
            question = question_of(comparison, open_tests, spread.value)
            needed = sample_size(question, expected, looks, result.n), sample_size(question, 0.0, looks, result.n)
            if spread.source == MEASURED and result.n < RANGED_BELOW:
                ranges = (
                    sample_size_range(question, expected, result.n, looks),
                    sample_size_range(question, 0.0, result.n, looks),
                )
        return ComparisonPrice(
            f"{comparison.higher} - {comparison.lower}" if not comparison.lower_metric else tested.metrics_text,
            tuple(comparison.methods),
            result.value,
            comparison.margin,
            result.n,
            spread,
            *needed,
            *ranges,
            is_kept=comparison.is_kept,
        )

    def _spread(self, claim: str, tested: TestedComparison, others: Iterable[TestedComparison]) -> Spread:
        """Return the spread of a comparison: given, its own, that of others in the same metric, or those of a pilot."""
        if self.given is not None:
            return Spread(self.given, GIVEN)
        if tested.difference.spread:
            return Spread(tested.difference.spread, MEASURED)
        metrics = tested.comparison.metrics
        similar = [
            other.difference.spread
            for other in others
            if other.difference.spread and other.comparison.metrics == metrics
        ]
        if similar:
            return Spread(median(similar), SIMILAR)
        if claim in self._pilot:
            return Spread(self._pilot[claim], PILOT)
        pilots = [
            self._pilot[name]
            for name, other in self.paper.claims.items()
            if name in self._pilot and set(other.metrics) == set(metrics)
        ]
        return Spread(median(pilots), PILOT) if pilots else Spread(None, UNKNOWN)

    @cached_property
    def _pilot(self) -> Mapping[str, float]:
        """The spread of each claim's deciding comparison in reports: the profile's own, or those of another one."""
        reports, spreads = self.work.reports, dict[str, float]()
        for folder in sorted(reports.parent.glob("*/"), key=lambda folder: (folder == reports, folder)):
            published = PublishedLineage.read(folder, [self.paper])
            for name in self.paper.claims_tables:
                lineage = published.lineages.get(f"{self.paper.name}/{name}")
                cells = lineage.cells if lineage else []
                spreads |= {cell.row: cell.value for cell in cells if cell.part == "spread" and cell.value}
        return spreads

    def _cheapest(self, benchmark: str, prices: Iterable[Priced]) -> float | None:
        """Return the time of the comparison that is decided first: one negligible comparison decides a claim."""
        times = [self._core_seconds(benchmark, [priced]) for priced in prices]
        return min((seconds for seconds in times if seconds is not None), default=None)

    def _core_seconds(self, benchmark: str, prices: Iterable[Priced]) -> float | None:
        """Return the time of the replicates that all these comparisons need, or None if one is not known."""
        missing: dict[str, int] = {}
        for price, needed in prices:
            if needed is None or needed.replicates is None:
                return None
            for method in price.methods:
                more = needed.replicates - (0 if needed.is_new else self._complete(benchmark, method))
                missing[method] = max(missing.get(method, 0), more)
        return self._seconds_of(benchmark, missing)

    def _complete(self, benchmark: str, method: str) -> int:
        return len(self.results.complete(self.paper.track, method, benchmark))

    def _seconds_of(self, benchmark: str, missing: Mapping[str, int]) -> float | None:
        """Return the time of replicates of methods, or None if a time is not known."""
        seconds: dict[str, float] = {}
        for method, more in missing.items():
            planned = self.results.planned(self.paper.track, method, benchmark)
            for recipe in replicate_recipes(planned[0]):
                estimate = self.costs.estimate(recipe)
                if estimate is None:
                    return None
                seconds[recipe.digest] = max(seconds.get(recipe.digest, 0.0), more * estimate.seconds)
        return sum(seconds.values())


def _decisive(prices: tuple[ComparisonPrice, ...]) -> list[ComparisonPrice]:
    """Return the comparisons that decide a claim if differences are as measured: the cheapest one that contradicts it,
    or all if none does.
    """
    counts = {
        price: price.as_measured.replicates
        for price in prices
        if price.contradicts and price.as_measured and price.as_measured.replicates
    }
    return [min(counts, key=lambda price: counts[price])] if counts else list(prices)


def replicate_recipes(evaluation: Recipe) -> list[Recipe]:
    """Return the recipes that a replicate of an evaluation makes anew: its data, run and the evaluation itself."""
    return [recipe for recipe in closure([evaluation]) if recipe.kind not in SHARED]


def affordable(prices: Iterable[ClaimPrice], hours: float) -> list[ClaimPrice]:
    """Return the claims that would be decided within so many core-hours, the cheapest first.

    Each claim is paid for on its own, so that runs that claims share count for each: a cautious answer.
    """
    known = [price for price in prices if price.core_seconds_as_measured is not None]
    chosen, left = [], 3600 * hours
    for price in sorted(known, key=lambda price: price.core_seconds_as_measured or 0.0):
        left -= price.core_seconds_as_measured or 0.0
        if left < 0:
            break
        chosen.append(price)
    return chosen
