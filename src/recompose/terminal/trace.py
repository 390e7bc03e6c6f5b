"""The answer of `recompose trace` in one screen: a value, its trust, and what it was made from.

`show_trace` of `lineage` prints all of it as a tree.
"""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from shlex import quote

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recompose.console import pluralize, state_colour
from recompose.digest import short
from recompose.exhibits.evidence import ClaimEvidence, ComparisonEvidence
from recompose.papers.declaration import Paper
from recompose.progress import printable
from recompose.provenance.cell_place import place_text
from recompose.provenance.contents import Contents, FoundValue, PrintedValue, ValueInPlace
from recompose.provenance.trace import TraceResult
from recompose.terminal.lineage import show_trace
from recompose.workspace import Workspace

MOST_REASONS = 4  # that the answer names
MOST_VALUES = 8  # of replicates
MOST_COMPARISONS = 8  # of a claim
MOST_NAMES = 24  # rows or columns that are listed
Line = tuple[str, str]  # a title and a text


def show_value(console: Console, work: Workspace, path: Path, value: FoundValue, *, full: bool = False) -> None:
    """Print a value of an artifact: a measured one with its trust, in one screen or in full, or else a printed one.

    Args:
        console: the terminal.
        work: the workspace.
        path: any file of the artifact.
        value: the value.
        full: true for everything behind a measured value, as a tree.
    """
    if value.traced and full:
        show_trace(console, work, path, value.traced)
    elif value.traced:
        _show_traced(console, work, value, value.traced)
    elif value.printed:
        _show_printed(console, value.printed)


def _show_traced(console: Console, work: Workspace, value: FoundValue, traced: TraceResult) -> None:
    """Print a measured value: trust, value, sources and commands."""
    cell, printed = traced.cell, value.printed
    _show_heading(console, cell.text, value.artifact, ValueInPlace(cell.row, cell.column, cell.view, cell.text))
    lines = [
        ("trust", _trust_text(traced)),
        *[("", reason) for reason in _first(traced.reasons, MOST_REASONS)],
        *_value_lines(traced),
        *_claim_lines(traced, value.paper),
        *([("printed", f"{printed.text} by the paper, {printed.file}")] if printed else []),
        *_source_lines(traced),
    ]
    _show_lines(console, lines, {"trust": state_colour(traced.state)})
    for purpose, command in _commands(value.artifact, traced):
        _say(console, (f"{purpose}: ", "dim"), command)


def _show_printed(console: Console, printed: PrintedValue) -> None:
    """Print a value that a paper printed, and what is measured beside it."""
    place = ValueInPlace(printed.row, printed.column, "", printed.text)
    _show_heading(console, printed.text, printed.artifact, place)
    beside = [_cell_text(cell) for cell in printed.beside]
    lines = [
        ("printed", f"by {printed.paper}; not measured here, so no run made it"),
        ("file", printed.file),
        *([("flag", printed.flag)] if printed.flag else []),
        *_titled("measured", beside or [f"nothing: {printed.row} is quoted from the paper only"]),
    ]
    _show_lines(console, lines, {})


def show_contents(console: Console, contents: Contents, row: str | None, column: str | None) -> None:
    """Print the rows and columns of an artifact, or the values of one row or column of it."""
    _say(console, (contents.artifact, "bold"), f"  {contents.caption}" if contents.caption else "")
    if row or column:
        lines = _titled("measured", _first([_cell_text(cell) for cell in contents.cells], MOST_NAMES))
    else:
        lines = [
            ("rows", _joined(contents.rows)),
            ("columns", _joined(contents.columns)),
            *([("views", _joined(contents.views))] if contents.views else []),
            *([("printed rows", _joined(contents.printed_rows))] if contents.printed_rows else []),
            *([("and columns", _joined(contents.printed_columns))] if contents.printed_columns else []),
        ]
    _show_lines(console, lines, {})
    if contents.cells:
        cell = contents.cells[0]
        place = f"--row {quote(cell.row)} --column {quote(cell.column)}"
        _say(console, ("one value: ", "dim"), f"recompose trace {quote(contents.artifact)} {place}")


def _show_heading(console: Console, text: str, artifact: str, cell: ValueInPlace) -> None:
    place = " · ".join(part for part in (artifact, cell.row, cell.column, cell.view) if part)
    _say(console, (text, "bold"), f"  {place}")


def _trust_text(traced: TraceResult) -> str:
    note = f"; {traced.note}" if traced.note else ""
    return f"{traced.word}{': nothing speaks against it' if traced.is_current else ''}{note}"


