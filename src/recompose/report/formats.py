"""A table as CSV, as Markdown for code hosts and as LaTeX for papers."""

import csv
import io
from collections.abc import Callable, Iterable

from recompose.report.cells import Cell, Table

CSV_COLUMNS = ("row", "column", "source", "text", "value", "spread", "n", "correct", "flag")
HEADINGS = {"measured": "Measured here", "reported": "Reported by the paper"}
Mark = Callable[[str, int], str]  # a cell's text and its rank in its column, 1 is the best


def to_csv(table: Table) -> str:
    """One line a cell; ``value`` and ``spread`` in full, ``text`` as printed."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    writer.writerows([_plain(getattr(cell, column)) for column in CSV_COLUMNS] for cell in table.cells)
    return out.getvalue()


def _plain(value: object) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _ranks(cells: list[Cell]) -> dict[Cell, int]:
    """Best and second best of each column of accuracies, by the printed value; ties share a rank."""
    ranks: dict[Cell, int] = {}
    for column in {cell.column for cell in cells}:
        shown = {cell: round(cell.value, 1) for cell in cells if cell.column == column and cell.value is not None}
        best = sorted(set(shown.values()), reverse=True)[:2]
        ranks |= {cell: best.index(value) + 1 for cell, value in shown.items() if value in best}
    return ranks


def _grid(table: Table, source: str, mark: Mark, ranked: bool) -> tuple[list[str], list[list[str]]]:
    """Header and rows of one source, with the columns that describe the rows in front."""
    cells = table.of(source)
    ranks = _ranks(cells) if ranked else {}
    reported = {(cell.row, cell.column): cell.text for cell in table.of("reported")} if source == "measured" else {}
    flags = [cell for cell in cells if cell.flag]
    found = {(cell.row, cell.column): cell for cell in cells}
    about = list(dict.fromkeys(key for row in table.about.values() for key in row)) if source == "reported" else []
    columns = table.columns(source)
    rows = []
    for row in table.rows(source):
        texts = []
        for column in columns:
            cell = found[row, column]
            text = mark(cell.text, ranks.get(cell, 0)) + (f" [{flags.index(cell) + 1}]" if cell.flag else "")
            printed = reported.get((row, column))
            texts.append(f"{text} (printed: {printed})" if printed and printed != "-" else text)
        rows.append([row, *(table.about.get(row, {}).get(key, "") for key in about), *texts])
    return ["", *about, *columns], rows


def _footnotes(table: Table) -> list[str]:
    flags = [cell for cell in table.of("reported") if cell.flag]
    return [
        f"[{i}] {c.row}, {c.column}: printed {c.text}, correct {c.correct}: {c.flag}" for i, c in enumerate(flags, 1)
    ]


def spread_note(cells: Iterable[Cell]) -> str:
    """What the measured values of a table are."""
    counts = sorted({cell.n for cell in cells if cell.spread is not None and cell.n})
    if not counts:
        return ""
    seeds = " to ".join(str(count) for count in dict.fromkeys((counts[0], counts[-1])))
    return (
        f"Measured: mean ± sample standard deviation over n = {seeds} seeds; a value without ± is a single run (n = 1)."
    )


def _markdown_mark(text: str, rank: int) -> str:
    return {1: f"**{text}**", 2: f"<u>{text}</u>"}.get(rank, text)


def escape_markdown(text: str) -> str:
    """Text that no Markdown renderer takes for markup."""
    for character in "\\`*_{}[]<>#|":
        text = text.replace(character, f"&#{ord(character)};" if character in "<>|" else f"\\{character}")
    return text


def to_markdown(table: Table) -> str:
    """The measured and the reported part, with marks for best and second best of each."""
    parts = [f"# {table.title}", escape_markdown(table.caption)]
    parts += [f"> **{escape_markdown(mark)}**" for mark in table.watermarks]
    for source in ("measured", "reported"):
        if table.of(source):
            header, rows = _grid(table, source, _markdown_mark, ranked=_is_accuracy(table))
            numbers = len(table.columns(source))
            lines = [header, ["---"] * (len(header) - numbers) + ["---:"] * numbers, *rows]
            parts.append(f"## {HEADINGS[source]}")
            parts.append("\n".join("| " + " | ".join(line) + " |" for line in lines))
    notes = [spread_note(table.of("measured")), *table.notes, *_footnotes(table)]
    parts += [escape_markdown(note) for note in notes if note]
    parts.append(
        f"Which runs made a value: `recompose trace reports/{table.paper}/{table.name}.csv --row ROW --column COLUMN`"
    )
    return "\n\n".join(parts) + "\n"


def _is_accuracy(table: Table) -> bool:
    return all(column.split()[-1] in ("S", "U", "H", "AUC") for column in table.columns("measured"))


_LATEX = {
    "\\": r"\textbackslash{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
}


def escape_latex(text: str) -> str:
    """Text that LaTeX prints as it is."""
    return "".join(_LATEX.get(character, character) for character in text)


def _latex_mark(text: str, rank: int) -> str:
    return {1: rf"\textbf{{{escape_latex(text)}}}", 2: rf"\underline{{{escape_latex(text)}}}"}.get(
        rank, escape_latex(text)
    )


def to_latex(table: Table) -> str:
    """A ``table`` environment with a ``tabular`` for each source; needs the package booktabs."""
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{escape_latex(table.caption)}}}"]
    for source in ("measured", "reported"):
        if not table.of(source):
            continue
        header, rows = _grid(table, source, _latex_mark, ranked=_is_accuracy(table))
        names = len(header) - len(table.columns(source))
        lines += [
            rf"\textit{{{HEADINGS[source]}}}\\",
            rf"\begin{{tabular}}{{{'l' * names}{'r' * (len(header) - names)}}}",
            r"\toprule",
            " & ".join(escape_latex(text) for text in header) + r" \\",
            r"\midrule",
            *(" & ".join([*map(escape_latex, row[:names]), *row[names:]]) + r" \\" for row in rows),
            r"\bottomrule",
            r"\end{tabular}\par\medskip",
        ]
    notes = [*table.watermarks, spread_note(table.of("measured")), *table.notes, *_footnotes(table)]
    lines += [rf"{{\footnotesize {escape_latex(note)}\par}}" for note in notes if note]
    return "\n".join([*lines, r"\end{table}"]) + "\n"
