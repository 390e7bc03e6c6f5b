"""`recompose trace`: a value of an artifact, its state, and all that it was made from; or what rests on a result.

The short answer is one screen; the full one names everything that is behind the value.
"""

import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from shlex import quote

from recompose.audit.cells import ArtifactCheck
from recompose.audit.contents import Contents
from recompose.commands.places import find_artifact, place_text
from recompose.console import counted, first, print_json, show_facts
from recompose.digest import short
from recompose.errors import RecomposeError, TraceError
from recompose.files import Document
from recompose.palette import STATES
from recompose.papers.declaration import CLAIMS, Paper
from recompose.params.mistakes import key_of, nearest
from recompose.parts.cells import Cell, ClaimEvidence, ComparisonEvidence
from recompose.phases import FOLLOWING
from recompose.recipes.fingerprint import path_of
from recompose.recipes.plan import Recipe
from recompose.recipes.records import Build, code_text, flat
from recompose.recipes.state import UNCHECKED, State
from recompose.tables.artifacts import reported_cells
from recompose.tables.provenance import PROVENANCE
from recompose.tables.published import Published
from recompose.tables.reports import Reports, builds_of
from recompose.workspace import Workspace

MOST, MOST_NAMES = 8, 24  # values that the short answer names, rows or columns that are listed
PLACE = {"row", "column", "view", "text"}  # the fields of a cell that a list shows
Facts = Iterator[tuple[str, str]]  # titles and texts


@dataclass(frozen=True)
class Artifact:
    """An artifact as the reports, or the store where it was made since, tell it."""

    reports: Reports
    title: str  # <paper>/<name>
    paper: Paper
    published: Published

    @classmethod
    def read(cls, work: Workspace, title: str) -> "Artifact":
        """Read an artifact of the profile's reports.

        Raises:
            TraceError: no paper declares it, or nothing tells of it.
        """
        folder, _, name = title.partition("/")
        paper = next((paper for paper in work.declared if paper.name == folder and name in paper.artifacts), None)
        if paper is None:
            raise TraceError(f"no paper of the project declares {title}", place=title)
        reports = Reports(work)
        published, place = Published.read(reports).with_newer(reports, [title]), f"{work.reports_place}/{PROVENANCE}"
        if title not in published.cells:
            why = published.fault or f"{place} has no {title}: it was not made here; `snakemake --cores all` makes it"
            raise TraceError(why, place=place)
        alone = replace(published, artifacts={title: published.artifacts[title]}, cells={title: published.cells[title]})
        return cls(reports, title, paper, alone)

    @cached_property
    def printed(self) -> list[Cell]:
        """The values that its paper printed; the sentences of its claims are none."""
        name = self.title.partition("/")[2]
        return [*reported_cells(self.paper, name)] if self.paper.artifacts[name].kind != CLAIMS else []

    @property
    def cells(self) -> list[Cell]:
        """The measured values."""
        return self.published.cells[self.title]

    def find(self, **query: str | None) -> list[Cell]:
        """Return the cells in a row, column or view, the measured ones first.

        Raises:
            TraceError: there is none; the message names the rows and columns that exist, and the nearest ones.
        """
        places, every = {name: value for name, value in query.items() if value}, [*self.cells, *self.printed]
        if cells := [cell for cell in every if all(getattr(cell, name) == value for name, value in places.items())]:
            return cells
        lines = [f"{self.title} has no value in {' and '.join(f'{name} {value!r}' for name, value in places.items())}."]
        for place, value in places.items():
            names = _distinct(every, place)
            lines.append(f"  {place}s{'' if value in names else nearest(value, names)}: {', '.join(names)}")
        raise TraceError("\n".join(lines), place=self.title)

    def state(self, cell: Cell) -> State:
        """Return the state of a measured cell, by the checks of the audit that concern it."""
        contents = Contents(self.reports, self.published)
        check = ArtifactCheck(contents, self.paper, self.title.partition("/")[2])
        deque(contents.measure(cell.made_from, quick=True), maxlen=0)
        check.check()
        return check.states[cell.key]


