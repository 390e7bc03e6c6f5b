"""`recompose trace`: a value of an artifact, its trust, and everything that it was made from.

The short answer is one screen; the full one is a tree.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from shlex import quote

from rich.console import Console
from rich.table import Table
from rich.tree import Tree

from recompose.audit.checks.artifacts import ArtifactCheck
from recompose.audit.checks.stored import StoredCheck
from recompose.audit.findings import CURRENT, UNCHECKED
from recompose.audit.trust import Trust, TrustEvaluator, absent
from recompose.commands.places import find_artifact, nearest_name, paper_of, place_text
from recompose.console import escape_markup, first, line, pluralize, print_json, print_line, state_colour
from recompose.digest import short
from recompose.errors import LineageError, RecomposeError, TraceError
from recompose.files import Document
from recompose.fingerprint import path_of
from recompose.metric_cache import MetricCache
from recompose.papers.declaration import CLAIMS, Paper
from recompose.params.documents import plain
from recompose.plan import recipe_of
from recompose.records import Build, Description, code_text, flat
from recompose.tables.cells import Cell
from recompose.tables.evidence import ClaimEvidence, ComparisonEvidence
from recompose.tables.lineage import SUFFIX, Lineage, lineage_path
from recompose.tables.published import PublishedLineage
from recompose.tables.table import reported_cells
from recompose.workspace import Workspace

MISSING_CELL = "missing-cell"  # the code of an error
MOST_REASONS = 4  # that the answer names
MOST_VALUES = 8  # of replicates
MOST_COMPARISONS = 8  # of a claim
MOST_NAMES = 24  # rows or columns that are listed
MOST_RUNS = 6
MOST_BESIDE = 6  # measured cells that stand beside a printed one
Line = tuple[str, str]  # a title and a text
Facts = Document  # by title


@dataclass(frozen=True)
class Artifact:
    """An artifact of the reports, with its lineage."""

    path: Path  # any of its files
    title: str  # <paper>/<name>
    name: str
    paper: Paper | None  # None: no paper declares it
    lineage: Lineage

    @classmethod
    def read(cls, papers: Iterable[Paper], path: Path) -> "Artifact":
        """Read an artifact, given any of its files.

        Raises:
            TraceError: its lineage is missing, or cannot be relied on.
        """
        paper, name = paper_of(papers, path)
        return cls(path, f"{path.resolve().parent.name}/{name}", name, paper, read_lineage(path))

    @cached_property
    def printed(self) -> list[Cell]:
        """The values that its paper printed; the sentences of its claims are none."""
        if self.paper is None or self.paper.artifacts[self.name].kind == CLAIMS:
            return []
        return list(reported_cells(self.paper, self.name))

    def find(self, query: dict[str, str]) -> Cell:
        """Return the first measured cell that matches a query by row, column and view.

        Raises:
            TraceError: there is none; the message names the rows and columns that exist.
        """
        for cell in self.lineage.cells:
            if all(getattr(cell, name) == value for name, value in query.items()):
                return cell
        message = _missing_cell_message(str(self.path), self.lineage.cells, query)
        raise TraceError(message, code=MISSING_CELL, place=self.path)


@dataclass(frozen=True)
class ValueInPlace:
    """A value with its place in an artifact."""

    row: str
    column: str
    view: str
    text: str


@dataclass(frozen=True)
class PrintedValue:
    """A value that a paper printed, and what is measured beside it."""

    artifact: str
    row: str
    column: str
    text: str
    paper: str  # title, authors and venue
    file: str  # the file with the printed values
    flag: str = ""  # its error, or the other value that is printed elsewhere
    beside: list[ValueInPlace] = field(default_factory=list)


@dataclass(frozen=True)
class TraceResult:
    """A cell, the records of everything behind it, and the trust in it."""

    cell: Cell
    records: dict[str, Description]  # by key, dependencies first
    made: dict[str, Build]  # by key: host, time and commit, where they are known
    state: str
    why: list[str]
    note: str
    evidence: ClaimEvidence | None = None  # for the verdict on a claim, if it is a cell of one
    absent: tuple[str, ...] = ()  # the keys of what is not on this disk
    views: dict[str, str] = field(default_factory=dict)  # the text of the same cell in other views

    @property
    def word(self) -> str:
        """The state in words: what is not on this disk is not verified here."""
        return "not verified here" if self.state == UNCHECKED else self.state

    @property
    def reasons(self) -> list[str]:
        """The reasons for the state, with a single one for everything that is not on this disk."""
        named = {absent(key).text for key in self.absent}
        others = [why for why in dict.fromkeys(self.why) if why not in named]
        if named.isdisjoint(self.why):
            return others
        return [f"{len(self.absent)} of {len(self.records)} results behind it are not on this disk", *others]

    @property
    def is_current(self) -> bool:
        """True where nothing speaks against it."""
        return self.state == CURRENT


@dataclass(frozen=True)
class FoundValue:
    """A value of an artifact: measured, printed by its paper, or both."""

    artifact: Artifact
    traced: TraceResult | None
    printed: PrintedValue | None


@dataclass(frozen=True)
class Contents:
    """The measured values of an artifact, and the names of the printed ones."""

    artifact: str
    caption: str
    cells: list[ValueInPlace]
    printed_rows: list[str] = field(default_factory=list)
    printed_columns: list[str] = field(default_factory=list)

    @property
    def rows(self) -> list[str]:
        """The measured rows."""
        return list(dict.fromkeys(cell.row for cell in self.cells))

    @property
    def columns(self) -> list[str]:
        """The measured columns."""
        return list(dict.fromkeys(cell.column for cell in self.cells))

    @property
    def views(self) -> list[str]:
        """The views; none if there is a single one."""
        return list(dict.fromkeys(cell.view for cell in self.cells if cell.view))


def show_trace(
    work: Workspace,
    names: tuple[str, ...],
    row: str | None,
    column: str | None,
    view: str | None,
    *,
    full: bool,
    as_json: bool,
) -> None:
    """Print a value of an artifact, or, without a row and a column, what the artifact holds.

    Raises:
        TraceError: there is no such artifact or value; the message names the nearest.
    """
    artifact, console = Artifact.read(work.declared, find_artifact(work, *names)), Console()
    if row is None or column is None:
        listed = contents(artifact, row, column, view)
        if as_json:
            print_json(listed)
        else:
            show_contents(console, listed, row, column)
        return
    value = find_value(work, artifact, row, column, view)
    if as_json:
        print_json(value.traced or value.printed)
    elif value.traced and full:
        show_tree(console, work, artifact, value.traced)
    elif value.traced:
        show_traced(console, work, value, value.traced)
    elif value.printed:
        show_printed(console, value.printed)


def contents(
    artifact: Artifact, row: str | None = None, column: str | None = None, view: str | None = None
) -> Contents:
    """Return the measured values of an artifact in a row, column or view.

    Raises:
        TraceError: it has no such row, column or view.
    """
    query = {name: value for name, value in (("row", row), ("column", column), ("view", view)) if value}
    if query:
        artifact.find(query)
    cells = artifact.lineage.cells
    return Contents(
        artifact.title,
        artifact.paper.artifacts[artifact.name].caption if artifact.paper else "",
        [_in_place(cell) for cell in cells if all(getattr(cell, name) == value for name, value in query.items())],
        list(dict.fromkeys(cell.row for cell in artifact.printed)),
        list(dict.fromkeys(cell.column for cell in artifact.printed)),
    )


def find_printed(artifact: Artifact, row: str, column: str) -> PrintedValue | None:
    """Return the value that a paper printed in a row and a column of an artifact, or None if it printed none there."""
    paper = artifact.paper
    cell = next((cell for cell in artifact.printed if (cell.row, cell.column) == (row, column)), None)
    if paper is None or cell is None:
        return None
    flags = paper.artifacts[artifact.name].flags
    return PrintedValue(
        artifact.title,
        row,
        column,
        cell.text,
        f"{paper.title} ({paper.authors}, {paper.venue})",
        f"papers/{paper.name}/reported/{artifact.name}.csv",
        next((flag.text for flag in flags if (flag.row, flag.column) == (row, column)), ""),
        _beside(paper, artifact.lineage.cells, row, column),
    )


def find_value(work: Workspace, artifact: Artifact, row: str, column: str, view: str | None = None) -> FoundValue:
    """Return the measured value of a cell, traced, and the value that the paper printed there; one of them may be None.

    Raises:
        TraceError: there is neither; the message names the rows and columns that exist, and the nearest ones.
    """
    printed = find_printed(artifact, row, column)
    try:
        return FoundValue(artifact, trace(work, artifact, row, column, view), printed)
    except TraceError as error:
        if error.code != MISSING_CELL:
            raise
        if printed and not view:
            return FoundValue(artifact, None, printed)
        raise _with_printed(error, artifact.printed, row, column) from None


def _with_printed(error: TraceError, printed: list[Cell], row: str, column: str) -> TraceError:
    """Return the error of a missing cell, with the printed row and column that are nearest to what was asked for."""
    rows, columns = (list(dict.fromkeys(getattr(cell, part) for cell in printed)) for part in ("row", "column"))
    nearest = {"row": nearest_name(row, rows), "column": nearest_name(column, columns)}
    hints = ", ".join(f"{part} '{name}'" for part, name in nearest.items() if name)
    text = f"{error}\n  printed by the paper, nearest: {hints}" if hints else str(error)
    return TraceError(text, code=error.code, place=error.place)


def _beside(paper: Paper, cells: list[Cell], row: str, column: str) -> list[ValueInPlace]:
    """Return the measured cells of the same row, those with the same metric's name where there are any."""
    of_row = [cell for cell in cells if cell.row == row]
    label = next((column.removeprefix(f"{data} ") for data in paper.datasets if column.startswith(f"{data} ")), column)
    alike = [cell for cell in of_row if cell.column == label or cell.column.endswith(f" {label}")]
    return [_in_place(cell) for cell in (alike or of_row)[:MOST_BESIDE]]


