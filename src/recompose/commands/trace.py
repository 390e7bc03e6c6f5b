"""`recompose trace`: a value of an artifact, its trust, and everything that it was made from.

The short answer is one screen; the full one names everything, and adds a tree of what is behind the value.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from shlex import quote

from rich.console import Console
from rich.table import Table

from recompose.audit.artifacts import ArtifactCheck
from recompose.audit.findings import CURRENT, REMEDIES, UNCHECKED, Trust
from recompose.audit.stored import Stored, absent
from recompose.commands.places import find_artifact, place_text
from recompose.console import counted, first, line, print_json, print_line
from recompose.digest import short
from recompose.errors import RecomposeError, TraceError
from recompose.metric_cache import MetricCache
from recompose.palette import STATES
from recompose.papers.declaration import CLAIMS, Paper
from recompose.params.mistakes import nearest
from recompose.parts.cells import Cell, ClaimEvidence, ComparisonEvidence
from recompose.recipes.fingerprint import path_of
from recompose.recipes.plan import Recipe
from recompose.recipes.records import Build, code_text, flat
from recompose.tables.artifacts import reported_cells
from recompose.tables.index import builds_of
from recompose.tables.lineage import Lineage
from recompose.tables.provenance import PROVENANCE
from recompose.tables.published import PublishedLineage
from recompose.workspace import Workspace

MOST = 8  # reasons, values, comparisons or runs that the short answer names
MOST_NAMES = 24  # rows or columns that are listed
PLACE = {"row", "column", "view", "text"}  # the fields of a cell that a list shows
Pair = tuple[str, str]  # a title and a text


@dataclass(frozen=True)
class Artifact:
    """An artifact of the reports, with its lineage."""

    title: str  # <paper>/<name>
    name: str
    paper: Paper
    published: PublishedLineage  # of this artifact alone

    @classmethod
    def read(cls, work: Workspace, title: str) -> "Artifact":
        """Read an artifact of the profile's reports.

        Raises:
            TraceError: no paper declares it, or its lineage is missing, or cannot be relied on.
        """
        folder, _, name = title.partition("/")
        paper = next((paper for paper in work.declared if paper.name == folder and name in paper.artifacts), None)
        if paper is None:
            raise TraceError(f"no paper of the project declares {title}", code="unknown-artifact", place=title)
        published, place = PublishedLineage.read(work, [paper]), f"{work.reports_place}/{PROVENANCE}"
        if title in published.lineages:
            return cls(title, name, paper, replace(published, lineages={title: published.lineages[title]}))
        if (error := published.faults.get(title)) is None:
            message = f"{place} has no {title}: it was not made here; `snakemake --cores all` makes it"
            raise TraceError(message, code="missing-lineage", place=place)
        raise TraceError(f"{place} is {error.state}: {error}; {REMEDIES[error.state]}", code=error.code, place=place)

    @property
    def lineage(self) -> Lineage:
        return self.published.lineages[self.title]

    @cached_property
    def printed(self) -> list[Cell]:
        """The values that its paper printed; the sentences of its claims are none."""
        is_printed = self.paper.artifacts[self.name].kind != CLAIMS
        return list(reported_cells(self.paper, self.name)) if is_printed else []

    def find(self, **query: str | None) -> list[Cell]:
        """Return the cells in a row, column or view, the measured ones first.

        Raises:
            TraceError: there is none; the message names the rows and columns that exist, and the nearest ones.
        """
        places, every = {name: value for name, value in query.items() if value}, [*self.lineage.cells, *self.printed]
        if cells := [cell for cell in every if all(getattr(cell, name) == value for name, value in places.items())]:
            return cells
        lines = [f"{self.title} has no value in {' and '.join(f'{name} {value!r}' for name, value in places.items())}."]
        for place, value in places.items():
            names = _distinct(every, place)
            lines.append(f"  {place}s{'' if value in names else nearest(value, names)}: {', '.join(names)}")
        raise TraceError("\n".join(lines), code="missing-cell", place=self.title)


@dataclass(frozen=True)
class TraceResult:
    """A cell, the trust in it, and the records of everything behind it."""

    cell: Cell
    trust: Trust
    records: dict[str, Recipe]  # by key, dependencies first
    made: dict[str, Build]  # by key: host, time and commit, where they are known
    evidence: ClaimEvidence | None  # for the verdict on a claim, if it is a cell of one
    absent: list[str]  # the keys of what is not on this disk
    views: dict[str, str]  # the text of the same cell in other views

    @property
    def reasons(self) -> list[str]:
        """The reasons for the trust, with a single one for everything that is not on this disk."""
        named = {absent(key).text for key in self.absent}
        reasons = [why for why in self.trust.why if why not in named]
        if len(reasons) == len(self.trust.why):
            return reasons
        return [f"{len(self.absent)} of {len(self.records)} results behind it are not on this disk", *reasons]


def show_trace(
    work: Workspace, name: str, row: str | None, column: str | None, view: str | None, *, full: bool, as_json: bool
) -> None:
    """Print a value of an artifact, or, without a row and a column, what the artifact holds.

    Raises:
        TraceError: there is no such artifact or value; the message names the nearest.
    """
    artifact, console = Artifact.read(work, find_artifact(work, name)), Console()
    cells = artifact.find(row=row, column=column, view=view)
    cell = cells[0] if row is not None and column is not None else None
    traced = trace(work, artifact, cell) if cell and cell.source == "measured" else None
    if as_json:
        listed = [cell.model_dump(include=PLACE) | {"source": cell.source} for cell in cells]
        print_json(traced or {"artifact": artifact.title, "cells": listed})
    elif traced:
        show_traced(console, work, artifact, traced, full=full)
    elif cell:
        show_printed(console, artifact, cell)
    else:
        show_contents(console, artifact, cells, is_whole=row is None and column is None)


def trace(work: Workspace, artifact: Artifact, cell: Cell) -> TraceResult:
    """Trace a measured cell of an artifact, and verify every file behind it."""
    lineage = artifact.lineage
    published = artifact.published
    builds, behind = builds_of(work, published), [*lineage.closure(cell.made_from)]
    beside = [peer for peer in lineage.cells if (peer.row, peer.benchmark) == (cell.row, cell.benchmark)]
    return TraceResult(
        cell,
        _trust(Stored(work, published), artifact, cell),
        {key: lineage.records[key] for key in behind},
        {key: builds[key] for key in behind if key in builds},
        next((peer.evidence for peer in beside if peer.evidence), None),
        [key for key in behind if not work.store.is_complete(published.records[key])],
        {peer.view: peer.text for peer in beside if peer.column == cell.column and peer.view != cell.view},
    )


def _trust(stored: Stored, artifact: Artifact, cell: Cell) -> Trust:
    """Return the trust in a cell, from the checks of the audit that concern it."""
    stored.compute_metrics(cell.made_from, MetricCache.of)
    check = ArtifactCheck(stored, artifact.paper, artifact.name)
    check.check()
    return check.trusts[cell.key]


def show_contents(console: Console, artifact: Artifact, cells: list[Cell], *, is_whole: bool) -> None:
    """Print the rows and columns of an artifact, or the values of one row, column or view of it."""
    measured, printed = ([cell for cell in cells if cell.source == source] for source in ("measured", "reported"))
    print_line(console, (artifact.title, "bold"), f"  {artifact.paper.artifacts[artifact.name].caption}")
    if is_whole:
        parts = [("rows", measured, "row"), ("columns", measured, "column"), ("views", measured, "view")]
        parts += [("printed rows", printed, "row"), ("and columns", printed, "column")]
        names = [(title, ", ".join(first(_distinct(members, part), MOST_NAMES))) for title, members, part in parts]
        _show_lines(console, [(title, texts) for title, texts in names if texts])
    else:
        _show_lines(console, (("measured", text) for text in first(map(_in_place, measured), MOST_NAMES)))
    if measured:
        place = f"--row {quote(measured[0].row)} --column {quote(measured[0].column)}"
        print_line(console, ("one value: ", "dim"), f"recompose trace {quote(artifact.title)} {place}")


def show_printed(console: Console, artifact: Artifact, cell: Cell) -> None:
    """Print a value that a paper printed, and what is measured beside it."""
    paper, flags = artifact.paper, artifact.paper.artifacts[artifact.name].flags
    beside = first(map(_in_place, measured_beside(paper, artifact.lineage.cells, cell)), MOST)
    print_line(console, (cell.text, "bold"), f"  {artifact.title} · {cell.row} · {cell.column}")
    lines = [
        ("printed", f"by {paper.title} ({paper.authors}, {paper.venue}); not measured here, so no run made it"),
        ("file", f"papers/{paper.name}/reported/{artifact.name}.csv"),
        *(("flag", flag.text) for flag in flags if (flag.row, flag.column) == (cell.row, cell.column)),
        *(("measured", text) for text in beside or [f"nothing: {cell.row} is quoted from the paper only"]),
    ]
    _show_lines(console, lines)


def measured_beside(paper: Paper, cells: Iterable[Cell], printed: Cell) -> list[Cell]:
    """Return the measured cells of a printed one's row, those with the same metric's name where there are any."""
    of_row, column = [cell for cell in cells if cell.row == printed.row], printed.column
    label = next((column.removeprefix(f"{name} ") for name in paper.datasets if column.startswith(f"{name} ")), column)
    return [cell for cell in of_row if f" {cell.column}".endswith(f" {label}")] or of_row


def show_traced(console: Console, work: Workspace, artifact: Artifact, traced: TraceResult, *, full: bool) -> None:
    """Print a measured value: trust, value, sources and commands; in full with everything behind it."""
    cell, trust, most = traced.cell, traced.trust, sys.maxsize if full else MOST
    place = " · ".join(filter(None, (artifact.title, cell.row, cell.column, cell.view)))
    print_line(console, (cell.text, "bold"), f"  {place}")
    word = {UNCHECKED: "not verified here", CURRENT: "current: nothing speaks against it"}.get(trust.state, trust.state)
    lines = [
        *(("trust", text) for text in ("; ".join(filter(None, (word, trust.note))), *first(traced.reasons, most))),
        *_value_lines(traced, most),
        *_claim_lines(traced, artifact.paper, most),
        *_origin_lines(work, artifact, traced, most),
        *_source_lines(traced),
    ]
    _show_lines(console, lines, STATES[trust.state])
    if full:
        _show_records(console, work, traced)
    if cell.made_from:
        command = f"recompose make --cell {quote(place_text(artifact.title, cell))}"
        print_line(console, ("to make it again: ", "dim"), command)
    if not full:
        print_line(console, ("to see everything behind it: ", "dim"), "the same with --full")


def _value_lines(traced: TraceResult, most: int) -> Iterator[Pair]:
    """Yield the exact value, the values by seed, and the same cell in other views."""
    cell = traced.cell
    if cell.value is not None:
        spread = f" ± {cell.spread:.4f}" if cell.spread is not None else ""
        yield "value", f"{cell.value:.4f}{spread}, n = {cell.n}, {cell.aggregate}"
    if traced.evidence is None and cell.spread is not None and len(cell.values) == len(cell.made_from):
        seeds = (traced.records[key].labels.get("seed") for key in cell.made_from)
        yield "by seed", _by_seed({str(seed): value for seed, value in zip(seeds, cell.values, strict=True)}, most)
    if traced.views:
        yield "other views", ", ".join(f"{view} {text}" for view, text in traced.views.items())


def _claim_lines(traced: TraceResult, paper: Paper, most: int) -> Iterator[Pair]:
    """Yield the sentence of a claim, the values of the deciding comparison, and the tests of each comparison; all
    values and differences where nothing is left out.
    """
    evidence, is_full = traced.evidence, most > MOST
    if evidence is None:
        return
    if claim := paper.claims.get(traced.cell.row):
        yield "claim", claim.sentence
    unit = f", in {evidence.unit}" if evidence.unit else ""
    for side in evidence.values if is_full else dict.fromkeys(evidence.comparisons[0].sides):
        yield side, f"{_by_seed(evidence.values[side], most)}{unit}"
    texts = (text for comparison in evidence.comparisons for text in _test_texts(evidence, comparison, is_full))
    yield from (("compared", text) for text in first(texts, most))
    yield "compared", "p after correction; price: replicates, if the difference is as measured / if it is zero"


def _test_texts(evidence: ClaimEvidence, comparison: ComparisonEvidence, is_full: bool) -> Iterator[str]:
    """Yield a comparison in one sentence: verdict, difference, p after correction, and price; in full also its
    differences by seed, and its test before correction.
    """
    test, parts = comparison.test, [f"{comparison.text}: {comparison.verdict}"]
    if test:
        parts.append(f"{test.difference:+.4g} at {test.replicates} replicates")
    if comparison.p is not None and comparison.p_margin is not None:
        within = f"{comparison.p_margin:.3g} (within {comparison.margin:g})"
        parts.append(f"p {comparison.p:.3g} ({'beyond it' if comparison.is_kept else 'not zero'}), {within}")
    if comparison.price:
        parts.append(f"price {comparison.price}")
    yield "; ".join(parts)
    if is_full and (differences := evidence.differences(comparison)):
        yield f"differences by seed: {_by_seed(differences, sys.maxsize)}"
    if is_full and test:
        families = f"{evidence.family} and {evidence.margin_family} comparisons"
        yield f"before correction among {families}: p {test.p:.4g}, {test.p_margin:.4g} (within the margin)"


def _origin_lines(work: Workspace, artifact: Artifact, traced: TraceResult, most: int) -> Iterator[Pair]:
    """Yield the printed value, the runs behind a cell, the source files of their methods, and the settings that are not
    the default.
    """
    cell = traced.cell
    for printed in artifact.printed:
        if (printed.row, printed.column) == (cell.row, cell.column):
            yield "printed", f"{printed.text} by the paper, papers/{artifact.title.replace('/', '/reported/')}.csv"
    runs = {key: record for key, record in traced.records.items() if record.kind == "runs"}
    if not runs:
        return
    classes = dict.fromkeys(str(run.document["class"]) for run in runs.values() if "class" in run.document)
    changed = (text for run in runs.values() for text in changed_settings(work, artifact.lineage.track, run))
    yield "runs", ", ".join(first((f"{key} (seed {run.labels.get('seed')})" for key, run in runs.items()), most))
    yield "source", ", ".join(dict.fromkeys(_source_file(work, name) for name in classes))
    settings = first(dict.fromkeys(changed), most) or ["as in the method's section of params.yaml"]
    yield from (("settings", text) for text in settings)


def _source_file(work: Workspace, name: str) -> str:
    """Return the file of a class, written module:Class, from the root of the project if it is in it."""
    try:
        path = path_of(name.partition(":")[0])
    except (ModuleNotFoundError, RecomposeError):
        return name
    return str(path.relative_to(work.root) if path.is_relative_to(work.root) else path)


def changed_settings(work: Workspace, track: str, record: Recipe) -> Iterator[str]:
    """Yield the settings of a run that the method's section of params.yaml has otherwise: those that a variant, a data
    set or a profile changes, or that were edited since.
    """
    method, section = str(record.labels.get("method")), work.file.document.get(track, {})
    default = dict(flat(section.get("methods", {}).get(method, {})))
    for setting, value in flat(record.document.get("settings", {})):
        if setting in default and value != default[setting]:
            yield f"{method}.{setting} {value}, by default {default[setting]}"


def _source_lines(traced: TraceResult) -> Iterator[Pair]:
    """Yield what the cell was made from by kind, and when, where and from which commit that was made."""
    kinds = Counter(record.kind for record in reversed(traced.records.values()))
    if kinds:
        yield "made from", ", ".join(counted(count, kind) for kind, count in kinds.items())
    made = [traced.made[key] for key in traced.cell.made_from if key in traced.made]
    if made:
        days = sorted({build.started[:10] for build in made})
        machines = sorted({f"{build.host}, {build.device}" for build in made})
        commits = sorted({short(build.commit or "none") for build in made})
        seconds = sum(build.seconds for build in traced.made.values())
        yield "made", f"{' to '.join(dict.fromkeys((days[0], days[-1])))} on {'; '.join(first(machines, 2))}"
        yield "made", f"commit {', '.join(first(commits, 3))}; all of it took {seconds:.1f} s"


def _show_records(console: Console, work: Workspace, traced: TraceResult) -> None:
    """Print everything that a cell was made from, by kind; facts that all of a kind share are printed once."""
    for kind in dict.fromkeys(record.kind for record in reversed(traced.records.values())):
        facts = {
            f"{key} {record.name}": list(_facts(work, key, record, traced.made.get(key)))
            for key, record in traced.records.items()
            if record.kind == kind
        }
        lists = list(facts.values())
        shared = [fact for fact in lists[0] if all(fact in pairs for pairs in lists)] if len(lists) > 1 else []
        sections = {f"all of {counted(len(facts), kind)}": shared} if shared else {}
        sections |= {title: [fact for fact in pairs if fact not in shared] for title, pairs in facts.items()}
        for title, pairs in sections.items():
            print_line(console, (title, "bold"))
            texts: dict[str, list[str]] = {}
            for name, text in pairs:
                texts.setdefault(name, []).append(text)
            _show_lines(console, [(name, ", ".join(parts)) for name, parts in texts.items()])


def _facts(work: Workspace, key: str, record: Recipe, made: Build | None) -> Iterator[Pair]:
    """Yield what is known of something stored: parameters, needs, files, code, and when and where it was made."""
    yield from (("parameters", f"{name}={value}") for name, value in flat(record.document))
    yield from (("made from", need.key) for need in record.needs.values())
    if record.code:
        yield "code", code_text(record.code)
    if not (work.results / key).exists():
        yield "its files", "not on this disk"
    if made:
        yield from (("files", f"{name} {short(entry.sha256)}") for name, entry in made.files.items())
        yield "commit", short(made.commit or "none") + (", with uncommitted changes" if made.dirty else "")
        yield "made", f"{made.started} on {made.host}, {made.processor}, in {made.seconds} s, attempt {made.attempts}"


def _by_seed(values: Mapping[str, float], most: int) -> str:
    return ", ".join(first((f"{value:.4g} ({seed})" for seed, value in values.items()), most)) or "none"


def _distinct(cells: Iterable[Cell], part: str) -> list[str]:
    """Return the names of rows, columns or views, each once."""
    return [name for name in dict.fromkeys(getattr(cell, part) for cell in cells) if name]


def _in_place(cell: Cell) -> str:
    """Return the text of a cell with its place in its artifact."""
    return f"{cell.text}  {' · '.join(filter(None, (cell.row, cell.column, cell.view)))}"


def _show_lines(console: Console, lines: Iterable[Pair], trust_colour: str = "") -> None:
    """Print titles, each once, and texts in two columns; texts are printed as they are."""
    table, last = Table.grid(padding=(0, 2)), ""
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for title, text in lines:
        table.add_row(line("" if title == last else title), line((text, trust_colour if title == "trust" else "")))
        last = title
    console.print(table)