def show_trace(
    work: Workspace, name: str, row: str | None, column: str | None, view: str | None, *, full: bool, as_json: bool
) -> None:
    """Print a value of an artifact, or, without a row and a column, what the artifact holds.

    Raises:
        TraceError: there is no such artifact or value; the message names the nearest.
    """
    artifact = Artifact.read(work, find_artifact(work, name))
    cells = artifact.find(row=row, column=column, view=view)
    if row is None or column is None:
        document = {
            "artifact": artifact.title,
            "cells": [cell.model_dump(include=PLACE) | {"source": cell.source} for cell in cells],
        }
        facts = _contents(artifact, cells, is_whole=row is None and column is None)
        heading = (artifact.title, artifact.paper.artifacts[artifact.title.partition("/")[2]].caption)
    else:
        cell, heading = (
            cells[0],
            (cells[0].text, " · ".join(filter(None, (artifact.title, row, column, cells[0].view)))),
        )
        facts, document = _printed(artifact, cell), cell.model_dump(include=PLACE) | {"source": cell.source}
        if cell.source == "measured":
            facts, document = traced(artifact, cell, sys.maxsize if full else MOST)
    if as_json:
        print_json(document)
    else:
        show_facts(heading, facts, STATES)


def traced(artifact: Artifact, cell: Cell, most: int) -> tuple[Facts, Document]:
    """Return what is behind a measured cell, as facts of which each names at most so many, and as plain values."""
    work, published, state = artifact.reports.work, artifact.published, artifact.state(cell)
    behind = {recipe.key: recipe for recipe in published.behind(cell.made_from)}
    made = {key: published.made[key] for key in behind if key in published.made} | builds_of(work, behind.values())
    beside = [peer for peer in artifact.cells if (peer.row, peer.benchmark) == (cell.row, cell.benchmark)]
    evidence = next((peer.evidence for peer in beside if peer.evidence), None)
    absent = [key for key, recipe in behind.items() if not work.store.is_complete(recipe)]

    def facts() -> Facts:
        yield from _state_facts(state, absent, len(behind), most)
        yield from _value_facts(cell, behind, is_claim=evidence is not None, most=most)
        views = [peer for peer in beside if peer.column == cell.column and peer.view != cell.view]
        yield "other views", ", ".join(f"{peer.view} {peer.text}" for peer in views)
        if evidence:
            yield from _claim_facts(evidence, artifact.paper, cell, most)
        yield from _origin_facts(artifact, cell, behind, most)
        yield from _made_facts(cell, behind, made)
        if most > MOST:
            yield from (fact for recipe in behind.values() for fact in _record(work, recipe, made.get(recipe.key)))
        if cell.made_from:
            yield "make again", f"recompose make --cell {quote(place_text(artifact.title, cell))}"
        if most == MOST:
            yield "more", "the same with --full names everything behind it"

    recipes = {key: recipe.plain() for key, recipe in behind.items()}
    return facts(), {
        "cell": cell,
        "state": {"word": state.word, "why": state.why},
        "recipes": recipes,
        "made": made,
        "evidence": evidence,
        "absent": absent,
    }


def _state_facts(state: State, absent: list[str], count: int, most: int) -> Facts:
    yield "state", state.word
    reasons = list(state.why)
    if state.word == UNCHECKED and absent:
        others = [why for why in reasons if not any(key in why for key in absent)]
        reasons = [f"{len(absent)} of {count} results behind it are not on this disk", *others]
    yield from (("state", why) for why in first(reasons, most))


def _value_facts(cell: Cell, behind: Mapping[str, Recipe], *, is_claim: bool, most: int) -> Facts:
    """Yield the exact value, and the values by seed."""
    if cell.value is not None:
        spread = f" ± {cell.spread:.4f}" if cell.spread is not None else ""
        yield "value", f"{cell.value:.4f}{spread}, n = {cell.n}, {cell.aggregate}"
    if not is_claim and cell.spread is not None and len(cell.values) == len(cell.made_from):
        seeds = (str(behind[key].labels.get("seed")) for key in cell.made_from)
        yield "by seed", _by_seed(dict(zip(seeds, cell.values, strict=True)), most)


def _claim_facts(evidence: ClaimEvidence, paper: Paper, cell: Cell, most: int) -> Facts:
    """Yield the sentence of a claim, the values of the deciding comparison, and the tests of each comparison; all
    values and differences where nothing is left out.
    """
    if claim := paper.claims.get(cell.row):
        yield "claim", claim.sentence
    unit, sides = f", in {evidence.unit}" if evidence.unit else "", dict.fromkeys(evidence.comparisons[0].sides)
    for side in evidence.values if most > MOST else sides:
        yield side, f"{_by_seed(evidence.values[side], most)}{unit}"
    texts = (text for each in evidence.comparisons for text in _test_texts(evidence, each, is_full=most > MOST))
    yield from (("compared", text) for text in first(texts, most))
    yield "compared", "p after correction; price: replicates, if the difference is as measured / if it is zero"


