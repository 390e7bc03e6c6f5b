"""A table as CSV, as Markdown for code hosts and as LaTeX for papers."""

import csv
import io
import re
from collections.abc import Callable, Iterable

from recompose.claims.outcome import span
from recompose.papers.printed import number_in
from recompose.parts.cells import Cell, Table

NUMERIC = re.compile(r"(not run|not measured|)|[^A-Za-z]*(<?[0-9]|-)[^A-Za-z]*( to [^A-Za-z]+)?")
MOST_COLUMNS = 8  # of a table in LaTeX at the size of the text
Syntax = tuple[Callable[[str], str], tuple[str, str, str]]
CSV_COLUMNS = ("row", "column", "source", "view", "text", "value", "spread", "n", "correct", "flag")


def escape_markdown(text: str) -> str:
    """Escape text so that no Markdown renderer takes it for markup."""
    for character in "\\`*_{}[]#":
        text = text.replace(character, f"\\{character}")
    return text.replace("<", "&lt;").replace(">", "&gt;").replace("|", "&#124;")


GREEK = ("alpha", "beta", "gamma", "delta", "epsilon", "lambda", "mu", "tau")
_LATEX = {
    "\\": r"\textbackslash{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "‡": r"\ddag{}",
    **{letter: rf"$\{name}$" for letter, name in zip("αβγδελμτ", GREEK, strict=True)},
}


def escape_latex(text: str) -> str:
    """Escape text so that LaTeX prints it verbatim."""
    return "".join(_LATEX.get(character, character) for character in text)


# how text is escaped, and the marks of a value by its rank: none, the best and the second best of a column
MARKDOWN: Syntax = escape_markdown, ("%s", "**%s**", "*%s*")
LATEX: Syntax = escape_latex, ("%s", r"\textbf{%s}", r"\underline{%s}")


