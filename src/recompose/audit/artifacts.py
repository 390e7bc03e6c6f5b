"""A check of tables and figures against their evaluations, and of these against the current parameters."""

import csv
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from math import isclose
from pathlib import Path
from typing import Any, TypeVar

from recompose.audit.findings import UNCHECKED, Finding, Key, Trust
from recompose.audit.trust import Judge
from recompose.console import pluralize
from recompose.digest import sha256_file
from recompose.errors import DamagedError, DataError, LineageError
from recompose.papers.declaration import Paper
from recompose.parts.cells import Cell, Table
from recompose.tables.artifacts import build_table, draw, quoted_cells, reported_cells
from recompose.tables.formats import to_csv, to_latex, to_markdown
from recompose.tables.kinds import artifact_files, declaration_digest, is_figure
from recompose.tables.lineage import Lineage
from recompose.tables.stored_results import Recorded

SCORES_ABSENT = "some results behind it are missing or not valid"
INPUTS_ABSENT = "images, features or models, which are not on this disk"
CHANGED = "was changed since it was written"
T = TypeVar("T")
Texts = dict[str, str]  # of a cell in a table's CSV, by column of the file


@dataclass
class ArtifactCheck(Judge):
    """A check of one artifact against its lineage, its evaluations, its declaration and the current plan."""

    paper: Paper
    findings: list[Finding] = field(default_factory=list)
    trusts: dict[Key, Trust] = field(default_factory=dict)  # in measured cells
    compared: set[Key] = field(default_factory=set)  # measured cells that were computed again

    def check(self) -> None:
        """Check everything except what needs drawing figures again."""
        for path in self._paths:
            if not path.is_file():
                self._add("missing-file", self._relative(path), "is missing")
        if not self._has_lineage:
            self._check_form(self._paths[-1])
            self._add(UNCHECKED, self.artifact, "cannot be checked without its lineage")
            return
        self._check_trust()
        self._check_requests()
        if not self._is_whole:
            self._add(UNCHECKED, self.artifact, SCORES_ABSENT)
        if self.metric_code_changes:
            self._add(UNCHECKED, self.artifact, "its numbers come from other metric code")
        wrong = set() if self._is_figure else self._check_table()
        for path in self._paths[:-1]:
            if path.is_file() and not self._is_unchanged(path) and not (wrong and path == self._paths[0]):
                self._add("changed-file", self._relative(path), CHANGED)
        if self._is_figure and not self._can_be_drawn:
            self._mark_undrawn()

    @property
    def _name(self) -> str:
        return self.artifact.partition("/")[2]

    @property
    def _is_figure(self) -> bool:
        return is_figure(self.paper, self._name)

    @property
    def _has_lineage(self) -> bool:
        return self.artifact in self.stored.published.lineages

    @cached_property
    def _paths(self) -> list[Path]:
        """Its files, its lineage last."""
        folder = self.stored.work.reports / self.paper.name
        return [folder / file for file in artifact_files(self.paper, self._name)]

    def _relative(self, path: Path) -> str:
        return path.relative_to(self.stored.work.root).as_posix()

    def _add(self, code: str, place: str, why: str, *keys: str, cells: Iterable[Key] = ()) -> None:
        """Record a finding about stored folders, if any, which speaks against some cells."""
        finding = Finding.of(code, place, why, *keys)
        self.findings.append(finding)
        self._worsen(finding.state, finding.text, *cells)

    def _check_form(self, path: Path) -> None:
        """Find why a lineage cannot be read."""
        if path.is_file():
            try:
                Lineage.read(path)
            except LineageError as error:
                self._add("outdated" if error.state == "stale" else "unreadable", self._relative(path), str(error))

    @cached_property
    def _cells(self) -> dict[Key, Cell]:
        """The cells of its lineage."""
        return {cell.key: cell for cell in self.lineage.cells}

    @cached_property
    def rebuilt(self) -> set[str]:
        """The results on this disk that are others than those that it was made from."""
        if not self._has_lineage:
            return set()
        return {
            key for key, findings in self.conflicts.items() if any(finding.code == "rebuilt" for finding in findings)
        }

    @cached_property
    def _numbers(self) -> dict[str, dict[str, float]]:
        """The numbers of evaluations, without those that were rebuilt since it was made."""
        return {key: values for key, values in self.stored.numbers.items() if key not in self.rebuilt}

    def _is_valid(self, key: str) -> bool:
        """Return true where a result is here as the artifact was made from it: of an evaluation, its numbers."""
        if key.startswith("evaluations/"):
            return key in self._numbers
        return self.stored.is_reliable(key) and key not in self.rebuilt

    def _is_reliable(self, cell: Cell) -> bool:
        """Return true where a cell of the lineage can be computed again."""
        return all(map(self._is_valid, cell.made_from))

    @cached_property
    def _is_whole(self) -> bool:
        """True where the numbers of all evaluations behind it are here and valid."""
        made_from = {key for cell in self._cells.values() for key in cell.made_from}
        return all(self._is_valid(key) for key in made_from if key.startswith("evaluations/"))

    def _check_trust(self) -> None:
        """Find what speaks against each cell; a reason that many cells share becomes one finding."""
        self.findings += [finding for findings in self.conflicts.values() for finding in findings]
        for caveat in self.caveats:
            self._add(caveat.state, self.artifact, caveat.why, *caveat.keys)
        stale: dict[tuple[str, ...], list[str]] = {}
        for key, cell in self._cells.items():
            self.trusts[key] = self.trust(cell)
            if reasons := self.stale_reasons(cell):
                stale.setdefault(tuple(reasons), []).append(cell.row)
        for grouped, rows in stale.items():
            title = f"{', '.join(dict.fromkeys(rows))} ({pluralize(len(rows), 'cell')})"
            self._add("other-recipe", f"{self.artifact} · {title}", "; ".join(grouped))

    def _check_requests(self) -> None:
        """Find rows and benchmarks that the current plan asks for and the artifact does not show."""
        recorded = {(entry.name, entry.benchmark) for entry in self.lineage.planned}
        plan, track, artifact = self.stored.work.plan, self.paper.track, self.paper.artifacts[self._name]
        benchmarks = self.paper.benchmarks_among(plan.benchmarks(track))
        planned = {(name, benchmark) for name in artifact.rows.values() for benchmark in benchmarks}
        new = sorted(pair for pair in planned - recorded if plan.evaluations(track, *pair))
        if new and artifact.kind != "settings":
            names = ", ".join(f"{name} on {benchmark}" for name, benchmark in new)
            self._add("other-recipe", self.artifact, f"the current parameters also ask for {names}")

    def _worsen(self, state: str, why: str, *keys: Key) -> None:
        """Record another reason against some cells."""
        for key in keys:
            self.trusts[key] = self.trusts.get(key, Trust()).worsened(state, why)

    def _is_unchanged(self, path: Path) -> bool:
        """Return true where a file is as it was written."""
        return bool(path.is_file() and sha256_file(path) == self.lineage.files.get(path.name))

    @cached_property
    def _is_declared_otherwise(self) -> bool:
        """True where the declaration is not the one that the artifact was made from."""
        declared = self.lineage.declared
        return bool(declared) and declared != declaration_digest(self.paper, self._name)

    @property
    def _wrong_value(self) -> str:
        """The code of a finding about a number that is not what its runs give."""
        return "other-text" if self._is_declared_otherwise else "edited-value"

    @cached_property
    def _recorded(self) -> Recorded:
        return Recorded(self.stored.work, self._numbers, self.stored.published.made, self.lineage)

    def _recompute(self, make: Callable[[], T]) -> T | None:
        """Return what the current code makes from the lineage; None where it fails, which is recorded."""
        try:
            return make()
        except (DamagedError, DataError, OSError) as error:
            is_absent = not self.lineage.records.keys().isdisjoint(self.stored.absent)
            text = str(error).replace(f"{self.stored.work.root}/", "")
            self._add(UNCHECKED, self.artifact, INPUTS_ABSENT if is_absent else text)
        except Exception as error:  # newer code may need what these runs lack
            why = f"the current code cannot recompute it: {type(error).__name__}: {error}"
            self._add("other-recipe", self.artifact, why)
        return None

    def _check_table(self) -> set[Key]:
        """Compare the cells of a table, in its file and in its lineage, with its runs; return the wrong ones.

        Where runs cannot tell, the file is compared with the lineage.
        """
        made, table = [cell for cell in self._cells.values() if cell.made_from], None
        if not self.metric_code_changes and (not made or any(map(self._is_reliable, made))):
            table = self._recompute(lambda: build_table(self._recorded, self.paper, self._name))
        self.compared = {key for key, cell in self._cells.items() if table and self._is_reliable(cell)}
        self._worsen(UNCHECKED, SCORES_ABSENT, *(self._cells.keys() - self.compared))
        wrong = self._check_csv(table)
        if table:
            self._check_lineage(table, wrong)
        if table and self._is_whole and not wrong:
            for path, write in zip(self._paths, (to_csv, to_markdown, to_latex), strict=False):
                if self._is_unchanged(path) and path.read_text(encoding="utf-8") != write(table):
                    why = "the current code or declaration gives another file"
                    self._add("other-text", self._relative(path), why)
        return wrong

    def _check_csv(self, table: Table | None) -> set[Key]:
        """Compare the cells of a table's file with those due, and return those that differ."""
        path, paper, name = self._paths[0], self.paper, self._name
        if not path.is_file():
            return set()
        declared = [*reported_cells(paper, name), *quoted_cells(paper.artifacts[name])]
        due = cells_in(to_csv(table or Table(paper.name, name, "", "", declared)))
        due |= {key: {"text": cell.text} for key, cell in self._cells.items() if key not in self.compared}
        try:
            shown = cells_in(path.read_text(encoding="utf-8"))
            why = "is empty" if due and not shown else ""
        except (KeyError, UnicodeDecodeError, csv.Error) as error:
            shown, why = {}, f"is no table: {type(error).__name__}: {error}"
        if why:
            self._add("unreadable", self._relative(path), why, cells=self._cells)
            return {*self._cells}
        wrong = {key for key in due.keys() | shown.keys() if _first_difference(shown.get(key), due.get(key))}
        for key in sorted(wrong, key=str):
            self._blame(key, shown.get(key), due.get(key))
        return wrong

    def _blame(self, key: Key, shown: Texts | None, due: Texts | None) -> None:
        """Record that a cell of a table's file is wrong."""
        path, (source, view, *_), cell = self._paths[0], key, self._cells.get(key)
        says = "its lineage says" if cell and key not in self.compared else "its runs give"
        if source == "reported":
            says = "paper.yaml says" if view else f"reported/{self._name}.csv says"
        is_stale = self._is_unchanged(path) and (source == "reported" or self._agrees(cell, shown, due))
        column_of_file = _first_difference(shown, due)
        why = f"shows {_text(shown, column_of_file)}; {says} {_text(due, column_of_file)}"
        code = "other-text" if is_stale else "edited-value"
        is_another = cell and (self._is_declared_otherwise or not is_stale)
        self._add(code, self._place_in(path, key), why, cells=[key] if is_another else [])

    def _place_in(self, path: Path, key: Key) -> str:
        """Return the place of a cell in a file."""
        _, view, row, column = key
        return " · ".join(part for part in (self._relative(path), row, column, view) if part)

    def _agrees(self, cell: Cell | None, shown: Texts | None, due: Texts | None) -> bool:
        """Return true where a cell that the current code writes otherwise has the same value, or exists on one side
        only, or is declared otherwise, and agrees with its lineage.
        """
        is_same = shown is None or due is None or shown.get("value") == due.get("value")
        agrees = (shown or {}).get("text") == (cell.text if cell else None)
        return agrees and (is_same or self._is_declared_otherwise)

    def _check_lineage(self, table: Table, wrong: set[Key]) -> None:
        """Compare the cells of the lineage with the runs."""
        due = {cell.key: cell for cell in table.measured}
        for key in dict.fromkeys([*due, *self._cells]):
            if key in wrong or (key in self._cells and key not in self.compared):
                continue
            if why := _disagreement(self._cells.get(key), due.get(key)):
                self._add(self._wrong_value, self._place_in(self._paths[-1], key), why, cells=[key])

    @property
    def _can_be_drawn(self) -> bool:
        return not self.metric_code_changes and all(map(self._is_reliable, self._cells.values()))

    def _mark_undrawn(self) -> None:
        self._worsen(UNCHECKED, "its numbers could not be drawn again", *self._cells)

    def draw_again(self) -> None:
        """Compare the numbers of a figure with its runs; tables are skipped."""
        path = self._paths[2]
        if not (self._is_figure and self._has_lineage and self._can_be_drawn and self._is_unchanged(path)):
            return
        due = self._recompute(self._drawn_numbers)
        if due is None:
            self._mark_undrawn()
            return
        shown = path.read_bytes().decode("utf-8", errors="replace")
        if shown != due and _without_places(shown) == _without_places(due):
            why = "another machine makes another map of the same embeddings"
            self._add(UNCHECKED, self.artifact, why, cells=self._cells)
            return
        self.compared = {*self._cells}
        if shown != due:
            self._add(self._wrong_value, self._relative(path), _first_line(shown, due), cells=self._cells)

    def _drawn_numbers(self) -> str:
        """Return the numbers of a figure as the current code draws them."""
        from recompose.parts.style import NumbersOnly

        sheet = NumbersOnly(self._paths[2].with_suffix(""), "", [])
        draw(self._recorded, self.paper, self._name, sheet)
        return sheet.numbers[0]