def _test_texts(evidence: ClaimEvidence, comparison: ComparisonEvidence, *, is_full: bool) -> Iterator[str]:
    """Yield a comparison in one sentence; in full also its differences by seed, and its test before correction."""
    test, parts = comparison.test, [f"{comparison.text}: {comparison.verdict}"]
    if test:
        parts.append(f"{test.difference:+.4g} at {test.replicates} replicates")
    if comparison.p is not None and comparison.p_margin is not None:
        within = f"{comparison.p_margin:.3g} (within {comparison.margin:g})"
        parts.append(f"p {comparison.p:.3g} ({'beyond it' if comparison.is_kept else 'not zero'}), {within}")
    yield "; ".join([*parts, *([f"price {comparison.price}"] if comparison.price else [])])
    if is_full and (differences := evidence.differences(comparison)):
        yield f"differences by seed: {_by_seed(differences, sys.maxsize)}"
    if is_full and test:
        families = f"{evidence.family} and {evidence.margin_family} comparisons"
        yield f"before correction among {families}: p {test.p:.4g}, {test.p_margin:.4g} (within the margin)"


def _origin_facts(artifact: Artifact, cell: Cell, behind: Mapping[str, Recipe], most: int) -> Facts:
    """Yield the printed value, the runs behind a cell, the source files of their methods, and the settings that are not
    the default.
    """
    work = artifact.reports.work
    for printed in artifact.printed:
        if (printed.row, printed.column) == (cell.row, cell.column):
            yield "printed", f"{printed.text} by the paper, papers/{artifact.title.replace('/', '/reported/')}.csv"
    if runs := {key: recipe for key, recipe in behind.items() if recipe.kind == "runs"}:
        classes = dict.fromkeys(str(run.document["class"]) for run in runs.values() if "class" in run.document)
        changed = dict.fromkeys(text for run in runs.values() for text in changed_settings(work, run))
        yield "runs", ", ".join(first((f"{key} (seed {run.labels.get('seed')})" for key, run in runs.items()), most))
        yield "source", ", ".join(dict.fromkeys(_source_file(work, name) for name in classes))
        settings = first(changed, most) or ["as in the method's section of params.yaml"]
        yield from (("settings", text) for text in settings)


def _source_file(work: Workspace, name: str) -> str:
    """Return the file of a class, written module:Class, from the root of the project if it is in it."""
    try:
        path = path_of(name.partition(":")[0])
    except (ModuleNotFoundError, RecomposeError):
        return name
    return str(path.relative_to(work.root) if path.is_relative_to(work.root) else path)


def changed_settings(work: Workspace, run: Recipe) -> Iterator[str]:
    """Yield the settings of a run that the method's section of params.yaml has otherwise: those that a variant, a data
    set or a profile changes, or that were edited since.
    """
    method, section = str(run.labels.get("method")), work.file.document.get(run.track, {})
    default = dict(flat(section.get("methods", {}).get(method, {})))
    for setting, value in flat(run.document.get("settings", {})):
        if setting in default and value != default[setting]:
            yield f"{method}.{setting} {value}, by default {default[setting]}"


def _made_facts(cell: Cell, behind: Mapping[str, Recipe], made: Mapping[str, Build]) -> Facts:
    """Yield what a cell was made from by kind, and when, where and from which commit that was made."""
    kinds = Counter(recipe.kind for recipe in reversed([*behind.values()]))
    yield "made from", ", ".join(counted(count, kind) for kind, count in kinds.items())
    if builds := [made[key] for key in cell.made_from if key in made]:
        days = sorted({build.started[:10] for build in builds})
        machines = first(sorted({f"{build.host}, {build.device}" for build in builds}), 2)
        commits = first(sorted({short(build.commit or "none") for build in builds}), 3)
        dirty = ", with uncommitted changes" if any(build.dirty for build in made.values()) else ""
        yield "made", f"{' to '.join(dict.fromkeys((days[0], days[-1])))} on {'; '.join(machines)}"
        seconds = sum(build.seconds for build in made.values())
        yield "made", f"commit {', '.join(commits)}{dirty}; all of it took {seconds:.1f} s"


def _record(work: Workspace, recipe: Recipe, made: Build | None) -> Facts:
    """Yield what is known of a result: settings, needs, files, code, and when and where it was made."""
    title = recipe.key
    yield title, recipe.name
    yield title, ", ".join(f"{name}={value}" for name, value in flat(recipe.document))
    yield title, ", ".join(f"{role} {need.key}" for role, need in recipe.needs.items())
    yield title, f"code {code_text(recipe.code)}"
    if not work.store.is_complete(recipe):
        yield title, "not on this disk"
    if made:
        yield title, ", ".join(f"{name} {short(entry.sha256)}" for name, entry in made.files.items())
        commit = short(made.commit or "none") + (", with uncommitted changes" if made.dirty else "")
        yield title, f"{made.started} on {made.host}, {made.processor}, in {made.seconds} s, commit {commit}"