def _in_place(cell: Cell) -> ValueInPlace:
    return ValueInPlace(cell.row, cell.column, cell.view, cell.text)


def trace(work: Workspace, artifact: Artifact, row: str, column: str, view: str | None = None) -> TraceResult:
    """Trace a measured cell, and verify every file behind it.

    Args:
        work: the workspace.
        artifact: the artifact.
        row: the cell's row.
        column: the cell's column.
        view: the cell's view; None: the first one that fits.

    Raises:
        TraceError: the artifact has no such measured cell.
    """
    lineage = artifact.lineage
    cell = artifact.find({"row": row, "column": column} | ({"view": view} if view else {}))
    published = PublishedLineage.of(work, {artifact.title: lineage})
    trust = _trust(TrustEvaluator(work, published), artifact, cell)
    keys = list(lineage.closure(cell.made_from))
    made = dict(published.made)
    records = {key: lineage.records[key] for key in keys}
    for key in keys:
        recipe = work.plan.by_key.get(key)
        if recipe and work.store.is_complete(recipe):
            made[key] = work.store.record(recipe).build
    return TraceResult(
        cell,
        records,
        {key: made[key] for key in keys if key in made},
        trust.state,
        list(trust.why),
        trust.note,
        _evidence(lineage, cell),
        tuple(key for key in keys if not work.store.is_complete(recipe_of(records[key]))),
        {
            other.view: other.text
            for other in lineage.cells
            if (other.row, other.column) == (cell.row, cell.column) and other.view != cell.view
        },
    )


