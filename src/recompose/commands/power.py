"""`recompose power`: the replicates and core-hours that would decide each undecided claim."""

from collections import Counter
from collections.abc import Iterator

from rich.console import Console

from recompose.claims.price import GIVEN, MEASURED, SIMILAR, UNKNOWN, ClaimPrice, price_claims, spread_range
from recompose.claims.verdicts import UNDECIDED, VERDICTS
from recompose.console import line, new_table, pluralize, print_json, print_line, rough_duration
from recompose.costs import Costs
from recompose.errors import PlanError
from recompose.papers.declaration import Paper
from recompose.params.mistakes import nearest
from recompose.recipes.plan import Recipe
from recompose.tables.published import Published
from recompose.tables.reports import Reports
from recompose.tables.stored_results import StoredResults
from recompose.workspace import Workspace

SOURCES = {
    SIMILAR: "~ the median of other comparisons in the same metric, where the runs have one replicate",
    GIVEN: "~ as given by --spread",
    UNKNOWN: "? not measured; --spread gives one",
}
ROUGH_BELOW = 5  # replicates: the spread of fewer is rough
NUMBERS = ("diff.", "margin", "spread", "n", "replicates", "core time")


def power(work: Workspace, papers: list[Paper], claim: str | None, spread: float | None, *, as_json: bool) -> None:
    """Print the price of each undecided claim of some papers, by scores on this disk, or where there are none, by the
    numbers in the reports.

    Raises:
        PlanError: no paper has the claim.
    """
    names = [name for paper in papers for name in paper.claims]
    if claim is not None and claim not in names:
        raise PlanError(f"no claim is called {claim!r}{nearest(claim, names)}", code="unknown-claim", place=claim)
    has_scores, costs = any(map(work.store.is_complete, work.plan.of("evaluations"))), Costs.of(work, work.plan)
    results = StoredResults(work, None if has_scores else Published.read(Reports(work)).values)

    def seconds(recipe: Recipe) -> float | None:
        estimate = costs.estimate(recipe)
        return estimate.seconds if estimate else None

    prices = [*price_claims(results, papers, seconds, claim, spread)]
    if as_json:
        print_json(prices)
        return
    show_power(Console(), prices)
    if not has_scores:
        print_line(Console(), f"Numbers are those in {work.reports_place}: no scores are on this disk.")


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
