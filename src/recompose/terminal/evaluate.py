"""How an evaluation of a model outside of papers looks in a terminal."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Protocol

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recompose.terminal.text import plain

DEEPEST = 2  # parts of a name, such as suite/set: what is further inside stands in the file


class Row(Protocol):
    """A number, and of how many items it is; of a mean the latter is not told."""

    @property
    def name(self) -> str: ...
    @property
    def value(self) -> float | None: ...
    @property
    def items(self) -> int | None: ...
    @property
    def left_out(self) -> int | None: ...


class Evaluation(Protocol):
    """What came of an evaluation."""

    @property
    def title(self) -> str: ...
    @property
    def rows(self) -> Sequence[Row]: ...
    @property
    def notes(self) -> Sequence[str]: ...
    @property
    def files(self) -> Sequence[Path]: ...


def show_evaluation(console: Console, evaluation: Evaluation) -> None:
    """A table of numbers in per cent, what one has to know of them, and the files that hold all of them."""
    console.print(Text(plain(evaluation.title), style="bold"), soft_wrap=True)
    console.print(_table(evaluation.rows))
    inside = sum(_depth(row) > DEEPEST for row in evaluation.rows)
    if inside:
        console.print(Text(f"{inside} more numbers, of parts of these, are in the files"), soft_wrap=True)
    for note in evaluation.notes:
        console.print(Text.assemble(("note", "bold yellow"), f": {plain(note)}"), soft_wrap=True)
    console.print(Text(f"written: {', '.join(plain(str(path)) for path in evaluation.files)}"), soft_wrap=True)


def _table(rows: Sequence[Row]) -> Table:
    """A line for each number that is not too far inside, the suites' own ones in bold."""
    left_out = any(row.left_out for row in rows)
    table = Table("", box=None)
    for name in ("%", "items", *(["left out"] * left_out)):
        table.add_column(name, justify="right")
    for name, suite in groupby(rows, key=lambda row: row.name.split("/")[0]):
        for place, row in enumerate(suite):
            if place == 0 and row.name != name:
                table.add_row(Text(plain(name)), "none", style="bold")
            if _depth(row) <= DEEPEST:
                cells = [_percent(row.value), _number(row.items), *([_number(row.left_out)] * left_out)]
                table.add_row(Text(_indented(row)), *cells, style="bold" if _depth(row) == 1 else None)
    return table


def _depth(row: Row) -> int:
    return row.name.count("/") + 1


def _indented(row: Row) -> str:
    return "  " * (_depth(row) - 1) + plain(row.name.split("/")[-1])


def _percent(value: float | None) -> str:
    return "none" if value is None else f"{100 * value:.2f}"


def _number(count: int | None) -> str:
    return "" if count is None else f"{count:,}"