def _evidence(lineage: Lineage, cell: Cell) -> ClaimEvidence | None:
    """Return the evidence for the claim that a cell belongs to; it is kept with the claim's verdict."""
    claim = (other for other in lineage.cells if (other.row, other.benchmark) == (cell.row, cell.benchmark))
    return next((other.evidence for other in claim if other.evidence), None)


def _trust(evaluator: TrustEvaluator, artifact: Artifact, cell: Cell) -> Trust:
    """Return the trust in a cell, from the checks of the audit that concern it."""
    trust = evaluator.trust(artifact.title, cell)
    if artifact.paper is None:
        return trust
    stored = StoredCheck(evaluator)
    stored.compute_metrics(cell.made_from, MetricCache.of)
    check = ArtifactCheck(evaluator, artifact.paper, artifact.name, stored)
    check.check()
    return Trust(check.states[cell.key], tuple(check.why.get(cell.key, ())), trust.note)


def read_lineage(path: Path) -> Lineage:
    """Read the lineage of an artifact, given any of its files.

    Raises:
        TraceError: it is missing, or cannot be relied on.
    """
    place = lineage_path(path)
    if not place.exists():
        others = [other.name.removesuffix(SUFFIX) for other in sorted(place.parent.glob(f"*{SUFFIX}"))]
        nearest = nearest_name(place.name.removesuffix(SUFFIX), others)
        hint = f"; the nearest is '{nearest}'" if nearest else ""
        remedy = f"`snakemake --cores all` makes it{hint}"
        message = f"{place} is missing: {path.name} is no artifact, or was not made here; {remedy}"
        raise TraceError(message, code="missing-lineage", place=place)
    try:
        return Lineage.read(place)
    except LineageError as error:
        message = f"{place} is {error.state}: {error}. Make it again: `snakemake --cores all`"
        raise TraceError(message, code=error.code, place=place) from None


