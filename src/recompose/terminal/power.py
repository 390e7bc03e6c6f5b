"""The output of `recompose power`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recompose.inference.power import SampleSize
from recompose.monitor.power import (
    GIVEN,
    MEASURED,
    PILOT,
    SIMILAR,
    UNKNOWN,
    ClaimPrice,
    ComparisonPrice,
    Range,
    affordable,
)
from recompose.report.claims.verdicts import UNDECIDED, VERDICTS
from recompose.terminal.text import pluralize, printable, rough_duration

NUMBERS = ("diff.", "margin", "spread", "n", "replicates", "core time")
NAMES = ("", *NUMBERS)
LEAST_WIDTH = 20  # of names


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
    needed = ((comparison.as_measured, comparison.range_as_measured), (comparison.if_zero, comparison.range_if_zero))
    yield " / ".join(_needed(size, ends) for size, ends in needed if size) or "?"
    yield ""


def _needed(size: SampleSize, ends: Range | None) -> str:
    """Return a number of replicates, with its range if there is one: "12 (5 to 300)"."""
    if ends is None or ends[0] == ends[1]:
        return size.text
    return f"{size.text} ({ends[0].text} to {ends[1].text})"


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
    if any(size and size.is_new for size in _sizes(undecided)):
        yield "New: the replicates of a new study with other seeds and one test, where no look to come would decide."
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


def _sizes(prices: Iterable[ClaimPrice]) -> Iterator[SampleSize | None]:
    for price in prices:
        for comparison in price.comparisons:
            yield from (comparison.as_measured, comparison.if_zero)


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
