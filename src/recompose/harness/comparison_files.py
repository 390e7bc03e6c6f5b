"""The forms of a comparison of models: tables on the terminal; and files, all numbers as CSV and JSON, the table as
Markdown, and a figure of differences with their intervals.
"""

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recompose.claims.estimates import rounded
from recompose.console import pluralize, print_line
from recompose.errors import DataError
from recompose.files import Document, read_json, write_json, write_text
from recompose.harness.compare import ComparisonRow, ComparisonSummary
from recompose.palette import RIGHT, VERDICTS, WRONG
from recompose.progress import printable
from recompose.tables.formats import escape_markdown

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import pyplot as plt

HEADINGS = ("", "baseline", "other", "difference", "95 % interval", "p", "detectable", "items", "finding")
EXPLANATION = (
    "p is corrected by Holm for all suites, or all parts of suites, or all means over suites; detectable: the smallest "
    "true difference that its test finds with a power of 80 %"
)
WIDE = 110  # characters; where the terminal is narrower, it wraps
STYLES = {"higher": "green", "lower": "red", "undecided": "dim"}
FINDINGS = {"higher": RIGHT, "lower": WRONG, "undecided": VERDICTS["undecided"]}  # colours
DIGITS = 10  # significant ones, in files: more say nothing
PLOTTED = ["difference", "low", "high", "detectable"]
ROW, WIDTH, AROUND = 0.18, 6.0, 0.9  # inches of a figure: the height of a line, its width, the margins of a panel


def show_comparison(console: Console, comparison: ComparisonSummary, *, parts: bool) -> None:
    """Print a table for each model that is compared with the baseline, and notes.

    Args:
        console: the terminal.
        comparison: of evaluations.
        parts: whether the numbers of parts of suites are shown, too.
    """
    console.width = max(WIDE, console.width)  # a cut number would be no number
    for model, rows in groupby(comparison.rows, key=lambda row: row.other):
        print_line(console, (f"{model} against {comparison.names[0]}, in per cent", "bold"))
        console.print(_table(row for row in rows if parts or row.level != "part"))
    hidden = sum(row.level == "part" for row in comparison.rows)
    if hidden and not parts:
        print_line(console, f"{pluralize(hidden, 'more number')} of parts of suites: --parts")
    for note in comparison.notes:
        print_line(console, ("note", "bold yellow"), f": {note}")
    print_line(console, (EXPLANATION, "dim"))


def _table(rows: Iterable[ComparisonRow]) -> Table:
    table = Table(box=None)
    for name in HEADINGS:
        table.add_column(name, justify="left" if name in (HEADINGS[0], HEADINGS[-1]) else "right", no_wrap=True)
    for row in rows:
        name, *numbers, finding = _cells(row)
        style = "bold" if row.level == "mean" else None
        table.add_row(Text(printable(name)), *numbers, Text(finding, STYLES[finding]), style=style)
    return table


def _cells(row: ComparisonRow) -> list[str]:
    """Return a row of a table by ``HEADINGS``, in per cent."""
    p = row.corrected_p
    return [
        row.name,
        f"{100 * row.first:.2f}",
        f"{100 * row.second:.2f}",
        f"{100 * row.difference:+.2f}",
        "" if row.low is None or row.high is None else f"{100 * row.low:+.2f} to {100 * row.high:+.2f}",
        "" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}",
        "none" if row.detectable is None else f"{100 * row.detectable:.2f}",
        f"{row.items:,}",
        row.finding,
    ]


def comparison_document(comparison: ComparisonSummary) -> Document:
    """Return a comparison as a document of plain values."""
    rows = [
        {name: rounded(value, DIGITS) if isinstance(value, float) else value for name, value in row.document.items()}
        for row in comparison.rows
    ]
    return {"names": list(comparison.names), "rows": rows, "notes": list(comparison.notes)}


def write_comparison(comparison: ComparisonSummary, folder: Path) -> tuple[Path, ...]:
    """Write ``comparison.csv``, ``.json`` and ``.md``, and ``figure.svg``, ``.png`` and ``.csv`` into a folder.

    Raises:
        DataError: it holds a comparison of other models, or with rows that would be lost.
    """
    import pandas as pd

    table, document, page = (folder / f"comparison.{ending}" for ending in ("csv", "json", "md"))
    _check_folder(document, comparison)
    content = comparison_document(comparison)
    rows = pd.DataFrame(content["rows"]).astype({"only_first": "Int64", "only_second": "Int64"})
    write_text(table, rows.to_csv(index=False, lineterminator="\n"))
    write_text(page, _markdown(comparison))
    _draw(comparison, folder / "figure")
    write_json(document, content)
    return table, document, page, *(folder / f"figure.{ending}" for ending in ("svg", "png", "csv"))


