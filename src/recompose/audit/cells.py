"""A check of a table or figure: its files, its cells in provenance, and what its evaluations give."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from typing import TypeVar

from recompose.audit.contents import Contents
from recompose.audit.findings import Finding, Key
from recompose.console import first
from recompose.digest import sha256_file
from recompose.errors import DamagedError, DataError
from recompose.papers.declaration import Paper
from recompose.parts.cells import Cell, Table
from recompose.phases import FOLLOWING
from recompose.recipes.plan import Recipe
from recompose.recipes.state import CHANGED, CURRENT, MISSING, OUTDATED, UNCHECKED, State, changes, own_changes, worst
from recompose.tables.artifacts import build_table, draw, quoted_cells, reported_cells
from recompose.tables.formats import CSV_COLUMNS, FORMATS, to_csv
from recompose.tables.kinds import artifact_files, is_figure
from recompose.tables.provenance import PROVENANCE
from recompose.tables.stored_results import StoredResults

NAMED = 4  # reasons of what is outdated
SCORES_ABSENT = "was not computed again: some results behind it are missing or not valid"
T = TypeVar("T")
Texts = Mapping[str, str]  # of a cell in a table's CSV, by column of the file; empty: there is no such cell


@dataclass
class ArtifactCheck:
    """A check of one table or figure."""

    contents: Contents
    paper: Paper
    name: str
    findings: list[Finding] = field(default_factory=list)
    compared: set[Key] = field(default_factory=set)  # measured cells that were computed again

    def check(self, *, drawing: bool = False) -> None:
        """Check everything; the numbers of figures are compared only if they are drawn again."""
        self.findings += self._check_files()
        if self._told is not None:
            self.findings += self._check_plan(self._told)
            is_drawn = is_figure(self.paper, self.name)
            self.findings += self._check_figure(drawing=drawing) if is_drawn else self._check_table()

    @property
    def states(self) -> dict[Key, State]:
        """The state of each measured cell: the worst of its files, of all that it rests on, and of what was found."""
        if self._told is None:
            return {}
        shared, of_cells = State(), dict[Key, list[Finding]]()
        for finding in self.findings:
            is_about_file = not finding.cells and finding.place.startswith(self._folder)
            shared = shared.worsened(finding.state, finding.text) if is_about_file else shared
            for key in finding.cells:
                of_cells.setdefault(key, []).append(finding)
        outdated = State(OUTDATED, tuple(why)) if (why := self._own_changes) else State()
        content = self.contents.stored(self._told.key)
        outdated = outdated.worsened(OUTDATED, *content.why) if content.word == OUTDATED else outdated
        return {
            key: worst(
                [
                    shared,
                    outdated,
                    *self._behind(cell),
                    *(State(each.state, (each.text,)) for each in of_cells.get(key, ())),
                ]
            )
            for key, cell in self._cells.items()
        }

    @property
    def artifact(self) -> str:
        """Its name among the reports."""
        return f"{self.paper.name}/{self.name}"

    @property
    def _folder(self) -> str:
        return f"{self.contents.reports.work.reports_place}/"

    def _place(self, file: str, key: Key = ("", "", "", "")) -> str:
        """Return the place of one of its files, or of a cell in it."""
        _, view, row, column = key
        path = f"{PROVENANCE}: {self.artifact}" if file == PROVENANCE else f"{self.paper.name}/{file}"
        return " · ".join(part for part in (f"{self._folder}{path}", row, column, view) if part)

    @cached_property
    def _told(self) -> Recipe | None:
        """Its recipe as provenance tells it."""
        return self.contents.published.artifacts.get(self.artifact)

    @cached_property
    def _planned(self) -> Recipe | None:
        return self.contents.reports.planned(self.artifact)

    @cached_property
    def _cells(self) -> dict[Key, Cell]:
        return {cell.key: cell for cell in self.contents.published.cells.get(self.artifact, ())}

    @cached_property
    def _own_changes(self) -> list[str]:
        """What its own code and declaration have otherwise by now, or that it is planned no longer."""
        if self._told is None or self._planned is None:
            return changes(self._told, None) if self._told else []
        return list(own_changes(self._told, self._planned))

    def _behind(self, cell: Cell) -> Iterator[State]:
        """Yield the states of what a cell rests on, metrics that are on this disk included."""
        contents, keys = self.contents, {*cell.made_from}
        for recipe in contents.published.behind(cell.made_from):
            yield _told_at(recipe.key, contents.state_of(recipe.key))
        for need in (self._told.needs if self._told else {}).values():
            if need.kind in FOLLOWING and need.needs["evaluation"].key in keys:
                measured = contents.state_of(need.key)
                yield _told_at(need.key, measured) if measured.word != UNCHECKED else State()
        then, now = (self._roles(cell, recipe) for recipe in (self._told, self._planned))
        if gone := sorted(then - now):
            yield State(OUTDATED, (f"{gone[0]} is no longer planned",))
        if more := sorted(now - then):
            yield State(OUTDATED, (f"{more[0]} is planned, too",))

    def _roles(self, cell: Cell, recipe: Recipe | None) -> set[str]:
        """Return the roles of what a cell shows in its recipe: its data set, or its methods there at each seed."""
        places = tuple(f"{name}/{cell.benchmark}/" for name in cell.names)
        roles = recipe.needs if recipe else {}
        return {role for role in roles if (role.startswith(places) if places else role == cell.benchmark)}

    def _check_files(self) -> Iterator[Finding]:
        """Find files that are missing or differ from what was written."""
        told, work = self.contents.published.files, self.contents.reports.work
        for file in artifact_files(self.paper, self.name):
            path, name = work.reports / self.paper.name / file, f"{self.paper.name}/{file}"
            if not path.is_file():
                yield Finding.of(MISSING, self._place(file), "is missing")
            elif self._told is not None and sha256_file(path) != told.get(name):
                reports = self.contents.reports
                if self._planned and not reports.is_due(self._planned):
                    yield Finding.of(OUTDATED, self._place(PROVENANCE), f"is older than {name}")
                elif not file.endswith(".csv") or is_figure(self.paper, self.name):
                    yield Finding.of(CHANGED, self._place(file), "was changed since it was written")
                else:
                    yield self._changed_table(file, path.read_bytes().decode("utf-8", errors="replace"))
        if self._told is None and not self.contents.published.fault:
            yield Finding.of(MISSING, self._place(PROVENANCE), "is missing")

    def _changed_table(self, file: str, text: str) -> Finding:
        """Return what is wrong with a table's file that differs from what was written: the first such cell."""
        expected = self._expected([*self._cells.values()])
        try:
            shown = cells_in(text)
        except (KeyError, csv.Error) as error:
            return Finding.of(CHANGED, self._place(file), f"is no table: {type(error).__name__}: {error}")
        for key in sorted({*expected, *shown}, key=str):
            texts = shown.get(key, {}), expected.get(key, {})
            if column := _first_difference(*texts):
                why = f"shows {_text(texts[0], column)}; it was {_text(texts[1], column)}"
                return Finding.of(CHANGED, self._place(file, key), why)
        return Finding.of(CHANGED, self._place(file), "was changed since it was written")

    def _expected(self, measured: list[Cell]) -> dict[Key, Texts]:
        """Return the cells that its file has, given the measured ones."""
        printed = [*reported_cells(self.paper, self.name), *quoted_cells(self.paper.artifacts[self.name])]
        return cells_in(to_csv(Table(self.paper.name, self.name, "", "", [*printed, *measured])))

    def _check_plan(self, told: Recipe) -> Iterator[Finding]:
        """Find what parameters, code or declarations ask for otherwise by now."""
        if self._planned is None or told.key != self._planned.key:
            yield Finding.of(OUTDATED, self.artifact, "; ".join(first(changes(told, self._planned), NAMED)))

    @property
    def _is_same(self) -> bool:
        """Whether it is planned as it was made, so that it can be computed again."""
        return bool(self._told and self._planned and self._told.key == self._planned.key)

    def _is_reliable(self, cell: Cell) -> bool:
        """Return whether a cell can be computed again: numbers of its evaluations, or its data, are here."""
        numbers = self.contents.numbers
        return all(key in numbers or self._is_sound_data(key) for key in cell.made_from)

    def _is_sound_data(self, key: str) -> bool:
        return key.startswith("data/") and self.contents.is_sound(key)

    def _check_table(self) -> Iterator[Finding]:
        """Compare the cells and files of a table with what its evaluations give."""
        if not self._is_same:
            return
        known = {key: cell for key, cell in self._cells.items() if self._is_reliable(cell)}
        unknown = [key for key in self._cells if key not in known]
        if unknown:
            yield Finding.of(UNCHECKED, self.artifact, SCORES_ABSENT, cells=unknown)
        if not known and self._cells:
            return
        table, obstacle = self._made_again(lambda: build_table(self._results, self.paper, self.name))
        if table is None:
            yield obstacle
            return
        due = {cell.key: cell for cell in table.measured}
        self.compared = {*known}
        differing = [key for key in known | due if key not in unknown and (known.get(key) != due.get(key))]
        for key in differing:
            why = _disagreement(known.get(key), due.get(key))
            yield Finding.of(CHANGED, self._place(PROVENANCE, key), why, cells=[key] if key in known else ())
        if not differing and not unknown:
            yield from self._compare_files(table)

    def _compare_files(self, table: Table) -> Iterator[Finding]:
        """Compare files that are as provenance tells with what the table gives: both may have been edited."""
        for file, write in zip(artifact_files(self.paper, self.name), FORMATS.values(), strict=True):
            path = self.contents.reports.work.reports / self.paper.name / file
            told = self.contents.published.files.get(f"{self.paper.name}/{file}")
            if path.is_file() and sha256_file(path) == told:
                shown, due = path.read_bytes().decode("utf-8", errors="replace"), write(table)
                if shown != due:
                    yield Finding.of(CHANGED, self._place(file), _first_line(shown, due))

    def _check_figure(self, *, drawing: bool) -> Iterator[Finding]:
        """Compare the numbers of a figure with what its evaluations give."""
        file = artifact_files(self.paper, self.name)[2]
        path = self.contents.reports.work.reports / self.paper.name / file
        if not (self._is_same and drawing):
            return
        if not all(map(self._is_reliable, self._cells.values())):
            yield Finding.of(UNCHECKED, self.artifact, SCORES_ABSENT, cells=self._cells)
            return
        due, obstacle = self._made_again(lambda: draw(self._results, self.paper, self.name).csv)
        if due is None:
            yield obstacle
            return
        self.compared = {*self._cells}
        if path.is_file() and (shown := path.read_bytes().decode("utf-8", errors="replace")) != due:
            yield Finding.of(CHANGED, self._place(file), _first_line(shown, due), cells=self._cells)

    def _made_again(self, make: Callable[[], T]) -> tuple[T | None, Finding]:
        """Return what the current code makes, or why it makes nothing."""
        why = "was not computed again: its images, features or models are not on this disk, or not valid"
        try:
            return make(), Finding.of(UNCHECKED, self.artifact, why)
        except (DamagedError, DataError, OSError):
            return None, Finding.of(UNCHECKED, self.artifact, why, cells=self._cells)
        except Exception as error:  # scores may be forged
            why = f"cannot be computed again: {type(error).__name__}: {error}"
            return None, Finding.of(CHANGED, self.artifact, why, cells=self._cells)

    @property
    def _results(self) -> StoredResults:
        return StoredResults(self.contents.reports.work, self.contents.numbers)


def _told_at(key: str, state: State) -> State:
    """Return a state whose reasons name the content that has it."""
    if state.word in (CURRENT, OUTDATED):
        return state
    return State(state.word, tuple(f"results/{key} {why}" for why in state.why))


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
    """Return the difference between a cell of provenance and the one due."""
    if cell is None or due is None:
        return "its runs do not give it" if cell else "misses what its runs give"
    parts = [part for part, value in due if value != getattr(cell, part)]
    first = parts[0]
    return f"has {first} {getattr(cell, first)!r}; its runs give {getattr(due, first)!r}"


def _first_line(shown: str, due: str) -> str:
    """Return the first difference of two texts."""
    lines = enumerate(zip_longest(shown.split("\n"), due.split("\n"), fillvalue="no line"), start=1)
    return next(f"line {number} shows {one}; its runs give {other}" for number, (one, other) in lines if one != other)
