"""Whether tables and figures show what their runs give, and whether these are the runs that are asked for now."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from recompose.digest import sha256_file
from recompose.files import read_json
from recompose.papers.declaration import Artifact, Paper, artifact_files
from recompose.provenance.checks.findings import UNCHECKED, Finding, Key, Report, worst
from recompose.provenance.checks.recorded import Recorded
from recompose.provenance.lineage import Mark, cell_document, marks
from recompose.provenance.trace import reasons
from recompose.report.cells import Table
from recompose.report.formats import to_csv, to_latex, to_markdown
from recompose.report.tables import build_table
from recompose.store import DamagedError
from recompose.workspace import Workspace

AGAIN = "`snakemake --cores all`"
COMMIT = "commit the sources, `recompose store discard` these runs, then `snakemake --cores all`"
REMEDIES = {"incomplete": AGAIN, "mixed": "`recompose store discard` these runs, then " + AGAIN, "uncommitted": COMMIT}
PARTS = ("datasets", "cells", "measures", "records", "wanted", "files")


@dataclass
class ArtifactCheck:
    """One artifact, checked against its lineage, its runs, its declaration and the current plan."""

    work: Workspace
    paper: Paper
    name: str
    numbers: Mapping[str, dict[str, Any]]  # of the runs that can be relied on
    report: Report = field(default_factory=Report)
    states: dict[Key, str] = field(default_factory=dict)  # of measured cells
    why: dict[Key, list[str]] = field(default_factory=dict)  # of those that are stale

    def check(self) -> None:
        """Check all of it."""
        missing = [path for path in self._paths if not path.is_file()]
        for path in missing:
            self._find("incomplete", self._said(path), "is missing", AGAIN)
        if self._paths[-1] in missing:
            return
        if self.lineage is None:
            return
        self._check_runs()
        if any(key not in self.numbers for key in self._runs):
            self.report.unchecked.append(f"{self._place}: it rests on runs that cannot be relied on, or are not here")
        check = self._check_figure if self.artifact.is_figure else self._check_table
        try:
            check()
        except (DamagedError, OSError) as error:
            self.report.unchecked.append(f"{self._place} could not be made again: {error}")
            self.states |= {key: worst([state, UNCHECKED]) for key, state in self.states.items()}
        self.report.cells.update(self.states.values())

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
        folder = self.work.reports / self.paper.name
        return [folder / file for file in artifact_files(self.name, self.artifact)]

    def _said(self, path: Path) -> str:
        return path.relative_to(self.work.root).as_posix()

    def _find(self, state: str, place: str, why: str, remedy: str, *keys: str) -> None:
        self.report.findings.append(Finding(state, place, why, remedy, keys))

    @cached_property
    def lineage(self) -> dict[str, Any] | None:
        """Its lineage; None where it cannot be used, which is found."""
        path = self._paths[-1]
        try:
            found = read_json(path)
            lacking = [part for part in PARTS if part not in found]
        except (json.JSONDecodeError, UnicodeDecodeError, TypeError) as error:
            self._find("tampered", self._said(path), f"is no lineage: {error}", AGAIN)
            return None
        if lacking:
            self._find("stale", self._said(path), f"has no {', '.join(lacking)}: other code wrote it", AGAIN)
            return None
        return dict(found)

    @cached_property
    def _cells(self) -> dict[Key, dict[str, Any]]:
        """The cells of its lineage."""
        assert self.lineage is not None
        return {("measured", cell["view"], cell["row"], cell["column"]): cell for cell in self.lineage["cells"]}

    @cached_property
    def _records(self) -> dict[str, dict[str, Any]]:
        assert self.lineage is not None
        return dict(self.lineage["records"])

    @property
    def _runs(self) -> list[str]:
        return [key for key in self._records if key.startswith("runs/")]

    def _check_runs(self) -> None:
        """Whether the runs are all there, of one code, from committed sources, and those that the plan asks for."""
        missing = {key for cell in self._cells.values() for key in cell["missing"]}
        found = list(marks(self._records, missing))
        for mark in found:
            self._find(mark.state, self._place, mark.why, REMEDIES[mark.state], *mark.keys)
        stale: dict[tuple[str, ...], list[str]] = {}
        for key, cell in self._cells.items():
            why = [] if cell["missing"] else reasons(self.work.plan, self._behind(cell), cell)
            self.states[key] = worst(_marked(cell, found, stale=bool(why)))
            if why:
                self.why[key] = why
                stale.setdefault(tuple(why), []).append(cell["row"])
        for grouped, rows in stale.items():
            said = ", ".join(dict.fromkeys(rows))
            self._find("stale", f"{self._place} · {said} ({len(rows)} cells)", "; ".join(grouped), AGAIN)
        self._check_asked()

    def _behind(self, cell: dict[str, Any]) -> dict[str, dict[str, Any]]:
        return {key: self._records[key] for key in cell["made_from"]}

    def _check_asked(self) -> None:
        """Whether the plan asks for rows or data sets that it does not show."""
        assert self.lineage is not None
        shown = {(each["name"], each["dataset"]) for each in self.lineage["measures"]}
        asked = {(name, dataset) for name in self.artifact.measured.values() for dataset in self.work.plan.datasets}
        new = sorted(pair for pair in asked - shown if self.work.plan.runs_of(*pair))
        if new and self.artifact.kind != "settings":
            said = ", ".join(f"{name} on {dataset}" for name, dataset in new)
            self._find("stale", self._place, f"the current parameters ask for {said}, too", AGAIN)

    @cached_property
    def _recorded(self) -> Recorded:
        assert self.lineage is not None
        return Recorded(self.work.root, lineage=self.lineage, numbers=self.numbers)

    def _written(self, path: Path) -> bool:
        """Whether a file is as it was written."""
        assert self.lineage is not None
        return bool(path.is_file() and sha256_file(path) == self.lineage["files"].get(path.name))

    def _is_reliable(self, key: Key) -> bool:
        return all(run in self.numbers for run in self._cells[key]["made_from"] if run.startswith("runs/"))

    def _check_table(self) -> None:
        csv_path, *others = self._paths[:-1]
        whole = all(self._is_reliable(key) for key in self._cells)
        table = build_table(self._recorded, self.paper, self.name) if self._can_be_made else None
        named = self._compare_cells(csv_path, table) if csv_path.is_file() else []
        if not named and csv_path.is_file() and not self._written(csv_path):
            self._find("tampered", self._said(csv_path), "was changed since it was written", AGAIN)
        if table:
            self._compare_lineage(table, {*named})
        for path, write in zip(others, (to_markdown, to_latex), strict=True):
            if not path.is_file():
                continue
            if not self._written(path):
                self._find("tampered", self._said(path), "was changed since it was written", AGAIN)
            elif table and whole and not named and path.read_text(encoding="utf-8") != write(table):
                self._find("stale", self._said(path), "the current code would write it otherwise", AGAIN)

    @property
    def _can_be_made(self) -> bool:
        """Whether anything can be made again: there are runs to rely on, or none are needed."""
        return not self._runs or any(key in self.numbers for key in self._runs)

    def _compare_cells(self, path: Path, table: Table | None) -> list[Key]:
        """Compare the cells of a CSV file with what they should be; gives those that are not."""
        try:
            shown = cells_in(path.read_text(encoding="utf-8"))
        except (KeyError, UnicodeDecodeError, csv.Error):
            return []
        due = cells_in(to_csv(table)) if table else self._due_without_runs(shown)
        wrong = []
        for key in dict.fromkeys([*due, *shown]):
            if key in self._cells and not (table and self._is_reliable(key)):
                self.states[key] = worst([self.states[key], UNCHECKED])
                if shown.get(key, {}).get("text") == self._cells[key]["text"]:
                    continue
            elif shown.get(key) == due.get(key):
                continue
            wrong.append(key)
            self._blame(path, key, shown.get(key), due.get(key))
        return wrong

    def _due_without_runs(self, shown: dict[Key, dict[str, str]]) -> dict[Key, dict[str, str]]:
        """What cells should be as far as it can be told without runs: the reported ones as declared, the measured ones as in the lineage."""
        declared: dict[Key, str] = {
            ("reported", "", row["row"], column): text
            for row in self.paper.reported(self.name)
            for column, text in row.items()
        }
        return {
            key: cell | {"text": declared[key]} if key in declared else cell
            for key, cell in shown.items()
            if key in declared or key in self._cells
        }

    def _blame(self, path: Path, key: Key, shown: dict[str, str] | None, due: dict[str, str] | None) -> None:
        source, view, row, column = key
        place = " · ".join(part for part in (self._said(path), row, column, view) if part)
        if source == "reported":
            state = "stale" if self._written(path) else "tampered"
            said = f"reported/{self.name}.csv says {_text(due)}"
        else:
            state = "stale" if self._written(path) and _alike(shown, due) else "tampered"
            said = (
                f"its runs give {_text(due)}" if self._is_known(key) else f"its lineage says {self._lineage_text(key)}"
            )
            if key in self._cells and state == "tampered":
                self.states[key] = worst([self.states[key], "tampered"])
        self._find(state, place, f"shows {_text(shown)}; {said}", AGAIN)

    def _is_known(self, key: Key) -> bool:
        return key not in self._cells or self._is_reliable(key)

    def _lineage_text(self, key: Key) -> str:
        return str(self._cells[key]["text"])

    def _compare_lineage(self, table: Table, named: set[Key]) -> None:
        """Compare the cells of the lineage with what the runs give."""
        due: dict[Key, dict[str, Any]] = {
            ("measured", cell.view, cell.row, cell.column): cell_document(cell) for cell in table.measured
        }
        for key, cell in self._cells.items():
            if key in named or not self._is_reliable(key):
                continue
            differing = [part for part, value in due.get(key, cell).items() if not _equal(value, cell[part])]
            if differing:
                self.states[key] = worst([self.states[key], "tampered"])
                why = f"its {', '.join(differing)} {'are' if len(differing) > 1 else 'is'} not what its runs give"
                self._find("tampered", f"{self._said(self._paths[-1])} · {key[2]} · {key[3]}", why, AGAIN)

    def _check_figure(self) -> None:
        """Compare the numbers of a figure with what its runs give, and its drawings with what was written."""
        for path in self._paths[:-1]:
            if path.is_file() and not self._written(path):
                self._find("tampered", self._said(path), "was changed since it was written", AGAIN)
                self.states |= dict.fromkeys(self.states, "tampered")
        numbers = self._paths[2]
        if not all(self._is_reliable(key) for key in self._cells):
            self.states |= {key: worst([state, UNCHECKED]) for key, state in self.states.items()}
        elif numbers.is_file() and self._written(numbers):
            self._compare_numbers(numbers)

    def _compare_numbers(self, path: Path) -> None:
        from recompose.report.figures.draw import draw
        from recompose.report.figures.style import Kept

        sheet = Kept(path.with_suffix(""), "", [])
        draw(self._recorded, self.artifact, sheet)
        shown, (due,) = path.read_text(encoding="utf-8"), sheet.kept
        if shown == due:
            return
        if _without_places(shown) == _without_places(due):
            self.report.unchecked.append(f"{self._place}: another machine makes another map of the same embeddings")
            return
        self.states |= dict.fromkeys(self.states, "tampered")
        self._find("tampered", self._said(path), f"{_first_line(shown, due)}", AGAIN)


def _marked(cell: dict[str, Any], found: list[Mark], *, stale: bool) -> Iterator[str]:
    """The states of a cell by its runs."""
    if cell["missing"]:
        yield "incomplete"
    yield from (mark.state for mark in found if {*mark.keys} & {*cell["made_from"]})
    if stale:
        yield "stale"


def cells_in(text: str) -> dict[Key, dict[str, str]]:
    """The cells of a table's CSV: (source, view, row, column) -> what it says of them.

    Raises:
        KeyError: a column is missing.
    """
    rows = csv.DictReader(io.StringIO(text))
    return {(row["source"], row["view"], row["row"], row["column"]): row for row in rows}


def _text(cell: dict[str, str] | None) -> str:
    return "nothing" if cell is None else f"'{cell['text']}'"


def _alike(first: dict[str, str] | None, second: dict[str, str] | None) -> bool:
    """Whether two cells have the same value, however they say it; or one of them is not there at all."""
    return first is None or second is None or first["value"] == second["value"]


def _equal(first: Any, second: Any) -> bool:
    if isinstance(first, float) and isinstance(second, float | int):
        return abs(first - second) <= 1e-9 * max(1.0, abs(first))
    return bool(first == second)


def _without_places(text: str) -> list[tuple[str | None, ...]]:
    """The lines of a figure's numbers without the places of points on a map."""
    rows = csv.DictReader(io.StringIO(text))
    return [tuple(value for name, value in row.items() if name not in ("x", "y")) for row in rows]


def _first_line(shown: str, due: str) -> str:
    """Where two texts differ first."""
    lines = shown.splitlines(), due.splitlines()
    for number, (first, second) in enumerate(zip(*lines, strict=False), start=1):
        if first != second:
            return f"line {number} shows {first}; its runs give {second}"
    return f"it has {len(lines[0])} lines; its runs give {len(lines[1])}"
