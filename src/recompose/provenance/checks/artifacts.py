"""Whether tables and figures show what their evaluations give, and whether these are the ones that are asked for
now.
"""

import csv
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from recompose.digest import sha256_file
from recompose.errors import DamagedError, DataError, LineageError
from recompose.metric_cache import COST
from recompose.papers.declaration import Artifact, Paper
from recompose.plan import recipe_of
from recompose.provenance.checks.recorded import Recorded
from recompose.provenance.checks.stored import StoredCheck
from recompose.report.cells import Table
from recompose.report.findings import AuditReport, Finding, Key
from recompose.report.formats import to_csv, to_latex, to_markdown
from recompose.report.kinds import artifact_files, is_figure
from recompose.report.lineage import cell_document
from recompose.report.schema import read_checked
from recompose.report.tables import build_table, quoted_cells, reported_cells
from recompose.report.trust import UNCHECKED, TrustEvaluator, metric_code_changes, worst
from recompose.tracks import TRACKS

AGAIN = "`snakemake --cores all`"
COMMIT = "commit the sources; a commit that holds just this code heals it"
T = TypeVar("T")
CellTexts = dict[Key, dict[str, str]]  # of a table's CSV: each cell by column of the file
REMEDIES = {"incomplete": AGAIN, "mixed": "`recompose store discard` these runs, then " + AGAIN, "uncommitted": COMMIT}


