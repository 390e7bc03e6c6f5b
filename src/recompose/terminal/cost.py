"""The output of `recompose cost`."""

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recompose.engine import TRAINED
from recompose.monitor.edit_impact import ChangedArtifact, EditImpact
from recompose.monitor.work_plan import PlannedItem, Workload
from recompose.terminal.groups import join_first, paper_names, time_left, total
from recompose.terminal.text import pluralize, printable

Rows = dict[str, list[PlannedItem]]  # by title


def show_cost(console: Console, impact: EditImpact, *, every: bool) -> None:
    """Print a table of new and missing work, then sentences.

    Args:
        console: the terminal.
        impact: of edits, or of the parameters as they are.
        every: a row for each method and data set, and for each step before runs.
    """
    rows = {title: items for title, items in _rows(impact, every=every).items() if _has_work(items)}
    if rows:
        console.print(_table(rows))
    for sentence in sentences(impact):
        console.print(Text(printable(sentence)))
    if rows and not every:
        console.print("`recompose cost --all` shows each method, data set and step.")


def _rows(impact: EditImpact, *, every: bool) -> Rows:
    """Return steps together or by name, and runs and evaluations by papers, or by method and data set."""
    if not every:
        rows = {f"for {paper_names(group)}": [*group.members] for group in impact.by_papers}
        return {"steps before runs": impact.steps, **rows}
    rows = {}
    for step in impact.steps:
        rows.setdefault(f"{step.kind} {step.title}", []).append(step)
    for group in impact.by_method:
        title = f"{group.methods[0]} on {group.datasets[0]} ({paper_names(group)})"
        rows |= {f"{kind} of {title}": group.members_of(kind) for kind in TRAINED}
    return rows


def _has_work(items: list[PlannedItem]) -> bool:
    return any(item.new or not item.there for item in items)


def _table(rows: Rows) -> Table:
    table = Table("work", box=None, pad_edge=False)
    for name in ("asked for", "new", "new, there", "to make", "time"):
        table.add_column(name, justify="right", no_wrap=True)
    for title, items in rows.items():
        new, missing = [item for item in items if item.new], [item for item in items if not item.there]
        counts = (len(items), len(new), sum(item.there for item in new), len(missing))
        table.add_row(Text(printable(title)), *map(str, counts), time_left(Workload.of(missing)))
    return table


def sentences(impact: EditImpact) -> Iterator[str]:
    """Yield the sentences below the table."""
    yield from impact.notes
    if impact.edits and not impact.changes_runs:
        yield "The edit changes no run."
    if impact.dropped:
        yield (
            f"No longer needed: {pluralize(impact.dropped, 'run')}. `recompose store prune` removes those that no "
            f"profile needs."
        )
    missing = impact.to_make
    yield _jobs(impact, missing) if missing else "Nothing to make."
    if missing:
        yield from total(impact)
    if unrelated := sum(not item.new for item in missing) if impact.edits else 0:
        yield f"{unrelated} of these jobs would be left without the edit as well."
    yield from _artifacts(impact)


def _jobs(impact: EditImpact, missing: list[PlannedItem]) -> str:
    runs, evaluations = (sum(item.kind == kind for item in missing) for kind in TRAINED)
    batches = sum(process.phase == TRAINED[0] for process in impact.processes)
    steps_before = len(missing) - runs - evaluations
    text = (
        f"{pluralize(runs, 'run')} to train and {pluralize(evaluations, 'evaluation')} to score in "
        f"{pluralize(batches, 'process', 'processes')}"
    )
    return text + (f", after {pluralize(steps_before, 'step')} to make." if steps_before else ".")


def _artifacts(impact: EditImpact) -> Iterator[str]:
    artifacts = impact.artifacts
    if not artifacts:
        return
    figures = sum(artifact.kind == "figure" for artifact in artifacts)
    text = f"{pluralize(len(artifacts), 'artifact')} would {'change' if impact.edits else 'be made'}"
    text += f", {pluralize(figures, 'figure')} among them" if figures else ""
    cells, claims = (sum(getattr(artifact, name) or 0 for artifact in artifacts) for name in ("cells", "claims"))
    counts = [pluralize(number, noun) for number, noun in ((cells, "cell"), (claims, "claim")) if number]
    yield f"{text}: {', '.join(counts)}." if counts else f"{text}."
    yield f"  {join_first(map(_title, artifacts), ', ')}"


def _title(artifact: ChangedArtifact) -> str:
    """Return the name of an artifact, with the number of its cells that would change."""
    return f"{artifact.artifact} ({artifact.cells})" if artifact.cells else artifact.artifact
