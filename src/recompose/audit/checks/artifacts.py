"""A check of tables and figures against their evaluations, and of these against the current parameters."""

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from recompose.audit.checks.recorded import Recorded
from recompose.audit.findings import UNCHECKED, AuditReport, Finding, Key, worst
from recompose.audit.trust import TrustEvaluator, metric_code_changes
from recompose.digest import sha256_file
from recompose.errors import DamagedError, DataError, LineageError
from recompose.metric_cache import COST
from recompose.papers.declaration import Artifact, Paper
from recompose.plan import recipe_of
from recompose.tables.cells import Cell, Table
from recompose.tables.formats import to_csv, to_latex, to_markdown
from recompose.tables.kinds import artifact_files, is_figure
from recompose.tables.lineage import Lineage
from recompose.tables.table import build_table, quoted_cells, reported_cells
from recompose.tracks import TRACKS

SCORES_ABSENT = "some results behind it are missing or not valid"
COSTS_ABSENT = "costs of runs, which are not on this disk"
INPUTS_ABSENT = "images, features or models, which are not on this disk"
T = TypeVar("T")
CellTexts = dict[Key, dict[str, str]]  # the rows of a table's CSV by cell: column of the file -> text


@dataclass
class ArtifactCheck:
    """A check of one artifact against its lineage, its evaluations, its declaration and the current plan."""

    evaluator: TrustEvaluator
    paper: Paper
    name: str
    report: AuditReport = field(default_factory=AuditReport)
    states: dict[Key, str] = field(default_factory=dict)  # of measured cells
    why: dict[Key, list[str]] = field(default_factory=dict)  # of the cells that are not current
    compared: set[Key] = field(default_factory=set)  # measured cells that were computed again

    def check(self) -> None:
        """Check everything except what needs drawing figures again."""
        for path in self._paths:
            if not path.is_file():
                self._add_finding("missing-file", self._relative(path), "is missing")
        if self.lineage is None:
            self.report.unchecked.append(f"{self._place}: cannot be checked without its lineage")
            return
        self._check_trust()
        self._check_requests()
        if not self._is_whole:
            reason = SCORES_ABSENT if not self._evaluations <= self._numbers.keys() else COSTS_ABSENT
            self.report.unchecked.append(f"{self._place}: {reason}")
        if self._metric_code_changes:
            self.report.unchecked.append(f"{self._place}: its numbers come from other metric code")
        if is_figure(self.paper, self.name):
            self._check_figure()
        else:
            self._check_table()

    @property
    def artifact(self) -> Artifact:
        """Its declaration."""
        return self.paper.artifacts[self.name]

    @property
    def _place(self) -> str:
        return f"{self.paper.name}/{self.name}"

    @cached_property
    def _paths(self) -> list[Path]:
        """Its files, its lineage last."""
        folder = self.evaluator.work.reports / self.paper.name
        return [folder / file for file in artifact_files(self.paper, self.name)]

    def _relative(self, path: Path) -> str:
        return path.relative_to(self.evaluator.work.root).as_posix()

    def _add_finding(self, code: str, place: str, why: str, *keys: str) -> None:
        self.report.note(Finding.of(code, place, why, *keys))

    @cached_property
    def lineage(self) -> Lineage | None:
        """Its lineage; None where it is missing, or invalid, which is a finding."""
        if self._place in self.evaluator.published.lineages:
            return self.evaluator.published.lineages[self._place]
        path = self._paths[-1]
        if path.is_file():
            try:
                Lineage.read(path)
            except LineageError as error:
                code = "outdated" if error.state == "stale" else "unreadable"
                self._add_finding(code, self._relative(path), str(error))
        return None

    @cached_property
    def _cells(self) -> dict[Key, Cell]:
        """The cells of its lineage."""
        assert self.lineage is not None
        return {cell.key: cell for cell in self.lineage.cells}

    @cached_property
    def _evaluations(self) -> set[str]:
        """The evaluations behind its cells."""
        made_from = {key for cell in self._cells.values() for key in cell.made_from}
        return {key for key in made_from if self.evaluator.published.records[key].kind == "evaluations"}

    @cached_property
    def _numbers(self) -> dict[str, dict[str, float]]:
        """The numbers of evaluations, without those that were rebuilt since it was made."""
        return {key: values for key, values in self.evaluator.stored.numbers.items() if key not in self.rebuilt}

    @cached_property
    def rebuilt(self) -> set[str]:
        """The results on this disk that are others than those that it was made from."""
        keys, conflicts = self.lineage.records if self.lineage else (), self.evaluator.conflicts
        return {key for key in keys if any(finding.code == "rebuilt" for finding in conflicts(self._place, key))}

    def _is_as_made(self, key: str) -> bool:
        """Return true where a result is on this disk, as it was made from it."""
        return self.evaluator.stored.is_reliable(key) and key not in self.rebuilt

    @property
    def _is_whole(self) -> bool:
        """True where all results behind it are here and valid."""
        return self._evaluations <= self._numbers.keys() and all(map(self._has_costs, self._cells.values()))

    def _check_trust(self) -> None:
        """Find what speaks against each cell; a reason that many cells share becomes one finding."""
        assert self.lineage is not None
        for key in self.lineage.records:
            for finding in self.evaluator.conflicts(self._place, key):
                self.report.note(finding)
        for caveat in self.evaluator.caveats(self._place):
            self._add_finding(caveat.state, self._place, caveat.why, *caveat.keys)
        stale: dict[tuple[str, ...], list[str]] = {}
        for cell in self._cells.values():
            trust = self.evaluator.trust(self._place, cell)
            self.states[cell.key] = trust.state
            if trust.why:
                self.why[cell.key] = list(trust.why)
            if reasons := self.evaluator.stale_reasons(self._place, cell):
                stale.setdefault(tuple(reasons), []).append(cell.row)
        for grouped, rows in stale.items():
            title = f"{', '.join(dict.fromkeys(rows))} ({len(rows)} {'cell' if len(rows) == 1 else 'cells'})"
            self._add_finding("other-recipe", f"{self._place} · {title}", "; ".join(grouped))

    def _check_requests(self) -> None:
        """Find rows and benchmarks that the current plan asks for and the artifact does not show."""
        assert self.lineage is not None
        recorded = {(entry.name, entry.benchmark) for entry in self.lineage.planned}
        plan, track = self.evaluator.work.plan, self.paper.track
        benchmarks = self.paper.benchmarks_among(plan.benchmarks(track))
        planned = {(name, benchmark) for name in self.artifact.rows.values() for benchmark in benchmarks}
        new = sorted(pair for pair in planned - recorded if plan.evaluations(track, *pair))
        if new and self.artifact.kind != "settings":
            names = ", ".join(f"{name} on {benchmark}" for name, benchmark in new)
            self._add_finding("other-recipe", self._place, f"the current parameters also ask for {names}")

    def _worsen(self, key: Key, state: str, why: str) -> None:
        """Record another reason against a cell."""
        before = self.states.get(key, state)
        self.states[key] = worst([before, state])
        if self.states[key] == state:
            self.why[key] = [*(self.why.get(key, []) if state == before else []), why]

    def _worsen_all(self, state: str, why: str) -> None:
        for key in self.states:
            self._worsen(key, state, why)

    @cached_property
    def _recorded(self) -> Recorded:
        assert self.lineage is not None
        return Recorded(self.evaluator.work, self.evaluator.published, self._numbers, self.lineage)

    def _is_unchanged(self, path: Path) -> bool:
        """Return true where a file is as it was written."""
        assert self.lineage is not None
        return bool(path.is_file() and sha256_file(path) == self.lineage.files.get(path.name))

    def _is_reliable(self, key: Key) -> bool:
        """Return true where a cell can be recomputed from stored results."""
        cell = self._cells[key]
        return self._has_costs(cell) and all(
            made_from in self._numbers or (made_from not in self._evaluations and self._is_as_made(made_from))
            for made_from in cell.made_from
        )

    def _has_costs(self, cell: Cell) -> bool:
        """Return true where the costs are known that a cell shows: its runs are here, which scores can do without, or
        its numbers are the published ones.
        """
        if not cell.metric.startswith(COST) or self.evaluator.stored.followed.issuperset(cell.made_from):
            return True
        records, store = self.evaluator.published.records, self.evaluator.work.store
        runs = (recipe_of(records[key]).needs.get("run") for key in cell.made_from)
        return all(store.is_complete(run) for run in runs if run)

    def _recompute(self, make: Callable[[], T]) -> T | None:
        """Return what the current code makes from the lineage; None where it fails, which is recorded."""
        try:
            return make()
        except (DamagedError, DataError, OSError) as error:
            absent = not self.lineage.records.keys().isdisjoint(self.evaluator.stored.absent) if self.lineage else False
            text = str(error).replace(f"{self.evaluator.work.root}/", "")
            self.report.unchecked.append(f"{self._place}: {INPUTS_ABSENT if absent else text}")
        except Exception as error:  # newer code may need what these runs lack
            why = f"the current code cannot recompute it: {type(error).__name__}: {error}"
            self._add_finding("other-recipe", self._place, why)
        return None

    @cached_property
    def _table(self) -> Table | None:
        """The table as the current code makes it; None where results or code do not allow it."""
        if not self._can_be_recomputed:
            return None
        return self._recompute(lambda: build_table(self._recorded, self.paper, self.name))

    def _check_table(self) -> None:
        """Compare the cells of a table with its runs, and its other files with what was written."""
        csv_path, table = self._paths[0], self._table
        named = self._compare_cells(csv_path, table) if csv_path.is_file() else set()
        if table:
            self._compare_lineage(table, named)
        for path, write in zip(self._paths, (to_csv, to_markdown, to_latex), strict=False):
            if path.is_file() and not (named and path == csv_path):
                self._check_file(path, write(table) if table and self._is_whole and not named else None)

    def _check_file(self, path: Path, due: str | None) -> None:
        """Compare a file with what was written, and with what the current code would write."""
        if not self._is_unchanged(path):
            self._add_finding("changed-file", self._relative(path), "was changed since it was written")
        elif due is not None and path.read_text(encoding="utf-8") != due:
            self._add_finding("other-text", self._relative(path), "the current code or declaration gives another file")

    @property
    def _can_be_recomputed(self) -> bool:
        """True where the metric code is unchanged, and valid results are here, or none are needed."""
        if self._metric_code_changes:
            return False
        if not self._evaluations:
            return all(self._is_as_made(key) for cell in self._cells.values() for key in cell.made_from)
        return not self._evaluations.isdisjoint(self._numbers)

    @cached_property
    def _metric_code_changes(self) -> list[str]:
        """The changes of the metric code, which may change numbers legitimately."""
        assert self.lineage is not None
        return list(metric_code_changes(self.lineage)) if self.lineage.track in TRACKS else ["its track is gone"]

    def _compare_cells(self, path: Path, table: Table | None) -> set[Key]:
        """Compare the cells of a CSV file with those due; return the keys of those that differ."""
        try:
            in_file = cells_in(path.read_text(encoding="utf-8"))
        except (KeyError, UnicodeDecodeError, csv.Error) as error:
            return self._blame_file(path, f"is no table: {type(error).__name__}: {error}")
        due = cells_in(to_csv(table or self._reported))
        if due and not in_file:
            return self._blame_file(path, "is empty")
        wrong = {key for key in [*due, *self._cells, *in_file] if not self._is_correct(key, in_file, due, table)}
        for key in sorted(wrong, key=str):
            self._blame(path, key, in_file.get(key), due.get(key), table)
        return wrong

    def _blame_file(self, path: Path, why: str) -> set[Key]:
        """Record that a table cannot be read; return the keys of all its cells."""
        self._add_finding("unreadable", self._relative(path), why)
        self._worsen_all("tampered", f"{self._relative(path)} {why}")
        return set(self._cells)

    def _is_correct(self, key: Key, in_file: CellTexts, due: CellTexts, table: Table | None) -> bool:
        """Return true where a cell of a CSV file is correct; where it cannot be recomputed, its lineage decides."""
        if self._is_computable(key, table):
            self.compared |= {key} & self._cells.keys()
            return in_file.get(key) == due.get(key)
        self._worsen(key, UNCHECKED, SCORES_ABSENT)
        return in_file.get(key, {}).get("text") == self._cells[key].text

    def _is_computable(self, key: Key, table: Table | None) -> bool:
        """Return true where declaration and runs determine a cell."""
        return key not in self._cells or (table is not None and self._is_reliable(key))

    @property
    def _reported(self) -> Table:
        """The cells of the table that need no runs."""
        cells = [*reported_cells(self.paper, self.name), *quoted_cells(self.artifact)]
        return Table(self.paper.name, self.name, "", "", cells)

    def _blame(
        self, path: Path, key: Key, in_file: dict[str, str] | None, due: dict[str, str] | None, table: Table | None
    ) -> None:
        source, view, row, column = key
        place = " · ".join(str(part) for part in (self._relative(path), row, column, view) if part)
        computable = self._is_computable(key, table)
        expected = due if computable else {"text": self._cells[key].text}
        says = "its runs give" if computable else "its lineage says"
        if source == "reported":
            says = "paper.yaml says" if view else f"reported/{self.name}.csv says"
        is_stale = self._is_unchanged(path) and (
            source == "reported" or (computable and self._agrees_with_lineage(key, in_file, due))
        )
        why = f"shows {_text(in_file, expected)}; {says} {_text(expected, in_file)}"
        if key in self._cells and not is_stale:
            self._worsen(key, "tampered", f"{self._relative(path)} {why}")
        self._add_finding("other-text" if is_stale else "edited-value", place, why)

    def _agrees_with_lineage(self, key: Key, in_file: dict[str, str] | None, due: dict[str, str] | None) -> bool:
        """Return true where a cell that differs from the current code's has the same value, or exists on one side only,
        and agrees with its lineage.
        """
        same_value = in_file is None or due is None or in_file["value"] == due["value"]
        recorded = self._cells[key].text if key in self._cells else None
        return same_value and (in_file or {}).get("text") == recorded

    def _compare_lineage(self, table: Table, named: set[Key]) -> None:
        """Compare the cells of the lineage with the runs."""
        due = {cell.key: cell for cell in table.measured}
        for key in dict.fromkeys([*due, *self._cells]):
            if key in named or (key in self._cells and not self._is_reliable(key)):
                continue
            if why := _disagreement(self._cells.get(key), due.get(key)):
                place = " · ".join(part for part in (self._relative(self._paths[-1]), key[2], key[3], key[1]) if part)
                self._worsen(key, "tampered", f"{self._relative(self._paths[-1])}: {why}")
                self._add_finding("edited-value", place, why)

    def _check_figure(self) -> None:
        """Compare a figure's drawings, and the numbers beside them, with what was written."""
        for path in self._paths[:-1]:
            if path.is_file() and not self._is_unchanged(path):
                self._add_finding("changed-file", self._relative(path), "was changed since it was written")
        if not self._can_be_drawn:
            self._mark_undrawn()

    @property
    def _can_be_drawn(self) -> bool:
        return not self._metric_code_changes and all(self._is_reliable(key) for key in self._cells)

    def draw_again(self) -> None:
        """Compare the numbers of a figure with its runs; tables are skipped."""
        numbers = self._paths[2]
        if is_figure(self.paper, self.name) and self.lineage and self._can_be_drawn and self._is_unchanged(numbers):
            due = self._recompute(self._current_figure_numbers)
            if due is None:
                self._mark_undrawn()
            else:
                self._compare_numbers(numbers, due)

    def _mark_undrawn(self) -> None:
        self._worsen_all(UNCHECKED, "its numbers could not be drawn again")

    def _current_figure_numbers(self) -> str:
        """Return the numbers of a figure as the current code draws them."""
        from recompose.tables.style import NumbersOnly
        from recompose.tables.table import draw

        sheet = NumbersOnly(self._paths[2].with_suffix(""), "", [])
        draw(self._recorded, self.paper, self.name, sheet)
        return sheet.numbers[0]

    def _compare_numbers(self, path: Path, due: str) -> None:
        in_file = path.read_bytes().decode("utf-8", errors="replace")
        if in_file != due and _without_places(in_file) == _without_places(due):
            self.report.unchecked.append(f"{self._place}: another machine makes another map of the same embeddings")
            return
        self.compared |= self._cells.keys()
        if in_file == due:
            return
        why = _first_line(in_file, due)
        self._worsen_all("tampered", f"{self._relative(path)}: {why}")
        self._add_finding("edited-value", self._relative(path), why)


