"""A check of tables and figures against their evaluations, and of these against the current parameters.

Each part of it is a generator of findings, which ``ArtifactCheck.check`` calls.
"""

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, zip_longest
from typing import TypeVar

from recompose.audit.findings import UNCHECKED, Finding, Key, Trust
from recompose.audit.trust import CHANGED, Judge
from recompose.console import pluralize
from recompose.errors import DamagedError, DataError
from recompose.parts.cells import Cell, Table
from recompose.tables.artifacts import build_table, draw, quoted_cells, reported_cells
from recompose.tables.due import declaration_digest
from recompose.tables.formats import CSV_COLUMNS, FORMATS, to_csv
from recompose.tables.kinds import artifact_files, is_figure
from recompose.tables.provenance import PROVENANCE
from recompose.tables.stored_results import Recorded

SCORES_ABSENT = "some results behind it are missing or not valid"
INPUTS_ABSENT = "its images, features or models are not on this disk, or not valid"
T = TypeVar("T")
Texts = Mapping[str, str]  # of a cell in a table's CSV, by column of the file; empty: there is no such cell


@dataclass
class ArtifactCheck(Judge):
    """A check of one artifact against its lineage, its evaluations, its declaration and the current plan."""

    findings: list[Finding] = field(default_factory=list)
    trusts: dict[Key, Trust] = field(default_factory=dict)  # in measured cells
    compared: set[Key] = field(default_factory=set)  # measured cells that were computed again

    def check(self, *, drawing: bool = False) -> None:
        """Check everything; the numbers of figures are compared only if they are drawn again."""
        checks = [self._check_presence()]
        if self._has_lineage:
            self.trusts = {key: self.trust(cell) for key, cell in self._cells.items()}
            is_drawn = is_figure(self.paper, self.name)
            numbers = self._check_figure(drawing=drawing) if is_drawn else self._check_table()
            checks += [self._check_origin(), self._check_requests(), numbers, self._check_files()]
        for finding in chain.from_iterable(checks):
            self.findings.append(finding)
            for key in finding.cells:
                self.trusts[key] = self.trusts.get(key, Trust()).worsened(finding.state, finding.text)

    @property
    def _has_lineage(self) -> bool:
        return self.artifact in self.stored.published.lineages

    @cached_property
    def _files(self) -> list[str]:
        """The names of its files."""
        return artifact_files(self.paper, self.name)

    @cached_property
    def _cells(self) -> dict[Key, Cell]:
        """The cells of its lineage."""
        return {cell.key: cell for cell in self.lineage.cells}

    def _is_unchanged(self, file: str) -> bool:
        """Return true where a file is as it was written."""
        return file in self.lineage.files and file not in self.changed_files

    def _read(self, file: str) -> str:
        return (self.folder / file).read_bytes().decode("utf-8", errors="replace")

    def _check_presence(self) -> Iterator[Finding]:
        """Find files that are missing, and a lineage that cannot be read."""
        for file in self._files:
            if not (self.folder / file).is_file():
                yield Finding.of("missing-file", self.place(file), "is missing")
        if self._has_lineage:
            return
        if (error := self.stored.published.faults.get(self.artifact)) is not None:
            yield Finding.of("unreadable", self.provenance, str(error))
        else:
            yield Finding.of("missing-file", self.provenance, "is missing")
        yield Finding.of(UNCHECKED, self.artifact, "cannot be checked without its lineage")

    def _check_origin(self) -> Iterator[Finding]:
        """Find what speaks against what it was made from; a reason that many cells share becomes one finding."""
        yield from self.conflicts.values()
        for caveat in self.caveats:
            yield Finding.of(caveat.state, self.artifact, caveat.why, *caveat.keys)
        stale: dict[tuple[str, ...], list[str]] = {}
        for cell in self.lineage.cells:
            if reasons := self.stale_reasons(cell):
                stale.setdefault(tuple(reasons), []).append(cell.row)
        for grouped, rows in stale.items():
            title = f"{', '.join(dict.fromkeys(rows))} ({pluralize(len(rows), 'cell')})"
            yield Finding.of("other-recipe", f"{self.artifact} · {title}", "; ".join(grouped))

    def _check_requests(self) -> Iterator[Finding]:
        """Find rows and benchmarks that the current plan asks for and the artifact does not show."""
        recorded = {(entry.name, entry.benchmark) for entry in self.lineage.planned}
        plan, track, artifact = self.stored.work.plan, self.paper.track, self.paper.artifacts[self.name]
        benchmarks = self.paper.benchmarks_among(plan.benchmarks(track))
        planned = {(name, benchmark) for name in artifact.rows.values() for benchmark in benchmarks}
        new = sorted(pair for pair in planned - recorded if plan.evaluations(track, *pair))
        if new and artifact.kind != "settings":
            names = ", ".join(f"{name} on {benchmark}" for name, benchmark in new)
            yield Finding.of("other-recipe", self.artifact, f"the current parameters also ask for {names}")

    def _check_files(self) -> Iterator[Finding]:
        """Find files that were changed, where no cell in them was found."""
        for file in self._files:
            is_named = any(finding.place.startswith(self.place(file)) for finding in self.findings)
            if not is_named and not self._is_unchanged(file):
                yield Finding.of("changed-file", self.place(file), CHANGED)

    def _check_table(self) -> Iterator[Finding]:
        """Compare the cells of a table, in its file and in its lineage, with its runs; where runs cannot tell, the file
        with the lineage.
        """
        made = [cell for cell in self._cells.values() if cell.made_from]
        is_possible = not made or any(map(self._is_reliable, made))
        table, obstacle = self._remake(lambda: build_table(self._recorded, self.paper, self.name), is_possible)
        self.compared = {key for key, cell in self._cells.items() if table and self._is_reliable(cell)}
        unknown = {key: cell for key, cell in self._cells.items() if key not in self.compared}
        if obstacle or unknown:
            obstacle = obstacle or Finding.of(UNCHECKED, self.artifact, SCORES_ABSENT)
            yield replace(obstacle, cells=tuple(unknown))
        found = list(self._check_cells({cell.key: cell for cell in table.measured} if table else {}, unknown))
        yield from found
        if table and not unknown and not found:
            for file, write in zip(self._files, FORMATS.values(), strict=False):
                if self._is_unchanged(file) and self._read(file) != write(table):
                    why = "the current code or declaration gives another file"
                    yield Finding.of("other-text", self.place(file), why)

    def _check_cells(self, due: dict[Key, Cell], unknown: dict[Key, Cell]) -> Iterator[Finding]:
        """Compare the cells of a table's file and of its lineage with those that its runs give; the unknown ones, of
        which runs do not tell, are those of the lineage.
        """
        printed = [*reported_cells(self.paper, self.name), *quoted_cells(self.paper.artifacts[self.name])]
        cells = [*printed, *(due | unknown).values()]
        expected = cells_in(to_csv(Table(self.paper.name, self.name, "", "", cells)))
        file, shown, why = self._files[0], expected, ""
        if (self.folder / file).is_file():
            try:
                shown = cells_in(self._read(file))
                why = "is empty" if expected and not shown else ""
            except (KeyError, csv.Error) as error:
                why = f"is no table: {type(error).__name__}: {error}"
        if why:
            yield Finding.of("unreadable", self.place(file), why, cells=self._cells)
            return
        for key in sorted({*expected, *shown, *self._cells}, key=str):
            texts = shown.get(key, {}), expected.get(key, {})
            if column := _first_difference(*texts):
                yield self._blame(key, column, *texts)
            elif key not in unknown and (why := _disagreement(self._cells.get(key), due.get(key))):
                yield Finding.of(self._wrong_value, self.place(PROVENANCE, key), why, cells=[key])

    def _blame(self, key: Key, column: str, shown: Texts, expected: Texts) -> Finding:
        """Return what is wrong with a cell of a table's file.

        It is stale, and no forgery, where the file and the lineage agree, and the code writes the same value otherwise,
        or the declaration is another one by now.
        """
        (source, view, *_), cell, file = key, self._cells.get(key), self._files[0]
        says = "its lineage says" if cell and key not in self.compared else "its runs give"
        if source == "reported":
            says = "paper.yaml says" if view else f"reported/{file} says"
        is_same = not shown or not expected or shown.get("value") == expected.get("value")
        agrees = shown.get("text") == (cell.text if cell else None) and (is_same or self._is_declared_otherwise)
        is_stale = self._is_unchanged(file) and (agrees or source == "reported")
        why = f"shows {_text(shown, column)}; {says} {_text(expected, column)}"
        code = "other-text" if is_stale else "edited-value"
        return Finding.of(code, self.place(file, key), why, cells=[key] if cell else [])

    def _check_figure(self, *, drawing: bool) -> Iterator[Finding]:
        """Compare the numbers of a figure with its runs."""
        file, is_possible = self._files[2], all(map(self._is_reliable, self._cells.values()))
        if is_possible and not drawing:
            return
        due, obstacle = self._remake(self._drawn_numbers, is_possible)
        if obstacle:
            yield replace(obstacle, cells=tuple(self._cells))
        if due is None or not self._is_unchanged(file):
            return
        shown = self._read(file)
        self.compared = {*self._cells}
        if shown != due:
            yield Finding.of(self._wrong_value, self.place(file), _first_line(shown, due), cells=self._cells)

    def _drawn_numbers(self) -> str:
        """Return the numbers of a figure as the current code draws them."""
        return draw(self._recorded, self.paper, self.name).csv

    def _remake(self, make: Callable[[], T], is_possible: bool) -> tuple[T | None, Finding | None]:
        """Return what the current code makes from the lineage, or why it makes nothing."""
        if self.metric_code_changes:
            return None, Finding.of(UNCHECKED, self.artifact, "its numbers come from other metric code")
        if not is_possible:
            return None, Finding.of(UNCHECKED, self.artifact, SCORES_ABSENT)
        try:
            return make(), None
        except (DamagedError, DataError, OSError):
            return None, Finding.of(UNCHECKED, self.artifact, INPUTS_ABSENT)
        except Exception as error:  # newer code may need what these runs lack
            why = f"the current code cannot recompute it: {type(error).__name__}: {error}"
            return None, Finding.of("other-recipe", self.artifact, why)

    @cached_property
    def _recorded(self) -> Recorded:
        return Recorded(self.stored.work, self._numbers, self.stored.published.made, self.lineage)

    @cached_property
    def _numbers(self) -> dict[str, dict[str, float]]:
        """The numbers of evaluations, without those that were rebuilt since it was made."""
        return {key: values for key, values in self.stored.numbers.items() if key not in self.rebuilt}

    def _is_reliable(self, cell: Cell) -> bool:
        """Return true where a cell can be computed again: what it rests on is here as the artifact was made from it; of
        an evaluation, its numbers.
        """
        return all(
            key in self._numbers
            if key.startswith("evaluations/")
            else self.stored.is_reliable(key) and key not in self.rebuilt
            for key in cell.made_from
        )

    @cached_property
    def _is_declared_otherwise(self) -> bool:
        """True where the declaration is not the one that the artifact was made from."""
        declared = self.lineage.declared
        return bool(declared) and declared != declaration_digest(self.paper, self.name)

    @property
    def _wrong_value(self) -> str:
        """The code of a finding about a number that is not what its runs give."""
        return "other-text" if self._is_declared_otherwise else "edited-value"