def _missing_cell_message(artifact: str, cells: list[Cell], query: dict[str, str]) -> str:
    place = " and ".join(f"{name} {value!r}" for name, value in query.items())
    lines = [f"{artifact} has no measured cell in {place}."]
    for name, value in query.items():
        names = list(dict.fromkeys(getattr(cell, name) for cell in cells))
        nearest = nearest_name(value, reversed(names))
        hint = f" (nearest: '{nearest}')" if nearest and value not in names else ""
        lines.append(f"  {name}s{hint}: {', '.join(names)}")
    return "\n".join(lines)


def show_traced(console: Console, work: Workspace, value: FoundValue, traced: TraceResult) -> None:
    """Print a measured value: trust, value, sources and commands."""
    cell, printed = traced.cell, value.printed
    _show_heading(console, cell.text, value.artifact.title, ValueInPlace(cell.row, cell.column, cell.view, cell.text))
    lines = [
        ("trust", _trust_text(traced)),
        *[("", reason) for reason in first(traced.reasons, MOST_REASONS)],
        *_value_lines(traced),
        *_claim_lines(traced, value.artifact.paper),
        *([("printed", f"{printed.text} by the paper, {printed.file}")] if printed else []),
        *_origin_lines(work, value.artifact, traced),
        *_source_lines(traced),
    ]
    _show_lines(console, lines, {"trust": state_colour(traced.state)})
    if cell.made_from:
        print_line(console, ("to make it again: ", "dim"), _command(value.artifact.title, cell))
    print_line(console, ("to see everything behind it: ", "dim"), "the same with --full")


def show_printed(console: Console, printed: PrintedValue) -> None:
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
    print_line(console, (contents.artifact, "bold"), f"  {contents.caption}" if contents.caption else "")
    if row or column:
        lines = _titled("measured", first([_cell_text(cell) for cell in contents.cells], MOST_NAMES))
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
        print_line(console, ("one value: ", "dim"), f"recompose trace {quote(contents.artifact)} {place}")


def _show_heading(console: Console, text: str, artifact: str, cell: ValueInPlace) -> None:
    place = " · ".join(part for part in (artifact, cell.row, cell.column, cell.view) if part)
    print_line(console, (text, "bold"), f"  {place}")


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
    yield from _titled("compared", first(texts, MOST_COMPARISONS))
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


def _origin_lines(work: Workspace, artifact: Artifact, traced: TraceResult) -> Iterator[Line]:
    """Yield the runs behind a cell, the source files of their methods, and the settings that are not the default."""
    runs = {key: record for key, record in traced.records.items() if record.kind == "runs"}
    classes, settings = dict[str, None](), dict[str, None]()
    for record in runs.values():
        classes |= {str(record.document["class"]): None} if "class" in record.document else {}
        settings |= dict.fromkeys(changed_settings(work, artifact.lineage.track, record))
    if runs:
        keys = (f"{key} (seed {record.labels.get('seed')})" for key, record in runs.items())
        yield "runs", ", ".join(first(keys, MOST_RUNS))
        yield "source", ", ".join(first((_source_file(work, name) for name in classes), MOST_RUNS))
        yield from _titled("settings", first(settings, MOST_RUNS) or ["as in the method's section of params.yaml"])


