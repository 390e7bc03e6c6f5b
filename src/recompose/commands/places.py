"""Names of papers and artifacts and places of cells, as people write them, and the nearest ones where there are none.

The place of a cell in one text is ``reports/demo/msci/table-2#MSCI/shapes-pairs AUC``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from recompose.console import first
from recompose.errors import TraceError
from recompose.papers.declaration import COMPARISONS, Paper
from recompose.params.mistakes import nearest
from recompose.parts.cells import Cell
from recompose.workspace import PROFILE, Workspace

SHOWN = 12  # names that an error lists
SEPARATOR = "#"
FORM = "reports/PROFILE/PAPER/ARTIFACT#ROW/COLUMN, or ROW/COLUMN/VIEW where a table has several views"


def find_artifact(work: Workspace, name: str) -> str:
    """Return an artifact of the profile's reports as ``<paper>/<artifact>``.

    Args:
        work: the workspace.
        name: ``msci/table-2``, ``comparisons/my-csp/table``, or one of the artifact's files.

    Raises:
        TraceError: there is no such paper, it has no such artifact, or the file is another profile's; the message names
            the nearest one, or the remedy.
    """
    path = Path(name.removeprefix(f"{COMPARISONS}/"))
    places = [place for place in (work.root / path, path.absolute()) if place.name]
    for place in places:
        if place.resolve().parent.parent == work.reports.resolve():
            return f"{place.resolve().parent.name}/{place.name.partition('.')[0]}"
    file = next((place for place in places if place.is_file()), places[0] if len(path.parts) > 2 else None)
    if file:
        profile = file.resolve().parent.parent.name
        is_known = profile in work.params.profiles
        remedy = f"{PROFILE}={profile} chooses its profile" if is_known else "name an artifact, such as msci/table-2"
        raise TraceError(f"{file} is not in {work.reports_place}; {remedy}", code="other-profile", place=name)
    folder, _, artifact = str(path).partition("/")
    paper, artifact = find_paper(work, folder), artifact.partition(".")[0]
    if not artifact:
        message = f"{paper.name} has {len(paper.artifacts)} artifacts; name one: {', '.join(paper.artifacts)}"
        raise TraceError(message, code="no-artifact", place=name)
    return f"{paper.name}/{one_of(paper.artifacts, artifact, f'artifact of {paper.name}', 'unknown-artifact')}"


def find_paper(work: Workspace, name: str) -> Paper:
    """Return the paper or the comparison of the profile with this name.

    Raises:
        TraceError: there is none; the message names the nearest one.
    """
    papers = {paper.name: paper for paper in work.papers}
    return papers[one_of(papers, name, "paper", "unknown-paper")]


def one_of(names: Iterable[str], given: str, title: str, code: str) -> str:
    """Return the name that equals what was given but for capitals.

    Raises:
        TraceError: there is none; the message names the nearest one.
    """
    spelled = {name.lower(): name for name in names}
    if given.lower() in spelled:
        return spelled[given.lower()]
    there = ", ".join(first(spelled.values(), SHOWN))
    message = f"there is no {title} '{given}'{nearest(given, spelled.values())}; there are: {there}"
    raise TraceError(message, code=code, place=given)


@dataclass(frozen=True)
class CellPlace:
    """An artifact, and the row and column of one of its cells; rows and columns may contain slashes."""

    name: str  # <paper>/<artifact>
    within: str  # row/column or row/column/view

    @classmethod
    def parse(cls, text: str, work: Workspace) -> "CellPlace":
        """Return the place that a text names.

        Raises:
            TraceError: the text has another form, or names no artifact.
        """
        file, _, within = text.partition(SEPARATOR)
        if not (file and within):
            raise TraceError(f"{text!r} names no cell; write {FORM}", code="no-cell", place=text)
        return cls(find_artifact(work, file), within)

    def find(self, cells: Sequence[Cell]) -> Cell:
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


def within(cell: Cell) -> str:
    """Return the place of a cell in its artifact: row, column and, if there is one, view."""
    return "/".join(part for part in (cell.row, cell.column, cell.view) if part)


def place_text(artifact: str, cell: Cell) -> str:
    """Return the place of a cell of an artifact, which is named by one of its files or as <paper>/<artifact>."""
    return f"{artifact}{SEPARATOR}{within(cell)}"