@dataclass
class ArtifactCheck:
    """One artifact, checked against its lineage, its evaluations, its declaration and the current plan."""

    judge: TrustEvaluator
    paper: Paper
    name: str
    stored: StoredCheck  # what it was made from, checked
    report: AuditReport = field(default_factory=AuditReport)
    states: dict[Key, str] = field(default_factory=dict)  # of measured cells
    why: dict[Key, list[str]] = field(default_factory=dict)  # of those that are not current

    def check(self) -> None:
        """Check all of it but what only drawing again can tell."""
        for path in self._paths:
            if not path.is_file():
                self._find("incomplete", self._relative(path), "is missing", AGAIN)
        if self.lineage is None:
            self.report.unchecked.append(f"{self._place}: nothing of it can be told without its lineage")
            return
        self._judge_cells()
        self._check_asked()
        if not self._is_whole:
            self.report.unchecked.append(f"{self._place}: it rests on what cannot be relied on, or is not here")
        if self._measured_otherwise:
            self.report.unchecked.append(f"{self._place}: its numbers were taken by other code of metrics")
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
        folder = self.judge.work.reports / self.paper.name
        return [folder / file for file in artifact_files(self.paper, self.name)]

    def _relative(self, path: Path) -> str:
        return path.relative_to(self.judge.work.root).as_posix()

    def _find(self, state: str, place: str, why: str, remedy: str, *keys: str) -> None:
        self.report.findings.append(Finding(state, place, why, remedy, keys))

    @cached_property
    def lineage(self) -> dict[str, Any] | None:
        """Its lineage; None where there is none, or what is there cannot be used, which is found."""
        if self._place in self.judge.published.lineages:
            return self.judge.published.lineages[self._place]
        path = self._paths[-1]
        if path.is_file():
            try:
                read_checked(path)
            except LineageError as error:
                self._find(error.state, self._relative(path), str(error), AGAIN)
        return None

    @cached_property
    def _cells(self) -> dict[Key, dict[str, Any]]:
        """The cells of its lineage."""
        assert self.lineage is not None
        return {("measured", cell["view"], cell["row"], cell["column"]): cell for cell in self.lineage["cells"]}

    @cached_property
    def _evaluations(self) -> set[str]:
        """The evaluations behind its cells."""
        made_from = {key for cell in self._cells.values() for key in cell["made_from"]}
        return {key for key in made_from if self.judge.published.records[key]["kind"] == "evaluations"}

    @property
    def _is_whole(self) -> bool:
        """Whether all that it shows can be told from what is stored."""
        return self._evaluations <= self.stored.numbers.keys() and all(map(self._has_costs, self._cells.values()))

    def _judge_cells(self) -> None:
        """Judge each cell; what speaks against several of them is found once."""
        assert self.lineage is not None
        for key in self.lineage["records"]:
            for why in self.judge.record_conflicts(self._place, key):
                place, _, what = why.partition(" ")
                self._find("tampered", place, what, AGAIN, key)
        for mark in self.judge.caveats(self._place):
            self._find(mark.state, self._place, mark.why, REMEDIES[mark.state], *mark.keys)
        stale: dict[tuple[str, ...], list[str]] = {}
        for key, cell in self._cells.items():
            verdict = self.judge.verdict(self._place, cell)
            self.states[key] = verdict.state
            if verdict.why:
                self.why[key] = list(verdict.why)
            if reasons := self.judge.stale_reasons(self._place, cell):
                stale.setdefault(tuple(reasons), []).append(cell["row"])
        for grouped, rows in stale.items():
            counted = f"{', '.join(dict.fromkeys(rows))} ({len(rows)} {'cell' if len(rows) == 1 else 'cells'})"
            self._find("stale", f"{self._place} · {counted}", "; ".join(grouped), AGAIN)

    def _check_asked(self) -> None:
        """Whether the plan asks for rows or benchmarks that it does not show."""
        assert self.lineage is not None
        asked_then = {(each["name"], each["benchmark"]) for each in self.lineage["asked"]}
        plan, track = self.judge.work.plan, self.paper.track
        asked = {(name, benchmark) for name in self.artifact.rows.values() for benchmark in plan.benchmarks(track)}
        new = sorted(pair for pair in asked - asked_then if plan.evaluations(track, *pair))
        if new and self.artifact.kind != "settings":
            names = ", ".join(f"{name} on {benchmark}" for name, benchmark in new)
            self._find("stale", self._place, f"the current parameters ask for {names}, too", AGAIN)

    def _worsen(self, key: Key, state: str, why: str) -> None:
        """Note what else speaks against a cell."""
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
        return Recorded(self.judge.work, self.judge.published, self.stored.numbers, self.lineage)

    def _written(self, path: Path) -> bool:
        """Whether a file is as it was written."""
        assert self.lineage is not None
        return bool(path.is_file() and sha256_file(path) == self.lineage["files"].get(path.name))

    def _is_reliable(self, key: Key) -> bool:
        """Whether a cell can be made again from what is stored."""
        cell = self._cells[key]
        return self._has_costs(cell) and all(
            each in self.stored.numbers or (each not in self._evaluations and self.judge.stored.is_reliable(each))
            for each in cell["made_from"]
        )

    def _has_costs(self, cell: Mapping[str, Any]) -> bool:
        """Whether the runs are here that a cell tells the costs of: scores can be had without them."""
        if not (cell["metric"] or "").startswith(COST):
            return True
        records, store = self.judge.published.records, self.judge.work.store
        runs = (recipe_of(records[key]).needs.get("run") for key in cell["made_from"])
        return all(store.is_complete(run) for run in runs if run)

    def _made_again(self, make: Callable[[], T]) -> T | None:
        """What the code of now makes from what the lineage says; None where it cannot, which is said."""
        try:
            return make()
        except (DamagedError, DataError, OSError) as error:
            self.report.unchecked.append(f"{self._place} could not be made again: {error}")
        except Exception as error:  # code may have changed to ask for what these runs do not have
            why = f"the current code cannot make it again: {type(error).__name__}: {error}"
            self._find("stale", self._place, why, AGAIN)
        return None

    @cached_property
    def _table(self) -> Table | None:
        """The table as it would be made now."""
        if not self._can_be_made:
            return None
        return self._made_again(lambda: build_table(self._recorded, self.paper, self.name))

    def _check_table(self) -> None:
        """Compare the cells of a table with what its runs give, and its other files with what was written."""
        csv_path, table = self._paths[0], self._table
        named = self._compare_cells(csv_path, table) if csv_path.is_file() else set()
        if table:
            self._compare_lineage(table, named)
        for path, write in zip(self._paths, (to_csv, to_markdown, to_latex), strict=False):
            if path.is_file() and not (named and path == csv_path):
                self._check_written(path, write(table) if table and self._is_whole and not named else None)

    def _check_written(self, path: Path, due: str | None) -> None:
        """Compare a file with what was written, and with what the current code would write."""
        if not self._written(path):
            self._find("tampered", self._relative(path), "was changed since it was written", AGAIN)
        elif due is not None and path.read_text(encoding="utf-8") != due:
            self._find("stale", self._relative(path), "the current code or declaration would write it otherwise", AGAIN)

    @property
    def _can_be_made(self) -> bool:
        """Whether anything can be made again: the code that takes metrics is the same, and there are runs to rely
        on, or none are needed.
        """
        if self._measured_otherwise:
            return False
        if not self._evaluations:
            return all(self.judge.stored.is_reliable(key) for cell in self._cells.values() for key in cell["made_from"])
        return not self._evaluations.isdisjoint(self.stored.numbers)

    @cached_property
    def _measured_otherwise(self) -> list[str]:
        """What changed in the code that takes metrics: its numbers may be others then, and rightly so."""
        assert self.lineage is not None
        return list(metric_code_changes(self.lineage)) if self.lineage["track"] in TRACKS else ["its track is gone"]

    def _compare_cells(self, path: Path, table: Table | None) -> set[Key]:
        """Compare the cells of a CSV file with what they should be; gives those that are not."""
        try:
            in_file = cells_in(path.read_text(encoding="utf-8"))
        except (KeyError, UnicodeDecodeError, csv.Error) as error:
            self._find("tampered", self._relative(path), f"is no table: {type(error).__name__}: {error}", AGAIN)
            return set(self._cells)
        due = cells_in(to_csv(table or self._reported))
        wrong = {key for key in [*due, *self._cells, *in_file] if not self._holds(key, in_file, due, table)}
        for key in sorted(wrong, key=str):
            self._blame(path, key, in_file.get(key), due.get(key), table)
        return wrong

    def _holds(self, key: Key, in_file: CellTexts, due: CellTexts, table: Table | None) -> bool:
        """Whether a cell of a CSV file is what it should be, as far as it can be told: without its runs, what the
        lineage says.
        """
        if self._is_known(key, table):
            return in_file.get(key) == due.get(key)
        self._worsen(key, UNCHECKED, "what it was made from cannot be relied on, or is not here")
        return in_file.get(key, {}).get("text") == self._cells[key]["text"]

    def _is_known(self, key: Key, table: Table | None) -> bool:
        """Whether it can be told from declaration and runs what a cell should be."""
        return key not in self._cells or (table is not None and self._is_reliable(key))

    @property
    def _reported(self) -> Table:
        """The part of the table that needs no runs."""
        cells = [*reported_cells(self.paper, self.name), *quoted_cells(self.artifact)]
        return Table(self.paper.name, self.name, "", "", cells)

    def _blame(
        self, path: Path, key: Key, in_file: dict[str, str] | None, due: dict[str, str] | None, table: Table | None
    ) -> None:
        source, view, row, column = key
        place = " · ".join(str(part) for part in (self._relative(path), row, column, view) if part)
        tellable = self._is_known(key, table)
        expected = due if tellable else {"text": self._cells[key]["text"]}
        says = "its lineage says" if not tellable else "its runs give"
        if source == "reported":
            says = "paper.yaml says" if view else f"reported/{self.name}.csv says"
        honest = self._written(path) and (source == "reported" or (tellable and self._was_so(key, in_file, due)))
        why = f"shows {_text(in_file, expected)}; {says} {_text(expected, in_file)}"
        if key in self._cells and not honest:
            self._worsen(key, "tampered", f"{self._relative(path)} {why}")
        self._find("stale" if honest else "tampered", place, why, AGAIN)

    def _was_so(self, key: Key, in_file: dict[str, str] | None, due: dict[str, str] | None) -> bool:
        """Whether a cell that is not as the current code writes it has the same value, or was or is not there, and
        its lineage agrees with it.
        """
        same_value = in_file is None or due is None or in_file["value"] == due["value"]
        return same_value and (in_file or {}).get("text") == self._cells.get(key, {}).get("text")

    def _compare_lineage(self, table: Table, named: set[Key]) -> None:
        """Compare the cells of the lineage with what the runs give."""
        due: dict[Key, dict[str, Any]] = {
            ("measured", cell.view, cell.row, cell.column): cell_document(cell) for cell in table.measured
        }
        for key in dict.fromkeys([*due, *self._cells]):
            if key in named or (key in self._cells and not self._is_reliable(key)):
                continue
            if why := _disagreement(self._cells.get(key), due.get(key)):
                place = " · ".join(part for part in (self._relative(self._paths[-1]), key[2], key[3], key[1]) if part)
                self._worsen(key, "tampered", f"{self._relative(self._paths[-1])}: {why}")
                self._find("tampered", place, why, AGAIN)

    def _check_figure(self) -> None:
        """Compare a figure's drawings, and the numbers beside them, with what was written."""
        for path in self._paths[:-1]:
            if path.is_file() and not self._written(path):
                self._find("tampered", self._relative(path), "was changed since it was written", AGAIN)
        if not self._can_be_drawn:
            self._doubt()

    @property
    def _can_be_drawn(self) -> bool:
        return not self._measured_otherwise and all(self._is_reliable(key) for key in self._cells)

    def draw_again(self) -> None:
        """Compare the numbers of a figure with what its runs give; of a table there is nothing to draw."""
        numbers = self._paths[2]
        if is_figure(self.paper, self.name) and self.lineage and self._can_be_drawn and self._written(numbers):
            due = self._made_again(self._drawn)
            if due is None:
                self._doubt()
            else:
                self._compare_numbers(numbers, due)

    def _doubt(self) -> None:
        self._worsen_all(UNCHECKED, "its numbers could not be drawn again")

    def _drawn(self) -> str:
        """The numbers of a figure as the code of now draws them."""
        from recompose.report.figures.draw import draw
        from recompose.report.figures.style import NumbersOnly

        sheet = NumbersOnly(self._paths[2].with_suffix(""), "", [])
        draw(self._recorded, self.paper, self.name, sheet)
        return sheet.numbers[0]

    def _compare_numbers(self, path: Path, due: str) -> None:
        in_file = path.read_bytes().decode("utf-8", errors="replace")
        if in_file == due:
            return
        if _without_places(in_file) == _without_places(due):
            self.report.unchecked.append(f"{self._place}: another machine makes another map of the same embeddings")
            return
        why = _first_line(in_file, due)
        self._worsen_all("tampered", f"{self._relative(path)}: {why}")
        self._find("tampered", self._relative(path), why, AGAIN)