def cells_in(text: str) -> dict[Key, dict[str, str]]:
    """Return the rows of a table's CSV by cell: (source, view, row, column) -> column of the file -> text.

    Raises:
        KeyError: a column is missing.
    """
    rows = csv.DictReader(io.StringIO(text))
    return {(row["source"], row["view"], row["row"], row["column"]): row for row in rows}


def _text(cell: dict[str, str] | None, reference: dict[str, str] | None) -> str:
    """Return the text of a cell in the first column in which it differs from the reference."""
    if cell is None:
        return "nothing"
    reference = reference or {}
    differing = (column for column in cell if column in reference and cell[column] != reference[column])
    column = next(differing, "text")
    return f"'{cell[column]}'" if column == "text" else f"{column} '{cell[column]}'"


def _disagreement(cell: Cell | None, due: Cell | None) -> str:
    """Return the difference between a cell of a lineage and the one due; empty where there is none."""
    if cell is None or due is None:
        return "misses what its runs give" if cell is None else "its runs do not give it"
    differing = [part for part, value in due if not _equal(value, getattr(cell, part))]
    verb = "are" if len(differing) > 1 else "is"
    return f"its {', '.join(differing)} {verb} not what its runs give" if differing else ""


def _equal(first: Any, second: Any) -> bool:
    if isinstance(first, float) and isinstance(second, float | int):
        return abs(first - second) <= 1e-9 * max(1.0, abs(first))
    return bool(first == second)


def _without_places(text: str) -> list[tuple[str | None, ...]]:
    """Return the lines of a figure's numbers without the positions of points on a map."""
    rows = csv.DictReader(io.StringIO(text))
    return [tuple(value for name, value in row.items() if name not in ("x", "y")) for row in rows]


def _first_line(in_file: str, due: str) -> str:
    """Return the first difference of two texts."""
    lines = in_file.splitlines(), due.splitlines()
    for number, (first, second) in enumerate(zip(*lines, strict=False), start=1):
        if first != second:
            return f"line {number} shows {first}; its runs give {second}"
    return f"it has {len(lines[0])} lines; its runs give {len(lines[1])}"
