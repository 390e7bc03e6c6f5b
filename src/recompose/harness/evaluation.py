"""The evaluation of any model outside of papers, of the command ``recompose evaluate``: its options, the suites that it
can use, and its result, with the table of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recompose.console import print_line
from recompose.harness.named_suites import KnownSuites
from recompose.progress import printable

DEEPEST = 2  # parts of a name that the table shows, such as suite/set; deeper numbers are in the files
FEW = 4  # names in a note
Precision = Literal["fp32", "fp16", "bf16"]
Activation = Literal["auto", "gelu", "quick_gelu"]


@dataclass(frozen=True)
class EvaluationRequest:
    """The options of an evaluation."""

    model: str  # an architecture of open_clip or Recompose, or a function of one's own, module:function
    weights: str | None  # a file, a tag of open_clip, or the folder of a run; the argument of the function, or None
    suites: tuple[str, ...]  # names, or ``ALL``
    data: Path  # the folder of raw files
    out: Path
    batch_size: int = 256
    precision: Precision = "fp32"  # on any device, as the released evaluations
    device: str = "auto"
    activation: Activation = "auto"  # the one that the weights were trained with, or else the one that is assumed
    like: str | None = None  # of a file, the tag of open_clip whose activation and preprocessing its weights have
    part: str | None = None  # of a file that holds weights several times, the key or prefix of those to read
    alpha: float = 1.0  # of a run, the share of the trained weights, see ``vlc.building.restore_clip``
    skip_broken: bool = False
    items: int | None = None  # of a sub-task at most, of suites that can be limited; None: all
    strict: bool = False  # stop at the first suite that is not complete
    known: KnownSuites = field(default_factory=KnownSuites)  # with those of params.yaml and of plugins


@dataclass(frozen=True)
class EvaluationRow:
    """The value of a sub-task with its number of items, or of a mean without it."""

    name: str
    value: float | None  # None: all items are left out
    items: int | None = None
    left_out: int | None = None


@dataclass(frozen=True)
class EvaluationSummary:
    """The result of an evaluation."""

    title: str
    rows: tuple[EvaluationRow, ...]
    notes: tuple[str, ...]  # caveats of the numbers
    left_out: tuple[str, ...]  # a line for each suite that was left out, or evaluated in part, as it is not complete
    files: tuple[Path, ...]


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