def cells_in(text: str) -> dict[Key, Texts]:
    """Return the rows of a table's CSV by cell: (source, view, row, column) -> column of the file -> text.

    Raises:
        KeyError: a column is missing.
    """
    rows = csv.DictReader(io.StringIO(text))
    return {(row["source"], row["view"], row["row"], row["column"]): row for row in rows}


def _first_difference(shown: Texts | None, due: Texts | None) -> str:
    """Return the first column in which a cell is not as it is due; empty where there is none."""
    if shown is None or due is None:
        return "" if shown is due else "text"
    return next((column for column, text in due.items() if shown.get(column) != text), "")


def _text(cell: Texts | None, column: str) -> str:
    if cell is None:
        return "nothing"
    return f"'{cell.get(column)}'" if column == "text" else f"{column} '{cell.get(column)}'"


def _disagreement(cell: Cell | None, due: Cell | None) -> str:
    """Return the difference between a cell of a lineage and the one due; empty where there is none."""
    if cell is None or due is None:
        return "misses what its runs give" if cell is None else "its runs do not give it"
    differing = [part for part, value in due if not is_equal(value, getattr(cell, part))]
    verb = "are" if len(differing) > 1 else "is"
    return f"its {', '.join(differing)} {verb} not what its runs give" if differing else ""


def is_equal(first: Any, second: Any) -> bool:
    """Return true where two plain values agree; the last digits of numbers depend on the processor."""
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(is_equal(value, second[name]) for name, value in first.items())
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(is_equal, first, second))
    numbers = [isinstance(value, float | int) and not isinstance(value, bool) for value in (first, second)]
    return isclose(first, second, rel_tol=1e-9, abs_tol=1e-9) if all(numbers) else bool(first == second)


def _without_places(text: str) -> list[tuple[str | None, ...]]:
    """Return the lines of a figure's numbers without the positions of points on a map, which have both parts."""
    rows = csv.DictReader(io.StringIO(text))
    places = {"x", "y"} if {"x", "y"} <= {*(rows.fieldnames or ())} else set[str]()
    return [tuple(value for name, value in row.items() if name not in places) for row in rows]


def _first_line(shown: str, due: str) -> str:
    """Return the first difference of two texts."""
    lines = shown.splitlines(), due.splitlines()
    for number, (first, second) in enumerate(zip(*lines, strict=False), start=1):
        if first != second:
            return f"line {number} shows {first}; its runs give {second}"
    return f"it has {len(lines[0])} lines; its runs give {len(lines[1])}"
