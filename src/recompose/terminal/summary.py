"""What a workflow came to, in six lines."""

import time

from rich.console import Console
from rich.text import Text

from recompose.papers.declaration import Paper
from recompose.provenance.audit import audit_artifacts
from recompose.report.expectations import expectations
from recompose.report.published import PublishedLineage, read_made
from recompose.report.results import Results
from recompose.terminal.text import counted, plain, spoken
from recompose.tracks import TRACKS
from recompose.workspace import Workspace


def show_summary(console: Console, work: Workspace, papers: list[Paper], began: float | None) -> None:
    """What was made, how long it took, headline numbers, whether the audit is clean, and which page to open."""
    published = PublishedLineage.read_valid(work.reports, papers)
    audited = audit_artifacts(work, papers, published)
    lines = [
        f"made: {_made(published)}",
        f"took: {_took(work, began)}",
        f"numbers: {_numbers(work, papers)}",
        f"instrument: {_instrument(work)}",
        f"audit: {audited.verdict}" + ("" if audited.report.clean else "; `recompose audit` says what"),
        f"open: {work.reports / 'index.html'}",
    ]
    for line in lines:
        console.print(Text(plain(line)), soft_wrap=True)


def _made(published: PublishedLineage) -> str:
    kinds = [record["kind"] for record in published.records.values()]
    cells = sum(len(published.cells(name)) for name in published.lineages)
    runs, evaluations = kinds.count("runs"), kinds.count("evaluations")
    artifacts = counted(len(published.lineages), "table or figure", "tables and figures")
    return (
        f"{artifacts} with {cells} measured numbers, from {counted(runs, 'run')} and "
        f"{counted(evaluations, 'evaluation')}"
    )


def _took(work: Workspace, began: float | None) -> str:
    together = spoken(sum(made["seconds"] for made in read_made(work.reports).values()))
    return f"{spoken(time.time() - began)} now; {together} of work behind it" if began else f"{together} of work"


def _numbers(work: Workspace, papers: list[Paper]) -> str:
    results = Results(work)
    numbers = (headline_number(results, paper) for paper in papers)
    return ", ".join(number for number in numbers if number) or "none yet"


def _instrument(work: Workspace) -> str:
    """Return whether the numbers are such that methods can be told apart."""
    found = expectations(Results(work))
    wrong = [each.sentence for each in found if not each.holds]
    if not found:
        return "nothing is measured yet"
    return f"DOES NOT HOLD: {'; '.join(wrong)}" if wrong else "; ".join(each.sentence for each in found)


def headline_number(results: Results, paper: Paper) -> str:
    """Return the mean of the paper's own method in the first metric on the first benchmark, or nothing before it is
    measured.
    """
    if paper.headline is None:
        return ""
    method, track = paper.headline.method, TRACKS[paper.track]
    about = track.metric(track.headline)
    for benchmark in results.benchmarks(paper.track)[:1]:
        measured = (results.metrics(each) for each in results.complete(paper.track, method, benchmark))
        if values := [metrics[track.headline] for metrics in measured if track.headline in metrics]:
            mean = f"{about.factor * sum(values) / len(values):.{about.digits}f} {about.unit}".rstrip()
            return f"{method} {mean} ({track.headline} on {benchmark}, n = {len(values)})"
    return ""
