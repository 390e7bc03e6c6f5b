"""`recompose compare`: models item by item, from their stored scores."""

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recompose.console import pluralize, print_json, print_line
from recompose.harness.compare import compare
from recompose.harness.comparison import ComparisonRequest, ComparisonRow, ComparisonSummary
from recompose.harness.comparison_files import EXPLANATION, HEADINGS, cell_texts, comparison_document, write_comparison
from recompose.progress import printable

WIDTH = 110  # characters; where the terminal is narrower, it wraps
COLOURS = {"higher": "green", "lower": "red", "undecided": "dim"}


def compare_models(request: ComparisonRequest, out: Path | None, *, parts: bool, as_json: bool) -> None:
    """Compare evaluations, and print a table for each model; write the table and a figure if there is a folder."""
    comparison = compare(request)
    files = write_comparison(comparison, out) if out else ()
    if as_json:
        print_json(comparison_document(comparison))
        return
    show_table(Console(), comparison, parts=parts)
    if files:
        print(f"written: {', '.join(printable(str(path)) for path in files)}")


def show_table(console: Console, comparison: ComparisonSummary, *, parts: bool) -> None:
    """Print a table for each model that is compared with the baseline, and notes.

    Args:
        console: the terminal.
        comparison: of evaluations.
        parts: whether the numbers of parts of suites are shown, too.
    """
    console.width = max(WIDTH, console.width)  # a cut number would be no number
    for other, rows in groupby(comparison.rows, key=lambda row: row.other):
        print_line(console, (f"{other} against {comparison.names[0]}, in per cent", "bold"))
        console.print(_table(row for row in rows if parts or row.level != "part"))
    hidden = sum(row.level == "part" for row in comparison.rows)
    if hidden and not parts:
        console.print(f"{pluralize(hidden, 'more number')} of parts of suites: --parts", highlight=False)
    for note in comparison.notes:
        print_line(console, ("note", "bold yellow"), f": {note}")
    print_line(console, (EXPLANATION, "dim"))


def _table(rows: Iterable[ComparisonRow]) -> Table:
    table = Table(box=None)
    for name in HEADINGS:
        table.add_column(name, justify="left" if name in (HEADINGS[0], HEADINGS[-1]) else "right", no_wrap=True)
    for row in rows:
        name, *numbers, finding = cell_texts(row)
        style = "bold" if row.level == "mean" else None
        table.add_row(Text(printable(name)), *numbers, Text(finding, style=COLOURS[finding]), style=style)
    return table