def cells_in(text: str) -> dict[Key, Texts]:
    """Return the rows of a table's CSV by cell: (source, view, row, column) -> column of the file -> text.

    Raises:
        KeyError: a column is missing.
    """
    rows = csv.DictReader(io.StringIO(text))
    return {(row["source"], row["view"], row["row"], row["column"]): row for row in rows}


def _first_difference(shown: Texts, expected: Texts) -> str:
    """Return the first column in which a cell is not as expected; empty where there is none."""
    differing = (column for column in ("text", *CSV_COLUMNS) if shown.get(column) != expected.get(column))
    return next(differing, "")


def _text(cell: Texts, column: str) -> str:
    if not cell:
        return "nothing"
    return f"'{cell.get(column)}'" if column == "text" else f"{column} '{cell.get(column)}'"


def _disagreement(cell: Cell | None, due: Cell | None) -> str:
    """Return the difference between a cell of a lineage and the one due; empty where there is none."""
    if cell is None or due is None:
        return "" if cell is due else "its runs do not give it" if cell else "misses what its runs give"
    differing = [part for part, value in due if value != getattr(cell, part)]
    verb = "are" if len(differing) > 1 else "is"
    return f"its {', '.join(differing)} {verb} not what its runs give" if differing else ""


def _first_line(shown: str, due: str) -> str:
    """Return the first difference of two texts."""
    lines = enumerate(zip_longest(shown.split("\n"), due.split("\n"), fillvalue="no line"), start=1)
    return next(f"line {number} shows {one}; its runs give {other}" for number, (one, other) in lines if one != other)