def to_csv(table: Table) -> str:
    """Return one line per cell; ``value`` and ``spread`` with six digits, ``text`` as printed."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    writer.writerows([_plain(getattr(cell, column)) for column in CSV_COLUMNS] for cell in table.cells)
    return out.getvalue()


def _plain(value: object) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def to_markdown(table: Table) -> str:
    """Return the measured and the reported part, with marks for the best and second best of each."""
    parts = [f"# {escape_markdown(table.title)}", escape_markdown(table.caption)]
    parts += map(escape_markdown, table.summary)
    parts += [
        f"## {escape_markdown(heading)}\n\n{_markdown_grid(table, section)}"
        for section, heading in table.sections.items()
    ]
    parts += [escape_markdown(note) for note in _notes(table)]
    file = f"{table.paper}/{table.name}"
    views = [view for view in table.views if not table.is_textual(view)]
    view = f" --view {'|'.join(views)}" if views else ""
    parts.append(f"To trace a value to its runs: `recompose trace {file} --row ROW --column COLUMN{view}`")
    return "\n\n".join(parts) + "\n"


def measured_part(table: Table) -> str:
    """Return the measured values of the first view in Markdown, with a note on their spread."""
    section, heading = next(iter(table.sections.items()))
    summary = "".join(f"{escape_markdown(paragraph)}\n\n" for paragraph in table.summary)
    note = _spread_note(table.section_cells(section))
    return f"{escape_markdown(heading)}:\n\n{summary}{_markdown_grid(table, section)}\n\n{note}".rstrip()


def _markdown_grid(table: Table, section: str) -> str:
    header, rows = _grid(table, section, MARKDOWN)
    rule = ["---:" if is_numeric else "---" for is_numeric in _numeric_columns(table, section, header)]
    return "\n".join("| " + " | ".join(line) + " |" for line in [header, rule, *rows])


def _numeric_columns(table: Table, section: str, header: list[str]) -> list[bool]:
    """Return True for each column of numbers, False for one of words or sentences."""
    words = {cell.column for cell in table.section_cells(section) if not NUMERIC.fullmatch(cell.text)}
    is_textual = table.is_textual(section)
    numeric = [not is_textual and column not in words for column in table.columns(section)]
    return [False] * (len(header) - len(numeric)) + numeric


def to_latex(table: Table) -> str:
    """Return a ``table`` environment for each part; they need the packages booktabs and graphicx, for wide tables."""
    parts = [_latex_table(table, section, heading) for section, heading in table.sections.items()]
    notes = [rf"{{\footnotesize {escape_latex(note)}\par}}" for note in [*table.summary, *_notes(table)]]
    return "\n".join([r"% \usepackage{booktabs,graphicx}", *parts, *notes]) + "\n"


def _latex_table(table: Table, section: str, heading: str) -> str:
    """Return the table of a view; one with many columns is scaled to the width of a line."""
    header, rows = _grid(table, section, LATEX)
    numeric = _numeric_columns(table, section, header)
    is_wide = len(header) > MOST_COLUMNS and not table.is_textual(section)
    words = rf"p{{{0.9 / len(header):.2f}\linewidth}}" if table.is_textual(section) else "l"
    caption = ". ".join(part for part in (table.caption.removesuffix("."), heading) if part)
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape_latex(caption)}}}",
        *([r"\resizebox{\linewidth}{!}{%"] if is_wide else []),
        rf"\begin{{tabular}}{{{''.join('r' if is_numeric else words for is_numeric in numeric)}}}",
        r"\toprule",
        " & ".join(header) + r" \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}" + ("}" if is_wide else ""),
        r"\end{table}",
    ]
    return "\n".join(lines)


def _grid(table: Table, section: str, syntax: Syntax) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of a part, escaped, with the columns that describe the rows in front."""
    (escape, marks), cells, is_reported = syntax, table.section_cells(section), section == "reported"
    rank_of, flags = ranks(cells), [cell for cell in cells if cell.flag]
    printed = {(cell.row, cell.column): cell.text for cell in table.section_cells("reported") if not is_reported}
    about = list(dict.fromkeys(key for row in table.about.values() for key in row)) if is_reported else []
    texts: dict[tuple[str, str], str] = {}
    for cell in cells:
        text, beside = marks[rank_of.get(cell, 0)] % escape(cell.text), printed.get((cell.row, cell.column), "-")
        number = escape(f" [{flags.index(cell) + 1}]") if cell.flag else ""
        texts[cell.row, cell.column] = text + number + ("" if beside == "-" else escape(f" (printed: {beside})"))
    columns, rows = table.columns(section), []
    for row in table.rows(section):
        names = [row, *(table.about.get(row, {}).get(key, "") for key in about)]
        # a row may lack a column: an untrained method has no training time
        rows.append([*map(escape, names), *(texts.get((row, column), "") for column in columns)])
    return [*map(escape, [table.row_heading, *about, *columns])], rows


def ranks(cells: list[Cell]) -> dict[Cell, int]:
    """Return the best (1) and second best (2) cells of each column with a better end, by their texts.

    Values that are printed alike share a rank.
    """
    ranks: dict[Cell, int] = {}
    for column in {cell.column for cell in cells if cell.better}:
        texts = {cell: number_in(cell.text) for cell in cells if cell.column == column}
        values = {cell: cell.better * number for cell, number in texts.items() if number is not None}
        best = sorted(set(values.values()), reverse=True)[:2]
        ranks |= {cell: best.index(value) + 1 for cell, value in values.items() if value in best}
    return ranks


def _notes(table: Table) -> list[str]:
    """Return the notes below a table."""
    flags = [cell for cell in table.section_cells("reported") if cell.flag]
    footnotes = [
        f"[{number}] {cell.row}, {cell.column}: printed {cell.text}; {cell.flag}"
        for number, cell in enumerate(flags, start=1)
    ]
    return [note for note in (_spread_note(table.measured), *table.notes, *footnotes) if note]


def _spread_note(cells: Iterable[Cell]) -> str:
    """Return a note that explains the measured values of a table; empty if all are single runs."""
    counts = sorted({cell.n for cell in cells if cell.spread is not None and cell.n})
    if not counts:
        return ""
    about = f"mean ± sample standard deviation over n = {span(counts)} seeds"
    return f"Measured: {about}; a value without ± is a single run (n = 1)."


FORMATS: dict[str, Callable[[Table], str]] = {"csv": to_csv, "md": to_markdown, "tex": to_latex}  # by ending of a file
