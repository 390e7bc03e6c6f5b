"""`recompose summary`: a finished workflow in a few lines."""

from collections.abc import Iterable, Iterator
from contextlib import suppress

from rich.console import Console

from recompose.audit.audit import audit
from recompose.audit.findings import Audit
from recompose.commands.against import MISSING_THEN, compare, counts_of, sentence
from recompose.console import pluralize, print_line, rough_duration
from recompose.errors import DiffError
from recompose.papers.declaration import Paper
from recompose.parts.cells import Cell
from recompose.parts.results import Results
from recompose.tables.published import Published, headline_cells
from recompose.tables.reports import Reports
from recompose.tables.stored_results import StoredResults
from recompose.tracks import TRACKS
from recompose.workspace import Workspace


def summary(work: Workspace) -> None:
    """Audit the reports quickly, and print what they hold."""
    reports = Reports(work)
    published = Published.read(reports)
    show_summary(reports, published, audit(reports, published, work.papers, quick=True))


def show_summary(reports: Reports, published: Published, audited: Audit) -> None:
    """Print what was made, its cost, headline numbers, whether expectations hold, the audit, the page to open, and how
    the numbers differ from those of the last commit.
    """
    console, work = Console(), reports.work
    for text in (
        f"made: {_contents(published)}",
        f"took: {rough_duration(sum(made.seconds for made in published.made.values()))} of work",
        f"numbers: {_numbers(published, work.papers)}",
        f"expectations: {_expectations(StoredResults(work))}",
        f"audit: {audited.outcome}" + ("" if audited.clean else "; `recompose audit` shows it"),
        f"open: {work.reports / 'index.html'}",
        *_commit_line(work),
    ):
        print_line(console, text)


def _commit_line(work: Workspace) -> Iterator[str]:
    """Yield how the numbers differ from those of the last commit, where git has one with such reports."""
    with suppress(DiffError):
        cells = compare(work.reports, work.papers, "HEAD")
        if counts_of(cells).keys() - {MISSING_THEN}:
            likeness = "the same numbers as" if all(cell.is_same for cell in cells) else "other numbers than"
            yield f"commit: {likeness} in the last commit: {sentence(cells)}"


def _contents(published: Published) -> str:
    kinds = [recipe.kind for recipe in published.recipes.values()]
    cells = sum(map(len, published.cells.values()))
    runs, evaluations = kinds.count("runs"), kinds.count("evaluations")
    artifacts = pluralize(len(published.cells), "table or figure", "tables and figures")
    return (
        f"{artifacts} with {cells} measured numbers, from {pluralize(runs, 'run')} and "
        f"{pluralize(evaluations, 'evaluation')}"
    )


def _numbers(published: Published, papers: list[Paper]) -> str:
    cells = ((paper, published.cells.get(f"{paper.name}/{paper.first_artifact}", [])) for paper in papers)
    numbers = (headline_number(paper, of_paper) for paper, of_paper in cells if of_paper)
    return ", ".join(number for number in numbers if number) or "none yet"


def _expectations(results: Results) -> str:
    """Return the expectations under which methods can be compared, or those that fail."""
    declared = [(name, expectation) for name in results.plan.tracks for expectation in TRACKS[name].expectations]
    checks = [check for name, expectation in declared for check in expectation.check(results, name)]
    failures = [check.sentence for check in checks if not check.holds]
    if not checks:
        return "nothing is measured yet"
    return f"DOES NOT HOLD: {'; '.join(failures)}" if failures else "; ".join(check.sentence for check in checks)


def headline_number(paper: Paper, cells: Iterable[Cell]) -> str:
    """Return the paper's own method in the track's headline metric, as its headline table shows it.

    Args:
        paper: a paper.
        cells: of its headline table; the result is empty if the number is not measured.
    """
    cell = headline_cells(paper, cells).get(paper.headline.method) if paper.headline else None
    if cell is None:
        return ""
    value = f"{cell.text} {TRACKS[paper.track].metric(cell.metric).unit}".rstrip()
    return f"{', '.join(cell.names)} {value} ({cell.metric} on {cell.benchmark}, n = {cell.n})"