def _source_file(work: Workspace, name: str) -> str:
    """Return the file of a class, written module:Class, from the root of the project if it is in it."""
    try:
        path = path_of(name.partition(":")[0])
    except (ModuleNotFoundError, RecomposeError):
        return name
    return str(path.relative_to(work.root) if path.is_relative_to(work.root) else path)


def changed_settings(work: Workspace, track: str, record: Description) -> Iterator[str]:
    """Yield the settings of a run that the method's section of params.yaml has otherwise: those that a variant, a data
    set or a profile changes, or that were edited since.
    """
    method, section = str(record.labels.get("method")), plain(work.file.document).get(track, {})
    default = dict(flat(section.get("methods", {}).get(method, {})))
    for setting, value in flat(record.document.get("settings", {})):
        if setting in default and value != default[setting]:
            yield f"{method}.{setting} {value}, by default {default[setting]}"


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
        yield "made", f"{days[0]}{f' to {days[-1]}' if len(days) > 1 else ''} on {'; '.join(first(machines, 2))}"
        yield "", f"commit {', '.join(first(commits, 3))}; all of it took {seconds:.1f} s"


def _command(artifact: str, cell: Cell) -> str:
    """Return the command that makes what is missing behind a cell."""
    return f"recompose make --cell {quote(place_text(artifact, cell))}"


def _by_seed(values: Mapping[str, float], most: int = MOST_VALUES) -> str:
    return ", ".join(first((f"{value:.4g} ({seed})" for seed, value in values.items()), most)) or "none"


def _cell_text(cell: ValueInPlace) -> str:
    return f"{cell.text}  {' · '.join(part for part in (cell.row, cell.column, cell.view) if part)}"


def _titled(title: str, texts: Iterable[str]) -> list[Line]:
    """Return lines of which the first has a title."""
    return [(title if place == 0 else "", text) for place, text in enumerate(texts)]


def _joined(names: list[str]) -> str:
    return ", ".join(first(names, MOST_NAMES))