def cells_in(text: str) -> dict[Key, dict[str, str]]:
    """The cells of a table's CSV: (source, view, row, column) -> what it says of them.

    Raises:
        KeyError: a column is missing.
    """
    rows = csv.DictReader(io.StringIO(text))
    return {(row["source"], row["view"], row["row"], row["column"]): row for row in rows}


def _text(cell: dict[str, str] | None, other: dict[str, str] | None) -> str:
    """What a cell says, in the first column in which it differs from another one."""
    if cell is None:
        return "nothing"
    differing = (column for column in cell if column in (other or {}) and cell[column] != (other or {})[column])
    column = next(differing, "text")
    return f"'{cell[column]}'" if column == "text" else f"{column} '{cell[column]}'"


def _disagreement(cell: dict[str, Any] | None, due: dict[str, Any] | None) -> str:
    """What is wrong with a cell of a lineage, by what the runs give; empty where nothing is."""
    if cell is None or due is None:
        return "lacks what its runs give" if cell is None else "its runs give nothing of it"
    differing = [part for part, value in due.items() if not _equal(value, cell[part])]
    verb = "are" if len(differing) > 1 else "is"
    return f"its {', '.join(differing)} {verb} not what its runs give" if differing else ""


def _equal(first: Any, second: Any) -> bool:
    if isinstance(first, float) and isinstance(second, float | int):
        return abs(first - second) <= 1e-9 * max(1.0, abs(first))
    return bool(first == second)


def _without_places(text: str) -> list[tuple[str | None, ...]]:
    """The lines of a figure's numbers without the places of points on a map."""
    rows = csv.DictReader(io.StringIO(text))
    return [tuple(value for name, value in row.items() if name not in ("x", "y")) for row in rows]


def _first_line(in_file: str, due: str) -> str:
    """Where two texts differ first."""
    lines = in_file.splitlines(), due.splitlines()
    for number, (first, second) in enumerate(zip(*lines, strict=False), start=1):
        if first != second:
            return f"line {number} shows {first}; its runs give {second}"
    return f"it has {len(lines[0])} lines; its runs give {len(lines[1])}"
