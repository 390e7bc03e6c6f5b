"""The files of a comparison of models: all numbers as CSV and JSON, the table as Markdown, and a figure of differences
with their intervals.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING

from recompose.claims.estimates import rounded
from recompose.errors import DataError
from recompose.files import Document, read_json, write_json, write_text
from recompose.harness.comparison import ComparisonRow, ComparisonSummary
from recompose.locks import sole_writer
from recompose.palette import RIGHT, VERDICTS, WRONG
from recompose.progress import printable
from recompose.tables.formats import escape_markdown

if TYPE_CHECKING:
    from matplotlib import pyplot as plt

HEADINGS = ("", "baseline", "other", "difference", "95 % interval", "p", "detectable", "items", "finding")
EXPLANATION = (
    "p is corrected by Holm for all suites, or all parts of suites, or all means over suites; detectable: the smallest "
    "true difference that its test finds with a power of 80 %"
)
FINDINGS = {"higher": RIGHT, "lower": WRONG, "undecided": VERDICTS["undecided"]}  # colours
DIGITS = 10  # significant ones, in files: sums in another order differ beyond them
ROW, WIDTH, AROUND = 0.18, 6.0, 0.9  # inches of a figure: the height of a line, its width, the margins of a panel


def cell_texts(row: ComparisonRow) -> list[str]:
    """Return a row of a table by ``HEADINGS``, in per cent."""
    interval = "" if row.low is None or row.high is None else f"{100 * row.low:+.2f} to {100 * row.high:+.2f}"
    return [
        row.name,
        f"{100 * row.first:.2f}",
        f"{100 * row.second:.2f}",
        f"{100 * row.difference:+.2f}",
        interval,
        _p_text(row.corrected_p),
        "none" if row.detectable is None else f"{100 * row.detectable:.2f}",
        f"{row.items:,}",
        row.finding,
    ]


def _p_text(p: float | None) -> str:
    """Return a p as it is printed."""
    return "" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def comparison_document(comparison: ComparisonSummary) -> Document:
    """Return a comparison as a document of plain values."""
    return {
        "names": list(comparison.names),
        "rows": [_plain(row) for row in comparison.rows],
        "notes": list(comparison.notes),
    }


def _plain(row: ComparisonRow) -> Document:
    return {name: rounded(value, DIGITS) if isinstance(value, float) else value for name, value in asdict(row).items()}


def write_comparison(comparison: ComparisonSummary, folder: Path) -> tuple[Path, ...]:
    """Write ``comparison.csv``, ``.json`` and ``.md``, and ``figure.svg``, ``.png`` and ``.csv`` into a folder.

    Raises:
        DataError: the folder has another comparison, or numbers that this one lacks.
        BusyError: another process writes into the folder.
    """
    table, document, page = (folder / f"comparison.{ending}" for ending in ("csv", "json", "md"))
    with sole_writer(folder):
        _check_folder(document, comparison)
        write_text(table, _csv(comparison))
        write_text(page, to_markdown(comparison))
        _draw(comparison, folder / "figure")
        write_json(document, comparison_document(comparison))
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


def _csv(comparison: ComparisonSummary) -> str:
    text = io.StringIO()
    table = csv.DictWriter(text, [field.name for field in fields(ComparisonRow)], lineterminator="\n")
    table.writeheader()
    table.writerows(map(_plain, comparison.rows))
    return text.getvalue()


def to_markdown(comparison: ComparisonSummary) -> str:
    """Return a table for each model that is compared with the baseline, in Markdown."""
    baseline, *others = comparison.names
    parts = [f"# {_escaped(', '.join(others))} against {_escaped(baseline)}"]
    for other in others:
        rows = [[other, *HEADINGS[1:]], ["---", *["---:"] * (len(HEADINGS) - 2), "---"]]
        cells = [cell_texts(row) for row in comparison.rows if row.other == other]
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

    from recompose.tables.style import Sheet, styled

    baseline, *others = comparison.names
    panels = [[row for row in comparison.rows if row.other == other and row.level != "part"] for other in others]
    numbers = pd.DataFrame([_plotted(row) for rows in panels for row in rows])
    heights = [max(1, len(rows)) for rows in panels]
    size = (WIDTH, ROW * sum(heights) + AROUND * len(others))
    with styled():
        figure, axes = plt.subplots(
            len(others), figsize=size, squeeze=False, height_ratios=heights, layout="constrained"
        )
        for axis, other, rows in zip(axes[:, 0], others, panels, strict=True):
            _draw_panel(axis, rows)
            axis.set_title(f"{printable(other)} - {printable(baseline)}", loc="left")
        Sheet(stem, f"{', '.join(map(printable, others))} against {printable(baseline)}", []).write(
            numbers, lambda: figure
        )


def _plotted(row: ComparisonRow) -> Document:
    """Return the plotted numbers of a line, in per cent; unknown ones are None."""
    named = {name: getattr(row, name) for name in ("difference", "low", "high", "detectable")}
    numbers = {name: None if value is None else 100 * value for name, value in named.items()}
    return {"name": row.name, "other": row.other, **numbers, "finding": row.finding}


def _draw_panel(axis: "plt.Axes", rows: Sequence[ComparisonRow]) -> None:
    """Draw a line for each number, from the top down."""
    import pandas as pd
    import seaborn as sns

    lines = pd.DataFrame([{**_plotted(row), "place": place} for place, row in enumerate(rows)])
    order = list(FINDINGS)
    sns.scatterplot(
        lines,
        x="difference",
        y="place",
        hue="finding",
        hue_order=order,
        palette=FINDINGS,
        style="finding",
        style_order=order,
        s=18,
        legend="brief",
        ax=axis,
    )
    for place, row in enumerate(rows):
        if row.low is not None and row.high is not None:
            axis.plot(
                [100 * row.low, 100 * row.high], [place, place], color=FINDINGS[row.finding], linewidth=1.2, zorder=0
            )
        if row.detectable is not None:
            ends = [-100 * row.detectable, 100 * row.detectable]
            axis.vlines(ends, place - 0.4, place + 0.4, color="black", linewidth=0.7, linestyle="dotted")
    axis.axvline(0, color="black", linewidth=0.7)
    axis.set_yticks(range(len(rows)), [printable(row.name) for row in rows], fontsize=6)
    xlabel = "difference in per cent, its 95 % interval, and what is detectable (dotted)"
    axis.set(ylim=(len(rows) - 0.5, -0.5), xlabel=xlabel, ylabel="")
    sns.move_legend(axis, "upper left", bbox_to_anchor=(1, 1), title=None, fontsize=6)
    sns.despine(ax=axis, left=True)
    axis.tick_params(axis="y", length=0)
