"""`recompose power`: the replicates and core-hours that would decide each undecided claim."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recompose.claims.price import Price, needed_range, needed_text, question_of, replicates_needed
from recompose.claims.tests import ClaimTests
from recompose.claims.verdicts import UNDECIDED, VERDICTS, TestedComparison
from recompose.console import pluralize, print_json, printable, rough_duration
from recompose.costs import Costs
from recompose.errors import PlanError
from recompose.papers.declaration import Paper
from recompose.params.mistakes import nearest
from recompose.plan import Recipe, closure
from recompose.tables.published import PublishedLineage
from recompose.tables.stored_results import StoredResults
from recompose.workspace import Workspace

MEASURED, SIMILAR, PILOT, GIVEN, UNKNOWN = "measured", "similar", "pilot", "given", "unknown"  # sources of a spread
SHARED = ("corpora", "backbones")  # what a replicate does not make anew
RANGED_BELOW = 5  # replicates: the spread of fewer is so uncertain that the price is given as a range, too
NUMBERS = ("diff.", "margin", "spread", "n", "replicates", "core time")
NAMES = ("", *NUMBERS)
LEAST_WIDTH = 20  # of names

Range = tuple[int | None, int | None]


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
    price: Price | None  # None: unknown; where nothing was measured, as printed: twice the margin
    range_as_measured: Range | None = None  # with few replicates: at the ends of the spread's 80 % interval
    range_if_zero: Range | None = None
    is_kept: bool = False  # the claim is that the difference is within the margin

    @property
    def as_measured(self) -> int | None:
        """The replicates that decide it if the difference is as measured; None: unknown, or more than are counted."""
        return self.price.as_measured if self.price else None

    @property
    def if_zero(self) -> int | None:
        """The same if there is no difference."""
        return self.price.if_zero if self.price else None

    @property
    def contradicts(self) -> bool:
        """True if a difference as measured is not what the claim says."""
        if self.difference is None:
            return False
        return abs(self.difference) > self.margin if self.is_kept else self.difference < self.margin


Priced = tuple[ComparisonPrice, int | None]  # a comparison, and the replicates that decide it


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


def power(
    work: Workspace, papers: list[Paper], claim: str | None, spread: float | None, hours: float | None, *, as_json: bool
) -> None:
    """Print the price of each undecided claim of some papers, and the claims that a number of core-hours decides."""
    prices = price_claims(work, papers, claim, spread)
    if as_json:
        print_json(prices)
    else:
        show_power(Console(), prices, hours, claims_reports(work, papers))


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
        tests = ClaimTests.of(self.results, self.paper, benchmark)
        for name, claim in tests.claims.items():
            if only not in (None, name):
                continue
            comparisons = tests.of_claim(claim)
            verdict = comparisons[0].verdict
            if verdict != UNDECIDED:
                yield ClaimPrice(self.paper.name, name, benchmark, verdict, ())
                continue
            prices = tuple(
                self._price(name, comparison, tests) for comparison in comparisons if comparison.verdict == UNDECIDED
            )
            yield ClaimPrice(
                self.paper.name,
                name,
                benchmark,
                verdict,
                prices,
                self._core_seconds(benchmark, [(each, each.as_measured) for each in _decisive(prices)]),
                self._cheapest(benchmark, [(each, each.if_zero) for each in prices]),
            )

    def _price(self, claim: str, tested: TestedComparison, tests: ClaimTests) -> ComparisonPrice:
        comparison, result = tested.comparison, tested.difference
        spread = self._spread(claim, tested, tests.comparisons.values())
        expected = 2 * comparison.margin if result.value is None else result.value
        if result.value is None and comparison.is_kept:
            expected = 0.0
        price: Price | None = None
        ranges: tuple[Range | None, Range | None] = (None, None)
        if spread.value:
            question, differences = question_of(comparison, spread.value, tests.levels), (expected, 0.0)
            price = Price(*(replicates_needed(question, difference) for difference in differences))
            if spread.source == MEASURED and result.n < RANGED_BELOW:
                as_measured, if_zero = (needed_range(question, difference, result.n) for difference in differences)
                ranges = as_measured, if_zero
        return ComparisonPrice(
            f"{comparison.higher} - {comparison.lower}" if not comparison.lower_metric else tested.metrics_text,
            tuple(comparison.methods),
            result.value,
            comparison.margin,
            result.n,
            spread,
            price,
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
            if needed is None:
                return None
            for method in price.methods:
                more = needed - self._complete(benchmark, method)
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
    counts = {each: each.as_measured for each in prices if each.contradicts and each.as_measured}
    return [min(counts, key=lambda each: counts[each])] if counts else list(prices)


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


def claims_reports(work: Workspace, papers: Iterable[Paper]) -> list[str]:
    """Return the tables of verdicts that papers have among the profile's reports."""
    names = [f"{paper.name}/{name}.md" for paper in papers for name in paper.claims_tables]
    return [f"{work.reports_place}/{name}" for name in names if (work.reports / name).is_file()]


