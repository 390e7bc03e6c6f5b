"""A summary of a finished workflow in six lines."""

import time

from rich.console import Console
from rich.text import Text

from recompose.papers.declaration import Paper
from recompose.progress import printable
from recompose.provenance.audit import audit_artifacts
from recompose.report.documents import Sources
from recompose.report.expectations import expectations
from recompose.report.lineage import read_made
from recompose.report.published import PublishedLineage
from recompose.report.results import StoredResults
from recompose.terminal.text import exact_duration, pluralize
from recompose.tracks import TRACKS
from recompose.workspace import Workspace


def show_summary(
    console: Console, work: Workspace, papers: list[Paper], sources: Sources | None, began: float | None
) -> None:
    """Print what was made, its cost, headline numbers, the state of the instrument, the audit, and the page to open."""
    published = PublishedLineage.read(work.reports, papers)
    audited = audit_artifacts(work, papers, published, sources)
    lines = [
        f"made: {_contents(published)}",
        f"took: {_took(work, began)}",
        f"numbers: {_numbers(work, papers)}",
        f"instrument: {_instrument(work)}",
        f"audit: {audited.verdict}" + ("" if audited.report.clean else "; `recompose audit` shows it"),
        f"open: {work.reports / 'index.html'}",
    ]
    for line in lines:
        console.print(Text(printable(line)), soft_wrap=True)


def _contents(published: PublishedLineage) -> str:
    kinds = [record.kind for record in published.records.values()]
    cells = sum(len(published.cells(name)) for name in published.lineages)
    runs, evaluations = kinds.count("runs"), kinds.count("evaluations")
    artifacts = pluralize(len(published.lineages), "table or figure", "tables and figures")
    return (
        f"{artifacts} with {cells} measured numbers, from {pluralize(runs, 'run')} and "
        f"{pluralize(evaluations, 'evaluation')}"
    )


def _took(work: Workspace, began: float | None) -> str:
    total = exact_duration(sum(made.seconds for made in read_made(work.reports).values()))
    return f"{exact_duration(time.time() - began)} now; {total} of work in all" if began else f"{total} of work"


def _numbers(work: Workspace, papers: list[Paper]) -> str:
    results = StoredResults(work)
    numbers = (headline_number(results, paper) for paper in papers)
    return ", ".join(number for number in numbers if number) or "none yet"


def _instrument(work: Workspace) -> str:
    """Return the expectations under which methods can be compared, or those that fail."""
    checks = expectations(StoredResults(work))
    failures = [check.sentence for check in checks if not check.holds]
    if not checks:
        return "nothing is measured yet"
    return f"DOES NOT HOLD: {'; '.join(failures)}" if failures else "; ".join(check.sentence for check in checks)


def headline_number(results: StoredResults, paper: Paper) -> str:
    """Return the mean of the paper's own method in the first metric on the first benchmark, or nothing before it is
    measured.
    """
    if paper.headline is None:
        return ""
    method, track = paper.headline.method, TRACKS[paper.track]
    metric = track.metric(track.headline)
    for benchmark in results.benchmarks(paper.track)[:1]:
        measured = (results.metrics(run) for run in results.complete(paper.track, method, benchmark))
        if values := [metrics[track.headline] for metrics in measured if track.headline in metrics]:
            mean = f"{metric.factor * sum(values) / len(values):.{metric.digits}f} {metric.unit}".rstrip()
            return f"{method} {mean} ({track.headline} on {benchmark}, n = {len(values)})"
    return ""