def _contents(artifact: Artifact, cells: list[Cell], *, is_whole: bool) -> Facts:
    """Yield the rows and columns of an artifact, or the values of one row, column or view of it."""
    measured, printed = ([cell for cell in cells if cell.source == source] for source in ("measured", "reported"))
    if is_whole:
        parts = [("rows", measured, "row"), ("columns", measured, "column"), ("views", measured, "view")]
        parts += [("printed rows", printed, "row"), ("and columns", printed, "column")]
        yield from ((title, ", ".join(first(_distinct(of, part), MOST_NAMES))) for title, of, part in parts)
    else:
        yield from (("measured", text) for text in first(map(_in_place, measured), MOST_NAMES))
    if measured:
        place = f"--row {quote(measured[0].row)} --column {quote(measured[0].column)}"
        yield "one value", f"recompose trace {quote(artifact.title)} {place}"


def _printed(artifact: Artifact, cell: Cell) -> Facts:
    """Yield where a value is printed, and what is measured beside it."""
    paper, name = artifact.paper, artifact.title.partition("/")[2]
    yield "printed", f"by {paper.title} ({paper.authors}, {paper.venue}); not measured here, so no run made it"
    yield "file", f"papers/{paper.name}/reported/{name}.csv"
    flags = paper.artifacts[name].flags
    yield from (("flag", flag.text) for flag in flags if (flag.row, flag.column) == (cell.row, cell.column))
    beside = first(map(_in_place, measured_beside(paper, artifact.cells, cell)), MOST)
    yield from (("measured", text) for text in beside or [f"nothing: {cell.row} is quoted from the paper only"])


def measured_beside(paper: Paper, cells: Iterable[Cell], printed: Cell) -> list[Cell]:
    """Return the measured cells of a printed one's row, those with the same metric's name where there are any."""
    of_row, column = [cell for cell in cells if cell.row == printed.row], printed.column
    label = next((column.removeprefix(f"{name} ") for name in paper.datasets if column.startswith(f"{name} ")), column)
    return [cell for cell in of_row if f" {cell.column}".endswith(f" {label}")] or of_row


def show_reached(work: Workspace, start: str, *, as_json: bool) -> None:
    """Print the cells that rest on a result, a line for each row of an artifact, and what was made from it.

    Raises:
        UnknownError: no key of the reports starts like this, or several do.
    """
    reports = Reports(work)
    published = Published.read(reports).with_newer(reports, reports.artifacts)
    recipes = {key: recipe for key, recipe in published.recipes.items() if recipe.kind not in FOLLOWING}
    key = key_of(start, recipes, "the reports")
    reached = published.reach(key)
    dependents = [other for other, recipe in recipes.items() if key in (need.key for need in recipe.needs.values())]
    if as_json:
        shown = {name: [cell.model_dump(include=PLACE) for cell in cells] for name, cells in reached.items()}
        print_json({"key": key, "name": recipes[key].name, "reaches": shown, "dependents": sorted(dependents)})
        return

    def facts() -> Facts:
        for name, cells in reached.items():
            rows: dict[str, list[str]] = {}
            for cell in cells:
                place = " · ".join(filter(None, (cell.row, cell.view)))
                rows.setdefault(place, []).append(f"{cell.column} {cell.text}")
            yield from ((name, f"{row}: {', '.join(texts)}") for row, texts in rows.items())
        for other in sorted(dependents):
            yield "made from it", f"{other} {recipes[other].name}, {_reach(published, other)}"

    show_facts((key, f"{recipes[key].name}, {_reach(published, key)}"), facts())


def _reach(published: Published, key: str) -> str:
    """Return the number of cells and artifacts that a result reaches."""
    reached = published.reach(key)
    return f"{sum(map(len, reached.values()))} numbers of {len(reached)} artifacts"


def _by_seed(values: Mapping[str, float], most: int) -> str:
    return ", ".join(first((f"{value:.4g} ({seed})" for seed, value in values.items()), most)) or "none"


def _distinct(cells: Iterable[Cell], part: str) -> list[str]:
    """Return the names of rows, columns or views, each once."""
    return [name for name in dict.fromkeys(getattr(cell, part) for cell in cells) if name]


def _in_place(cell: Cell) -> str:
    """Return the text of a cell with its place in its artifact."""
    return f"{cell.text}  {' · '.join(filter(None, (cell.row, cell.column, cell.view)))}"