def _check_folder(document: Path, comparison: ComparisonSummary) -> None:
    """Check that a folder holds no comparison that would be lost, given its document."""
    try:
        stored = read_json(document)
        names, lost = stored["names"], {row["name"] for row in stored["rows"]} - {row.name for row in comparison.rows}
    except (OSError, ValueError, KeyError, TypeError):
        return
    if lost or names != list(comparison.names):
        fault = f"has {min(lost)}, which this one lacks" if lost else f"is of {', '.join(names)}"
        message = f"{document} {fault}; name another folder, or remove this one"
        raise DataError(message, code="other-comparison", place=document)


def _markdown(comparison: ComparisonSummary) -> str:
    """Return a table for each model that is compared with the baseline, in Markdown."""
    baseline, *models = comparison.names
    parts = [f"# {_escaped(', '.join(models))} against {_escaped(baseline)}"]
    for model in models:
        rows = [[model, *HEADINGS[1:]], ["---", *["---:"] * (len(HEADINGS) - 2), "---"]]
        cells = [_cells(row) for row in comparison.rows if row.other == model]
        lines = [map(_escaped, rows[0]), rows[1], *(map(_escaped, row) for row in cells)]
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    parts += [_escaped(note) for note in (*comparison.notes, f"In per cent; {EXPLANATION}.")]
    return "\n\n".join(parts) + "\n"


def _escaped(text: str) -> str:
    return escape_markdown(printable(text))


def _draw(comparison: ComparisonSummary, stem: Path) -> None:
    """Draw a panel for each model: the difference of each suite and mean, its interval, and what is detectable."""
    import pandas as pd
    from matplotlib import pyplot as plt

    from recompose.parts.style import Drawing, styled

    baseline, *models = map(printable, comparison.names)
    rows = [row.document for row in comparison.rows if row.level != "part"]
    numbers = pd.DataFrame(rows, columns=["name", "other", *PLOTTED, "finding"]).astype(dict.fromkeys(PLOTTED, float))
    numbers[PLOTTED] *= 100
    panels = [numbers[numbers["other"] == model].reset_index(drop=True) for model in comparison.names[1:]]
    heights = [max(1, len(lines)) for lines in panels]
    size = (WIDTH, ROW * sum(heights) + AROUND * len(models))
    with styled():
        figure, axes = plt.subplots(
            len(models), figsize=size, squeeze=False, height_ratios=heights, layout="constrained"
        )
        for axis, model, lines in zip(axes[:, 0], models, panels, strict=True):
            _draw_panel(axis, lines)
            axis.set_title(f"{model} - {baseline}", loc="left")
        Drawing(numbers, lambda: figure).write(stem, f"{', '.join(models)} against {baseline}")


def _draw_panel(axis: "plt.Axes", lines: "pd.DataFrame") -> None:
    """Draw a line for each number, from the top down."""
    import seaborn as sns

    order = list(FINDINGS)
    look = {"hue": "finding", "hue_order": order, "palette": FINDINGS, "style": "finding", "style_order": order}
    sns.scatterplot(lines, x="difference", y=lines.index, **look, s=18, legend="brief", ax=axis)
    colours = [FINDINGS[finding] for finding in lines["finding"]]
    axis.hlines(lines.index, lines["low"], lines["high"], colours, linewidth=1.2, zorder=0)
    for ends in (-lines["detectable"], lines["detectable"]):
        axis.vlines(ends, lines.index - 0.4, lines.index + 0.4, "black", linewidth=0.7, linestyle="dotted")
    axis.axvline(0, color="black", linewidth=0.7)
    axis.set_yticks(range(len(lines)), [printable(name) for name in lines["name"]], fontsize=6)
    xlabel = "difference in per cent, its 95 % interval, and what is detectable (dotted)"
    axis.set(ylim=(len(lines) - 0.5, -0.5), xlabel=xlabel, ylabel="")
    sns.move_legend(axis, "upper left", bbox_to_anchor=(1, 1), title=None, fontsize=6)
    sns.despine(ax=axis, left=True)
    axis.tick_params(axis="y", length=0)