def _value_lines(traced: TraceResult) -> Iterator[Line]:
    """Yield the exact value, the values by seed, and the same cell in other views."""
    cell = traced.cell
    if cell.value is not None:
        spread = f" ± {cell.spread:.4f}" if cell.spread is not None else ""
        yield "value", f"{cell.value:.4f}{spread}, n = {cell.n}, {cell.aggregate}"
    if traced.evidence is None and cell.spread is not None and len(cell.values) == len(cell.made_from):
        seeds = (traced.records[key].labels.get("seed") for key in cell.made_from)
        values = {str(seed): float(value) for seed, value in zip(seeds, cell.values, strict=True)}
        yield "by seed", _by_seed(values)
    if traced.views:
        yield "other views", ", ".join(f"{view} {text}" for view, text in traced.views.items())


def _claim_lines(traced: TraceResult, paper: Paper | None) -> Iterator[Line]:
    """Yield the sentence of a claim, the values of the deciding comparison, and a line for each comparison."""
    evidence = traced.evidence
    if evidence is None:
        return
    if claim := paper.claims.get(traced.cell.row) if paper else None:
        yield "claim", claim.sentence
    for side in dict.fromkeys(evidence.comparisons[0].sides):
        yield side, f"{_by_seed(evidence.values[side])}{f', in {evidence.unit}' if evidence.unit else ''}"
    texts = [_comparison_text(evidence, comparison) for comparison in evidence.comparisons]
    yield from _titled("compared", _first(texts, MOST_COMPARISONS))
    yield "", "p after correction; price: replicates, if the difference is as measured / if it is zero"


def _comparison_text(evidence: ClaimEvidence, comparison: ComparisonEvidence) -> str:
    """Return a comparison in one sentence: verdict, difference, p after correction, and price."""
    parts = [f"{comparison.text}: {comparison.verdict}"]
    if test := comparison.test:
        parts.append(f"{test.difference:+.4g} at {test.replicates} replicates")
    if comparison.p is not None and comparison.p_margin is not None:
        within = f"{comparison.p_margin:.3g} (within {comparison.margin:g})"
        parts.append(f"p {comparison.p:.3g} ({'beyond it' if comparison.is_kept else 'not zero'}), {within}")
    if comparison.price:
        parts.append(f"price {comparison.price}")
    return "; ".join(parts)


def _source_lines(traced: TraceResult) -> Iterator[Line]:
    """Yield what the cell was made from by kind, and when, where and from which commit that was made."""
    kinds = Counter(record.kind for record in reversed(traced.records.values()))
    if kinds:
        yield "made from", ", ".join(pluralize(count, kind.removesuffix("s")) for kind, count in kinds.items())
    made = [traced.made[key] for key in traced.cell.made_from if key in traced.made]
    if made:
        days = sorted({build.started[:10] for build in made})
        machines = sorted({f"{build.host}, {build.device}" for build in made})
        commits = sorted({short(build.commit or "none") for build in made})
        seconds = sum(build.seconds for build in traced.made.values())
        yield "made", f"{days[0]}{f' to {days[-1]}' if len(days) > 1 else ''} on {'; '.join(_first(machines, 2))}"
        yield "", f"commit {', '.join(_first(commits, 3))}; all of it took {seconds:.1f} s"


def _commands(artifact: str, traced: TraceResult) -> Iterator[Line]:
    """Yield the commands that make what is missing, and that show everything, each after its purpose."""
    if traced.cell.made_from:
        yield "to make it again", f"recompose make --cell {shlex.quote(place_text(artifact, traced.cell))}"
    yield "to see everything behind it", "the same with --full"


def _by_seed(values: Mapping[str, float]) -> str:
    texts = [f"{value:.4g} ({seed})" for seed, value in values.items()]
    return ", ".join(_first(texts, MOST_VALUES)) or "none"


def _cell_text(cell: ValueInPlace) -> str:
    return f"{cell.text}  {' · '.join(part for part in (cell.row, cell.column, cell.view) if part)}"


def _titled(title: str, texts: Iterable[str]) -> list[Line]:
    """Return lines of which the first has a title."""
    return [(title if place == 0 else "", text) for place, text in enumerate(texts)]


def _joined(names: list[str]) -> str:
    return ", ".join(_first(names, MOST_NAMES))


def _first(texts: Iterable[str], most: int) -> list[str]:
    """Return the first texts, and how many more there are."""
    listed = list(texts)
    return listed if len(listed) <= most else [*listed[:most], f"and {len(listed) - most} more"]


def _show_lines(console: Console, lines: Iterable[Line], colours: Mapping[str, str]) -> None:
    """Print titles and texts in two columns; texts are printed as they are."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for title, text in lines:
        table.add_row(Text(printable(title)), Text(printable(text), style=colours.get(title, "")))
    console.print(table)


def _say(console: Console, *parts: str | tuple[str, str]) -> None:
    texts = (printable(part) if isinstance(part, str) else (printable(part[0]), part[1]) for part in parts)
    console.print(Text.assemble(*texts), soft_wrap=True)
