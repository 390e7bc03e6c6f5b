"""`recompose power`: the replicates and core-hours that would decide each undecided claim."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

from rich.console import Console

from recompose.claims.price import Price, price_of, spread_range
from recompose.claims.verdicts import UNDECIDED, VERDICTS, ClaimTests, TestedComparison
from recompose.console import line, new_table, pluralize, print_json, print_line, rough_duration
from recompose.costs import Costs
from recompose.errors import PlanError
from recompose.papers.declaration import Claim, Paper
from recompose.params.mistakes import nearest
from recompose.plan import closure
from recompose.tables.lineage import Made, read_values
from recompose.tables.stored_results import StoredResults
from recompose.workspace import Workspace

MEASURED, SIMILAR, GIVEN, UNKNOWN = "measured", "similar", "given", "unknown"  # sources of a spread
SOURCES = {
    SIMILAR: "~ the median of other comparisons in the same metric, where the runs have one replicate",
    GIVEN: "~ as given by --spread",
    UNKNOWN: "? not measured; --spread gives one",
}
ROUGH_BELOW = 5  # replicates: the spread of fewer is rough
NUMBERS = ("diff.", "margin", "spread", "n", "replicates", "core time")
Needed = Iterable[tuple[Sequence[str], int | None]]  # methods, and the replicates that they need; None: unknown


@dataclass(frozen=True)
class ComparisonPrice:
    """The replicates that decide an undecided comparison with 80 % probability."""

    text: str
    methods: tuple[str, ...]
    difference: float | None  # measured; None: not measured
    margin: float
    n: int
    spread: float | None  # the standard deviation of the difference over replicates
    source: str  # of the spread
    price: Price | None  # None: unknown; where nothing was measured, as printed: twice the margin
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
    comparisons: tuple[ComparisonPrice, ...]  # the undecided ones; none: it is decided
    core_seconds_as_measured: float | None = None  # runs that several comparisons share count once
    core_seconds_if_zero: float | None = None


def power(work: Workspace, papers: list[Paper], claim: str | None, spread: float | None, *, as_json: bool) -> None:
    """Print the price of each undecided claim of some papers."""
    prices = price_claims(work, papers, claim, spread)
    if as_json:
        print_json(prices)
        return
    show_power(Console(), prices)
    if not _has_scores(work):
        print_line(Console(), f"Numbers are those in {work.reports_place}: no scores are on this disk.")


def price_claims(
    work: Workspace, papers: Sequence[Paper], only: str | None = None, spread: float | None = None
) -> list[ClaimPrice]:
    """Return the price of each claim of some papers on each benchmark of the profile, by scores on this disk, or where
    there are none, by the numbers in the reports.

    Args:
        work: the workspace.
        papers: the papers.
        only: the only claim to price.
        spread: the standard deviation of all differences; None: as measured.

    Raises:
        PlanError: no paper has the claim.
    """
    names = [name for paper in papers for name in paper.claims]
    if only is not None and only not in names:
        raise PlanError(f"no claim is called {only!r}{nearest(only, names)}", code="unknown-claim", place=only)
    published = None if _has_scores(work) else read_values(work.reports, Made.read(work.reports))
    prices, costs, results = list[ClaimPrice](), Costs.of(work, work.plan), StoredResults(work, published)
    for paper in papers:
        for benchmark in paper.benchmarks_among(work.plan.benchmarks(paper.track)):
            tests = ClaimTests.of(results, paper, benchmark)
            together = partial(_core_seconds, costs, results, paper.track, benchmark)
            for name, claim in tests.claims.items():
                if only in (None, name):
                    prices.append(_price_claim(together, tests, (paper.name, name, benchmark), claim, spread))
    return prices


def _has_scores(work: Workspace) -> bool:
    return any(map(work.store.is_complete, work.plan.of("evaluations")))


def _price_claim(
    together: Callable[[Needed], float | None],
    tests: ClaimTests,
    place: tuple[str, str, str],
    claim: Claim,
    spread: float | None,
) -> ClaimPrice:
    comparisons = tests.of_claim(claim)
    verdict = comparisons[0].verdict
    if verdict != UNDECIDED:
        return ClaimPrice(*place, verdict, ())
    prices = tuple(_price(tested, tests, spread) for tested in comparisons if tested.verdict == UNDECIDED)
    as_measured = together([(comparison.methods, comparison.as_measured) for comparison in _decisive(prices)])
    # one negligible comparison decides a claim: the one that is decided first
    if_zero = (together([(each.methods, each.price.if_zero if each.price else None)]) for each in prices)
    cheapest = min((seconds for seconds in if_zero if seconds is not None), default=None)
    return ClaimPrice(*place, verdict, prices, as_measured, cheapest)


def _price(tested: TestedComparison, tests: ClaimTests, given: float | None) -> ComparisonPrice:
    comparison, result = tested.comparison, tested.difference
    spread, source = _spread(tested, tests, given)
    printed = 0.0 if comparison.is_kept else 2 * comparison.margin
    expected = printed if result.value is None else result.value
    return ComparisonPrice(
        comparison.text if len(comparison.methods) > 1 else tested.metrics_text,
        tuple(comparison.methods),
        result.value,
        comparison.margin,
        result.n,
        spread,
        source,
        price_of(comparison, spread, tests.levels, expected) if spread else None,
        comparison.is_kept,
    )


def _spread(tested: TestedComparison, tests: ClaimTests, given: float | None) -> tuple[float | None, str]:
    """Return the spread of a comparison, given, its own, or that of others in the same metric; and its source."""
    if given is not None:
        return given, GIVEN
    if tested.difference.spread:
        return tested.difference.spread, MEASURED
    similar = [
        other.difference.spread
        for other in tests.comparisons.values()
        if other.difference.spread and other.comparison.metrics == tested.comparison.metrics
    ]
    return (median(similar), SIMILAR) if similar else (None, UNKNOWN)


def _decisive(prices: tuple[ComparisonPrice, ...]) -> list[ComparisonPrice]:
    """Return the comparisons that decide a claim if differences are as measured: the cheapest one that contradicts it,
    or all if none does.
    """
    counts = {case: case.as_measured for case in prices if case.contradicts and case.as_measured}
    return [min(counts, key=lambda each: counts[each])] if counts else list(prices)


def _core_seconds(costs: Costs, results: StoredResults, track: str, benchmark: str, needed: Needed) -> float | None:
    """Return the time of the replicates that methods lack on a benchmark, or None if a number or a time is unknown.

    A replicate makes anew what belongs to a track and is not that of another replicate, as published data is; methods
    share data.
    """
    missing: dict[str, int] = {}
    for methods, replicates in needed:
        if replicates is None:
            return None
        for method in methods:
            complete = len(results.complete(track, method, benchmark))
            missing[method] = max(missing.get(method, 0), replicates - complete)
    seconds: dict[str, float] = {}  # by digest
    for method, more in missing.items():
        planned = results.planned(track, method, benchmark)
        shared = {recipe.digest for recipe in closure(planned[1:2])}
        for recipe in closure(planned[:1]):
            if recipe.track and recipe.digest not in shared:
                if (estimate := costs.estimate(recipe)) is None:
                    return None
                seconds[recipe.digest] = max(seconds.get(recipe.digest, 0.0), more * estimate.seconds)
    return sum(seconds.values())


def show_power(console: Console, prices: list[ClaimPrice]) -> None:
    """Print the price of each undecided claim, and a summary."""
    for place in dict.fromkeys((price.paper, price.benchmark) for price in prices):
        table = new_table([" on ".join(place)], NUMBERS)
        for price in prices:
            for cells in _rows(price) if (price.paper, price.benchmark) == place else ():
                table.add_row(*map(line, cells))
        if table.row_count:
            console.print(table, "")
    for sentence in sentences(prices):
        print_line(console, sentence)


def _rows(price: ClaimPrice) -> Iterator[tuple[str, ...]]:
    """Yield the rows of an undecided claim: its time, and then each comparison."""
    if price.comparisons:
        times = (price.core_seconds_as_measured, price.core_seconds_if_zero)
        time = " / ".join("?" if seconds is None else rough_duration(seconds) for seconds in times)
        yield price.claim, "", "", "", "", "", time
    for case in price.comparisons:
        difference = "not run" if case.difference is None else f"{case.difference:+.2f}"
        spread = "?" if case.spread is None else f"{'' if case.source == MEASURED else '~'}{case.spread:.2f}"
        needed = case.price.text if case.price else "?"
        yield f"  {case.text}", difference, f"{case.margin:g}", spread, str(case.n), needed, ""


def sentences(prices: list[ClaimPrice]) -> Iterator[str]:
    """Yield the sentences below the tables."""
    counts, claims = Counter(price.verdict for price in prices), pluralize(len(prices), "claim")
    comparisons = [comparison for price in prices for comparison in price.comparisons]
    if any(price.verdict != UNDECIDED for price in prices) or any(comparison.n for comparison in comparisons):
        yield f"{claims}: {', '.join(f'{counts[verdict]} {verdict}' for verdict in VERDICTS)}."
    else:
        yield f"{claims}: nothing was measured, so the prices are those of a study from nothing."
    if not comparisons:
        return
    yield (
        "Replicates that decide a comparison with 80 % probability, after correction: if the difference is as "
        "measured (as printed, where it was not run) / if it is zero. Core time: of the replicates that a claim lacks; "
        "one comparison that contradicts a claim decides it."
    )
    if rough := [case.n for case in comparisons if case.source == MEASURED and case.n < ROUGH_BELOW]:
        low, high = spread_range(1.0, min(rough))
        yield (
            f"Spreads of few replicates are rough: with {min(rough)}, the true one is {low:.1f} to {high:.1f} times as "
            "large (80 % interval), and replicates grow with its square."
        )
    sources = {comparison.source for comparison in comparisons}
    if texts := [text for source, text in SOURCES.items() if source in sources]:
        yield f"Spread: {'; '.join(texts)}."
