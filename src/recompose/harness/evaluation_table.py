"""The table of an evaluation."""

from collections.abc import Sequence
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recompose.console import print_line
from recompose.harness.evaluation import EvaluationRow, EvaluationSummary
from recompose.progress import printable

DEEPEST = 2  # parts of a name that the table shows, such as suite/set; deeper numbers are in the files


def show_evaluation(console: Console, evaluation: EvaluationSummary) -> None:
    """Print a table of numbers in per cent, notes, and the files that hold everything."""
    print_line(console, (evaluation.title, "bold"))
    console.print(_table(evaluation.rows))
    inside = sum(_depth(row) > DEEPEST for row in evaluation.rows)
    if inside:
        print_line(console, f"{inside} more numbers, of parts of these, are in the files")
    for note in evaluation.notes:
        print_line(console, ("note", "bold yellow"), f": {note}")
    for line in evaluation.left_out:
        print_line(console, (line, "bold red"))
    print_line(console, f"written: {', '.join(map(str, evaluation.files))}")


def _table(rows: Sequence[EvaluationRow]) -> Table:
    """Return a row for each number that is not nested too deeply, those of whole suites in bold."""
    left_out = any(row.left_out for row in rows)
    table = Table("", box=None)
    for name in ("%", "items", *(["left out"] * left_out)):
        table.add_column(name, justify="right")
    for name, suite in groupby(rows, key=lambda row: row.name.split("/")[0]):
        for place, row in enumerate(suite):
            if place == 0 and row.name != name:
                table.add_row(Text(printable(name)), "none", style="bold")
            if _depth(row) <= DEEPEST:
                name = "  " * (_depth(row) - 1) + printable(row.name.split("/")[-1])
                percent = "none" if row.value is None else f"{100 * row.value:.2f}"
                counts = ["" if count is None else f"{count:,}" for count in (row.items, row.left_out)]
                style = "bold" if _depth(row) == 1 else None
                table.add_row(Text(name), percent, *counts[: 1 + left_out], style=style)
    return table


def _depth(row: EvaluationRow) -> int:
    return row.name.count("/") + 1
