"""Names of artifacts and places of cells, as people write them, and the nearest ones where there are none.

The place of a cell in one text is ``reports/demo/msci/table-2#MSCI/shapes-pairs AUC``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Protocol, TypeVar

from recompose.console import first
from recompose.errors import TraceError
from recompose.papers.comparison import FOLDER
from recompose.papers.declaration import Paper
from recompose.params.mistakes import nearest
from recompose.tables.lineage import SUFFIX, lineage_path
from recompose.workspace import Workspace

SHOWN = 12  # names that an error lists
SEPARATOR = "#"
FORM = "reports/PROFILE/PAPER/ARTIFACT#ROW/COLUMN, or ROW/COLUMN/VIEW where a table has several views"


class Placed(Protocol):
    """A cell, as far as its place is concerned."""

    @property
    def row(self) -> str:
        """The row."""

    @property
    def column(self) -> str:
        """The column."""

    @property
    def view(self) -> str:
        """The view; empty where the artifact has only one."""


AnyCell = TypeVar("AnyCell", bound=Placed)


def find_artifact(work: Workspace, *names: str) -> Path:
    """Return the path of an artifact in the reports.

    Args:
        work: the workspace.
        names: ``msci/table-2``, ``msci`` and ``table-2``, ``comparisons/my-csp/table``, or one of the artifact's files,
            of any profile.

    Raises:
        TraceError: there is no such paper, or it has no such artifact; the message names the nearest one.
    """
    path = Path(*names)
    if len(path.parts) == 3 and path.parts[0] == FOLDER:
        path = Path(*path.parts[1:])
    if _has_lineage(path) or len(path.parts) > 2:
        return path
    papers = {paper.name: paper for paper in work.papers}
    paper, _, artifact = str(path).partition("/")
    name = one_of(papers, paper, "paper", "unknown-paper")
    declared = list(papers[name].artifacts)
    if not artifact:
        message = f"{name} has {len(declared)} artifacts; name one: {', '.join(first(declared, SHOWN))}"
        raise TraceError(message, code="no-artifact", place=name)
    stem = lineage_path(Path(artifact)).name.removesuffix(SUFFIX)
    if not _has_lineage(work.reports / name / stem):  # a table of an earlier version may still lie there
        one_of(declared, stem, f"artifact of {name}", "unknown-artifact")
    return work.reports / name / artifact


def paper_of(papers: Iterable[Paper], path: Path) -> tuple[Paper | None, str]:
    """Return the paper of an artifact, given any of its files, and the artifact's name; None if it is not declared."""
    folder, name = path.resolve().parent.name, lineage_path(path).name.removesuffix(SUFFIX)
    paper = next((paper for paper in papers if paper.name == folder and name in paper.artifacts), None)
    return paper, name


def nearest_name(name: str, names: Iterable[str]) -> str | None:
    """Return the name nearest to a misspelled one without regard to its case, or None if none is near.

    >>> nearest_name("Mcsi", ["msci", "duplex"]), nearest_name("x", ["msci"])
    ('msci', None)
    """
    spelled = {text.lower(): text for text in names}
    close = get_close_matches(name.lower(), spelled, n=1, cutoff=0.3)
    return spelled[close[0]] if close else None


def one_of(names: Iterable[str], given: str, title: str, code: str) -> str:
    """Return the name that equals what was given but for capitals."""
    spelled = {name.lower(): name for name in names}
    if given.lower() in spelled:
        return spelled[given.lower()]
    there = ", ".join(first(spelled.values(), SHOWN))
    message = f"there is no {title} '{given}'{nearest(given, spelled.values())}; there are: {there}"
    raise TraceError(message, code=code, place=given)


def _has_lineage(path: Path) -> bool:
    return lineage_path(path).is_file()


@dataclass(frozen=True)
class CellPlace:
    """An artifact, and the row and column of one of its cells; rows and columns may contain slashes."""

    paper: str
    artifact: str
    within: str  # row/column or row/column/view

    @classmethod
    def parse(cls, text: str, work: Workspace) -> "CellPlace":
        """Return the place that a text names.

        Raises:
            TraceError: the text has another form, or names another profile's reports.
        """
        file, separator, within = text.partition(SEPARATOR)
        if not (file and separator and within):
            raise TraceError(f"{text!r} names no cell; write {FORM}", code="no-cell", place=text)
        path = find_artifact(work, file)
        if path.is_absolute():
            path = path.relative_to(work.root) if path.is_relative_to(work.root) else path
        paper, artifact = path.parent.name, path.name.partition(".")[0]
        if path.parent.parent != Path(work.reports_place):
            message = f"{path.parent} is no folder of {work.reports_place}, the reports of the chosen profile"
            raise TraceError(message, code="other-profile", place=text)
        return cls(paper, artifact, within)

    @property
    def name(self) -> str:
        """The artifact's name with its paper's."""
        return f"{self.paper}/{self.artifact}"

    def find(self, cells: Sequence[AnyCell]) -> AnyCell:
        """Return the first cell at this place.

        Raises:
            TraceError: there is none; the message names the nearest places.
        """
        for cell in cells:
            if self.within in (f"{cell.row}/{cell.column}", within(cell)):
                return cell
        places = {text.lower(): text for cell in cells for text in (f"{cell.row}/{cell.column}", within(cell))}
        close = [places[text] for text in get_close_matches(self.within.lower(), places, n=3, cutoff=0.3)]
        hint = f"; the nearest: {', '.join(close)}" if close else ""
        message = f"{self.name} has no measured cell {self.within!r}{hint}"
        raise TraceError(message, code="missing-cell", place=f"{self.name}{SEPARATOR}{self.within}")


def within(cell: Placed) -> str:
    """Return the place of a cell in its artifact: row, column and, if there is one, view."""
    return "/".join(part for part in (cell.row, cell.column, cell.view) if part)


def place_text(artifact_file: str, cell: Placed) -> str:
    """Return the place of a cell of an artifact, given by one of its files."""
    return f"{artifact_file}{SEPARATOR}{within(cell)}"
