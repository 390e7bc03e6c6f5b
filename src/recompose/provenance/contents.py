"""Contents of an artifact: its rows, columns and views, and the values that its paper printed."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from recompose.errors import TraceError
from recompose.exhibits.cells import Cell
from recompose.papers.declaration import CLAIMS, Paper
from recompose.provenance.artifact_names import nearest_name, paper_of
from recompose.provenance.trace import MISSING_CELL, TraceResult, cell_of, read_lineage, trace
from recompose.report.tables import reported_cells
from recompose.workspace import Workspace

MOST_BESIDE = 6  # measured cells that stand beside a printed one


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
class FoundValue:
    """A value of an artifact: measured, printed by its paper, or both."""

    artifact: str
    paper: Paper | None  # None: no paper declares the artifact
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


def contents(
    papers: Iterable[Paper], path: Path, row: str | None = None, column: str | None = None, view: str | None = None
) -> Contents:
    """Return the measured values of an artifact, given any of its files, in a row, column or view.

    Raises:
        TraceError: the artifact has no lineage, or no such row, column or view.
    """
    lineage = read_lineage(path)
    query = {name: value for name, value in (("row", row), ("column", column), ("view", view)) if value}
    if query:
        cell_of(lineage, str(path), query)
    cells = [cell for cell in lineage.cells if all(getattr(cell, name) == value for name, value in query.items())]
    paper, name = paper_of(papers, path)
    printed = _printed_cells(paper, name)
    return Contents(
        _title(path, name),
        paper.artifacts[name].caption if paper else "",
        [_in_place(cell) for cell in cells],
        list(dict.fromkeys(cell.row for cell in printed)),
        list(dict.fromkeys(cell.column for cell in printed)),
    )


def find_printed(papers: Iterable[Paper], path: Path, row: str, column: str) -> PrintedValue | None:
    """Return the value that a paper printed in a row and a column of an artifact, or None if it printed none there."""
    paper, name = paper_of(papers, path)
    cells = (cell for cell in _printed_cells(paper, name) if (cell.row, cell.column) == (row, column))
    cell = next(cells, None)
    if paper is None or cell is None:
        return None
    flag = next((flag for flag in paper.artifacts[name].flags if (flag.row, flag.column) == (row, column)), None)
    return PrintedValue(
        _title(path, name),
        row,
        column,
        cell.text,
        f"{paper.title} ({paper.authors}, {paper.venue})",
        f"papers/{paper.name}/reported/{name}.csv",
        flag.text if flag else "",
        _beside(paper, read_lineage(path).cells, row, column),
    )


def find_value(
    work: Workspace, papers: list[Paper], path: Path, row: str, column: str, view: str | None = None
) -> FoundValue:
    """Return the measured value of a cell, traced, and the value that the paper printed there; one of them may be None.

    Raises:
        TraceError: there is neither; the message names the rows and columns that exist, and the nearest ones.
    """
    printed = find_printed(papers, path, row, column)
    paper, name = paper_of(papers, path)
    try:
        return FoundValue(_title(path, name), paper, trace(work, path, row, column, view), printed)
    except TraceError as error:
        if error.code != MISSING_CELL:
            raise
        if printed and not view:
            return FoundValue(printed.artifact, paper, None, printed)
        raise _with_printed(error, _printed_cells(paper, name), row, column) from None


def _with_printed(error: TraceError, printed: list[Cell], row: str, column: str) -> TraceError:
    """Return the error of a missing cell, with the printed row and column that are nearest to what was asked for."""
    rows, columns = (list(dict.fromkeys(getattr(cell, part) for cell in printed)) for part in ("row", "column"))
    nearest = {"row": nearest_name(row, rows), "column": nearest_name(column, columns)}
    hints = ", ".join(f"{part} '{name}'" for part, name in nearest.items() if name)
    text = f"{error}\n  printed by the paper, nearest: {hints}" if hints else str(error)
    return TraceError(text, code=error.code, place=error.place)


def _printed_cells(paper: Paper | None, name: str) -> list[Cell]:
    """Return the values that a paper printed in an artifact; the sentences of its claims are none."""
    if paper is None or paper.artifacts[name].kind == CLAIMS:
        return []
    return list(reported_cells(paper, name))


def _beside(paper: Paper, cells: list[Cell], row: str, column: str) -> list[ValueInPlace]:
    """Return the measured cells of the same row, those with the same metric's name where there are any."""
    of_row = [cell for cell in cells if cell.row == row]
    label = next((column.removeprefix(f"{data} ") for data in paper.datasets if column.startswith(f"{data} ")), column)
    alike = [cell for cell in of_row if cell.column == label or cell.column.endswith(f" {label}")]
    return [_in_place(cell) for cell in (alike or of_row)[:MOST_BESIDE]]


def _in_place(cell: Cell) -> ValueInPlace:
    return ValueInPlace(cell.row, cell.column, cell.view, cell.text)


def _title(path: Path, name: str) -> str:
    return f"{path.resolve().parent.name}/{name}"
