"""`recompose artifacts`: tables and figures from stored results, and what they tell first."""

from collections.abc import Iterator

from recompose.commands.places import find_paper, one_of
from recompose.commands.summary import headline_number
from recompose.papers.declaration import Paper
from recompose.tables.artifacts import make_artifacts
from recompose.tables.measured import ADJUSTED
from recompose.tables.published import cells_of
from recompose.tables.reports import Reports
from recompose.workspace import Workspace


def make_and_show(work: Workspace, name: str) -> None:
    """Make the artifacts of a paper, or one of them, and print what its first one tells."""
    folder, _, artifact = name.partition("/")
    paper, reports = find_paper(work, folder), Reports(work)
    names = (
        [one_of(paper.artifacts, artifact, f"artifact of {paper.name}", "unknown-artifact")]
        if artifact
        else [*paper.artifacts]
    )
    make_artifacts(reports, [f"{paper.name}/{each}" for each in names])
    if paper.first_artifact in names:
        for line in first_lines(reports, paper):
            print(line)


def first_lines(reports: Reports, paper: Paper) -> Iterator[str]:
    """Yield a paper's headline number with the table that shows it, or the differences that a comparison's table shows,
    with their intervals, and the path of the table.
    """
    place = f"{paper.name}/{paper.first_artifact}"
    cells = cells_of(reports, reports.artifact(place))
    if not paper.is_comparison:
        if number := headline_number(paper, cells):
            yield f"{place}: {number}"
        return
    views = paper.artifacts[paper.first_artifact].views
    for cell in cells:
        if (baseline := views[cell.view].baseline) and not cell.column.endswith(ADJUSTED):
            yield f"{cell.row} - {baseline}: {cell.column} {cell.text}, n = {cell.n}"
    yield f"{reports.work.reports_place}/{place}.md"
