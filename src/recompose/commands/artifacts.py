"""`recompose artifacts`: tables and figures from stored results, and what they tell first."""

from collections.abc import Iterator

from recompose.commands.places import find_paper, one_of
from recompose.commands.summary import headline_number
from recompose.papers.declaration import Paper
from recompose.tables.artifacts import make_artifacts
from recompose.tables.lineage import Lineage
from recompose.tables.measured import ADJUSTED
from recompose.tables.published import kept_lineage
from recompose.tables.stored_results import StoredResults
from recompose.workspace import Workspace


def make_and_show(work: Workspace, name: str) -> None:
    """Make the artifacts of a paper, or one of them, and print what its first one tells."""
    folder, _, artifact = name.partition("/")
    paper = find_paper(work, folder)
    names = [one_of(paper.artifacts, artifact, f"artifact of {paper.name}", "unknown-artifact")] if artifact else None
    make_artifacts(StoredResults(work, keeps=True), paper, names or list(paper.artifacts))
    if not names or paper.first_artifact in names:
        for line in first_lines(work, paper):
            print(line)


def first_lines(work: Workspace, paper: Paper) -> Iterator[str]:
    """Yield a paper's headline number with the table that shows it, or the differences that a comparison's table shows,
    with their intervals, and the path of the table.
    """
    place = f"{paper.name}/{paper.first_artifact}"
    lineage = Lineage.read(kept_lineage(work, place))
    if not paper.is_comparison:
        if number := headline_number(paper, lineage):
            yield f"{place}: {number}"
        return
    views = paper.artifacts[paper.first_artifact].views
    for cell in lineage.cells:
        if (baseline := views[cell.view].baseline) and not cell.column.endswith(ADJUSTED):
            yield f"{cell.row} - {baseline}: {cell.column} {cell.text}, n = {cell.n}"
    yield f"{work.reports_place}/{place}.md"