def _show_lines(console: Console, lines: Iterable[Line], colours: Mapping[str, str]) -> None:
    """Print titles and texts in two columns; texts are printed as they are."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for title, text in lines:
        table.add_row(line(title), line((text, colours.get(title, ""))))
    console.print(table)


def show_tree(console: Console, work: Workspace, artifact: Artifact, traced: TraceResult) -> None:
    """Print a cell as a tree: value, state, and everything that it was made from; common facts appear once."""
    cell = traced.cell
    place = " · ".join(escape_markup(text) for text in (artifact.title, cell.row, cell.column, cell.view) if text)
    colour = state_colour(traced.state)
    tree = Tree(f"[bold]{escape_markup(cell.text)}[/bold]  {place} · [{colour}]{traced.word}[/{colour}]")
    for reason in traced.reasons:
        tree.add(f"[{colour}]{escape_markup(reason)}[/{colour}]")
    if traced.note:
        tree.add(escape_markup(traced.note))
    if cell.value is not None:
        spread = f" ± {cell.spread:.4f}" if cell.spread is not None else ""
        tree.add(f"{cell.aggregate}: {cell.value:.4f}{spread}, n = {cell.n}")
    has_one_each = len(cell.made_from) == len(cell.values)
    values = dict(zip(cell.made_from, cell.values, strict=True)) if has_one_each else {}
    if traced.evidence:
        _add_evidence(tree, traced.evidence)
    elif cell.values and not has_one_each:
        tree.add(f"by seed: {', '.join(f'{value:.4f}' for value in cell.values)}")
    for kind in dict.fromkeys(record.kind for record in reversed(traced.records.values())):
        _add_kind(tree, work, traced, kind, values)
    console.print(tree)
    if cell.made_from:
        print_line(console, ("to make it again: ", "dim"), _command(artifact.title, cell))


def _add_evidence(tree: Tree, evidence: ClaimEvidence) -> None:
    """Add the values by replicate, and the tests of each comparison of a claim."""
    unit = f", in {evidence.unit}" if evidence.unit else ""
    branch = tree.add(f"[bold]values by replicate (seed){escape_markup(unit)}[/bold]")
    for side, values in evidence.values.items():
        branch.add(escape_markup(f"{side}: {_by_seed(values, len(values))}"))
    for comparison in evidence.comparisons:
        title = f"{comparison.text}: {comparison.verdict}"
        branch = tree.add(f"[bold]{escape_markup(title)}[/bold]")
        for text in _comparison_lines(evidence, comparison):
            branch.add(escape_markup(text))


def _comparison_lines(evidence: ClaimEvidence, comparison: ComparisonEvidence) -> Iterator[str]:
    """Yield the differences, the test, its correction and the price of a comparison."""
    if differences := evidence.differences(comparison):
        yield f"differences by replicate (seed): {_by_seed(differences, len(differences))}"
    question = "beyond the margin" if comparison.is_kept else "different from zero"
    if test := comparison.test:
        yield (
            f"{test.replicates} replicates: difference {test.difference:+.4g}; p {test.p:.4g} ({question}), "
            f"{test.p_margin:.4g} (within the margin)"
        )
    if comparison.p is not None and comparison.p_margin is not None:
        yield (
            f"after correction for other comparisons (Holm): p {comparison.p:.4g} ({question}, among "
            f"{evidence.family}), {comparison.p_margin:.4g} (within the margin of {comparison.margin:g}, among "
            f"{evidence.margin_family})"
        )
    if comparison.price:
        yield f"replicates that decide it, if the difference is as measured / if it is zero: {comparison.price}"


def _add_kind(tree: Tree, work: Workspace, traced: TraceResult, kind: str, values: dict[str, float]) -> None:
    """Add everything of one kind that is behind a cell."""
    records = {key: record for key, record in traced.records.items() if record.kind == kind}
    facts = {key: _facts(work, key, record, traced.made.get(key)) for key, record in records.items()}
    common = [_common(list(part)) for part in zip(*facts.values(), strict=True)]
    if any(common):
        _add_facts(tree.add(f"[bold]all {len(records)} {kind}[/bold]"), *common)
    for key, record in records.items():
        value = "" if values.get(key) is None else f": {values[key]:.4f}"
        branch = tree.add(f"[bold]{escape_markup(key)}[/bold] {escape_markup(record.name)}{value}")
        _add_facts(branch, *(_without(part, shared) for part, shared in zip(facts[key], common, strict=True)))


def _add_facts(tree: Tree, parameters: Facts, needs: Facts, details: Facts) -> None:
    lines = {
        "parameters": ", ".join(f"{name}={value}" for name, value in parameters.items()),
        "made from": ", ".join(needs.values()),
        **details,
    }
    for name, text in lines.items():
        if text:
            tree.add(f"[dim]{name}[/dim] {escape_markup(text)}")


def _common(facts: list[Facts]) -> Facts:
    """Return the facts that all have in common, none of fewer than two."""
    if len(facts) < 2:
        return {}
    first, *following = facts
    return {name: value for name, value in first.items() if all(name in f and f[name] == value for f in following)}


def _without(values: Facts, common: Facts) -> Facts:
    return {name: value for name, value in values.items() if name not in common}


def _facts(work: Workspace, key: str, record: Description, made: Build | None) -> tuple[Facts, Facts, Facts]:
    """Return the parameters, the needs and the other facts of something stored."""
    needs = {role: need.key for role, need in record.needs.items()}
    return dict(flat(record.document)), needs, _other_facts(work, key, record, made)


def _other_facts(work: Workspace, key: str, record: Description, made: Build | None) -> Facts:
    lines = {
        "files": ", ".join(f"{name} {short(entry.sha256)}" for name, entry in made.files.items()) if made else "",
        "code": code_text(record.code),
        "its files": "" if (work.results / key).exists() else "not on this disk",
    }
    if made:
        attempts = f", the last of {made.attempts} attempts" if made.attempts > 1 else ""
        lines |= {
            "commit": short(made.commit or "none") + (", with uncommitted changes" if made.dirty else ""),
            "machine": f"{made.host}, {made.processor}",
            "made": f"{made.started}, in {made.seconds} s{attempts}",
        }
    return lines
