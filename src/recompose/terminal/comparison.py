"""The output of `recompose compare`."""

from collections.abc import Iterable
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recompose.console import pluralize
from recompose.harness.comparison import ComparisonRow, ComparisonSummary
from recompose.harness.comparison_files import EXPLANATION, HEADINGS, cell_texts
from recompose.progress import printable

WIDTH = 110  # characters; where the terminal is narrower, it wraps
COLOURS = {"higher": "green", "lower": "red", "undecided": "dim"}


def show_comparison(console: Console, comparison: ComparisonSummary, *, parts: bool) -> None:
    """Print a table for each model that is compared with the baseline, and notes.

    Args:
        console: the terminal.
        comparison: of evaluations.
        parts: whether the numbers of parts of suites are shown, too.
    """
    console.width = max(WIDTH, console.width)  # a cut number would be no number
    for other, rows in groupby(comparison.rows, key=lambda row: row.other):
        title = f"{printable(other)} against {printable(comparison.names[0])}, in per cent"
        console.print(Text(title, style="bold"), soft_wrap=True)
        console.print(_table(row for row in rows if parts or row.level != "part"))
    hidden = sum(row.level == "part" for row in comparison.rows)
    if hidden and not parts:
        console.print(f"{pluralize(hidden, 'more number')} of parts of suites: --parts", highlight=False)
    for note in comparison.notes:
        console.print(Text.assemble(("note", "bold yellow"), f": {printable(note)}"), soft_wrap=True)
    console.print(Text(EXPLANATION, style="dim"), soft_wrap=True)


def _table(rows: Iterable[ComparisonRow]) -> Table:
    table = Table(box=None)
    for name in HEADINGS:
        table.add_column(name, justify="left" if name in (HEADINGS[0], HEADINGS[-1]) else "right", no_wrap=True)
    for row in rows:
        name, *numbers, finding = cell_texts(row)
        style = "bold" if row.level == "mean" else None
        table.add_row(Text(printable(name)), *numbers, Text(finding, style=COLOURS[finding]), style=style)
    return table
