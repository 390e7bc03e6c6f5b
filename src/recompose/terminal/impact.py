"""The output of `recompose impact`: for a terminal, and as Markdown for a pull request."""

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recompose.monitor.impact import Impact
from recompose.phases import TRAINED
from recompose.progress import printable
from recompose.provenance.compare_cells import ComparedCell
from recompose.report.formats import escape_markdown
from recompose.terminal.audit import comparison_sentence, machine_lines, setting_lines
from recompose.terminal.groups import join_first
from recompose.terminal.text import pluralize, rough_duration

MOST = 20  # rows and numbers that are listed
COLUMNS = ("method", "data set", *TRAINED)


def show_impact(console: Console, impact: Impact) -> None:
    """Print what the changes make stale, its time, and what moved."""
    console.print(Text(printable(heading(impact)), "bold"))
    for line in stale_lines(impact):
        console.print(Text(printable(line)), soft_wrap=True)
    if impact.by_method:
        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
        for name in COLUMNS:
            table.add_column(name, justify="right" if name in TRAINED else "left", no_wrap=True)
        for row in _rows(impact):
            table.add_row(*(Text(printable(cell)) for cell in row))
        console.print(table)
    for line in moved_lines(impact):
        console.print(Text(printable(line)), soft_wrap=True)


def markdown(impact: Impact) -> str:
    """Return the same as Markdown; text from files and names is escaped."""
    lines = [f"### {escape_markdown(heading(impact))}", ""]
    lines += [f"{escape_markdown(line)}  " for line in stale_lines(impact)]
    if impact.by_method:
        lines += ["", f"| {' | '.join(COLUMNS)} |", "| --- | --- | ---: | ---: |"]
        lines += [f"| {' | '.join(map(escape_markdown, row))} |" for row in _rows(impact)]
    lines += ["", *(f"- {escape_markdown(printable(line).strip())}" for line in moved_lines(impact))]
    return "\n".join(map(printable, lines)) + "\n"


def heading(impact: Impact) -> str:
    """Return what is compared."""
    return f"profile {impact.profile}: the working tree against {impact.revision} ({impact.commit[:12]})"


def stale_lines(impact: Impact) -> Iterator[str]:
    """Yield sentences about the changed files, what they make stale, and the time."""
    yield f"Changed: {join_first(impact.files, ', ')}." if impact.files else "Changed: nothing outside of reports/."
    if not impact.items and not impact.artifacts:
        yield "Stale: nothing. No run, evaluation, number or artifact changes."
        return
    runs, evaluations = (impact.count(kind) for kind in TRAINED)
    claims = f", among them {pluralize(impact.stale_claims, 'verdict')}" if impact.stale_claims else ""
    yield (
        f"Stale: {pluralize(runs, 'run')} and {pluralize(evaluations, 'evaluation')}; {impact.stale_cells:,} of "
        f"{impact.numbers:,} numbers in {pluralize(len(impact.artifacts), 'artifact')}{claims}."
    )
    yield from _time(impact)
    if impact.dropped:
        yield f"No longer needed: {pluralize(impact.dropped, 'run')}."
    names = (f"{stale.artifact} ({stale.cells})" if stale.cells else stale.artifact for stale in impact.artifacts)
    yield f"Artifacts: {join_first(names, ', ')}."


def _time(impact: Impact) -> Iterator[str]:
    if not impact.items:
        yield "Time: nothing to train or score."
        return
    made = len(impact.items) - len(impact.missing)
    already = f"; {made} of {len(impact.items)} jobs are made already" if made else ""
    unknown = f", without {pluralize(impact.unmeasured, 'job')} of unknown time" if impact.unmeasured else ""
    hours = impact.core_seconds / 3600
    yield f"Time: {hours:.2f} core-hours ({rough_duration(impact.core_seconds)} on one core){unknown}{already}."


def _rows(impact: Impact) -> Iterator[list[str]]:
    counts = [*impact.by_method.items()]
    for (method, dataset), kinds in counts[:MOST]:
        yield [method, dataset, *(str(kinds[kind] or "") for kind in TRAINED)]
    if len(counts) > MOST:
        yield [f"and {len(counts) - MOST} more", "", "", ""]


def moved_lines(impact: Impact) -> Iterator[str]:
    """Yield what moved since the revision by more than retraining moves it, claims first."""
    moved = impact.moved
    if moved is None:
        if impact.items or impact.artifacts:
            yield (
                f"Nothing was made again yet: the reports are those of {impact.revision}. After `recompose reproduce`, "
                "`recompose impact` shows what moved."
            )
        return
    yield f"Moved: {comparison_sentence(moved)}"
    yield from setting_lines(moved)
    yield from machine_lines(moved)
    yield from (f"trained differently: {difference}" for difference in moved.trainings)
    for flip in moved.flips:
        yield f"another verdict: {_line(flip)} ({flip.word})"
    for cell in moved.beyond[:MOST]:
        yield f"beyond retraining: {_line(cell)}"
    if len(moved.beyond) > MOST:
        yield f"and {len(moved.beyond) - MOST} more (--json names all)"


def _line(cell: ComparedCell) -> str:
    return f"{cell.place}: {cell.change}"