def show_power(console: Console, prices: list[ClaimPrice], hours: float | None, reported: Sequence[str] = ()) -> None:
    """Print the price of each undecided claim, and a summary.

    Args:
        console: the terminal.
        prices: the claims.
        hours: if given, also the claims that this many core-hours would decide.
        reported: the reports that hold verdicts on these claims.
    """
    for paper, benchmark in dict.fromkeys((price.paper, price.benchmark) for price in prices):
        members = [price for price in prices if (price.paper, price.benchmark) == (paper, benchmark)]
        rows = [cells for price in members for cells in _rows(price)]
        widths = [max(map(len, column)) for column in zip(*rows, NAMES, strict=True)][1:]
        left = max(console.width - sum(widths) - len(NAMES), LEAST_WIDTH)  # names are cut, numbers never
        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
        title = Text(printable(f"{paper} on {benchmark}"), "bold")
        table.add_column(title, no_wrap=True, overflow="ellipsis", max_width=left)
        for name in NUMBERS:
            table.add_column(name, justify="right", no_wrap=True)
        for cells in rows:
            table.add_row(*(Text(printable(cell)) for cell in cells))
        if table.row_count:
            console.width = max(console.width, left + sum(widths) + len(NAMES))  # lines break, but no number is cut
            console.print(table, "")
    for line in sentences(prices, hours, reported):
        console.print(Text(printable(line)), soft_wrap=True)


def _rows(price: ClaimPrice) -> Iterator[tuple[str, ...]]:
    """Yield the rows of an undecided claim: its time, and then each comparison."""
    if price.comparisons:
        times = (price.core_seconds_as_measured, price.core_seconds_if_zero)
        time = " / ".join("?" if seconds is None else rough_duration(seconds) for seconds in times)
        yield price.claim, "", "", "", "", "", time
    for comparison in price.comparisons:
        yield tuple(_cells(comparison))


def _cells(comparison: ComparisonPrice) -> Iterator[str]:
    spread = comparison.spread
    yield f"  {comparison.text}"
    yield "not run" if comparison.difference is None else f"{comparison.difference:+.2f}"
    yield f"{comparison.margin:g}"
    yield "?" if spread.value is None else f"{'' if spread.source == MEASURED else '~'}{spread.value:.2f}"
    yield str(comparison.n)
    yield _needed_text(comparison)
    yield ""


def _needed_text(comparison: ComparisonPrice) -> str:
    """Return both numbers of replicates, each with its range if there is one: "12 (5 to 300) / 40"."""
    price = comparison.price
    if price is None:
        return "?"
    ends = comparison.range_as_measured, comparison.range_if_zero
    return " / ".join(map(_with_range, (price.as_measured, price.if_zero), ends))


def _with_range(replicates: int | None, ends: Range | None) -> str:
    text = needed_text(replicates)
    return text if ends is None or ends[0] == ends[1] else f"{text} ({' to '.join(map(needed_text, ends))})"


def sentences(prices: list[ClaimPrice], hours: float | None, reported: Sequence[str] = ()) -> Iterator[str]:
    """Yield the sentences below the tables."""
    counts, claims = Counter(price.verdict for price in prices), pluralize(len(prices), "claim")
    if any(map(_has_results, prices)):
        yield f"{claims}: {', '.join(f'{counts[verdict]} {verdict}' for verdict in VERDICTS)}."
    else:
        yield f"{claims}: no results are on this disk, so the prices are those of a study from nothing."
        if reported:
            yield f"Verdicts and prices in the reports: {', '.join(reported)}."
    undecided = [price for price in prices if price.verdict == UNDECIDED]
    if not undecided:
        return
    yield (
        "Replicates that decide a comparison with 80 % probability, after correction: if the difference is as "
        "measured (as printed, where it was not run) / if it is zero. Core time: of the replicates that a claim lacks; "
        "one comparison that contradicts a claim decides it."
    )
    if any(comparison.range_if_zero for price in undecided for comparison in price.comparisons):
        yield "In brackets: the range that follows from the spread's 80 % interval, where replicates are fewer than 5."
    if sources := _sources(undecided):
        yield sources
    if hours is not None:
        decided = affordable(undecided, hours)
        names = ", ".join(f"{price.paper} {price.claim}" for price in decided) or "none"
        yield f"Within {hours:g} core-hours, the cheapest first: {len(decided)} of {len(undecided)} claims: {names}."


def _has_results(price: ClaimPrice) -> bool:
    return price.verdict != UNDECIDED or any(comparison.n for comparison in price.comparisons)


def _sources(prices: Iterable[ClaimPrice]) -> str:
    sources = {comparison.spread.source for price in prices for comparison in price.comparisons}
    meanings = {
        SIMILAR: "~ the median of other comparisons in the same metric, where the runs have one replicate",
        PILOT: "~ as in the reports of the profile, or else of another one, on other data",
        GIVEN: "~ as given by --spread",
        UNKNOWN: "? not measured; --spread gives one",
    }
    texts = [text for source, text in meanings.items() if source in sources]
    return f"Spread: {'; '.join(texts)}." if texts else ""
