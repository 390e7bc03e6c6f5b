"""The output of `recompose plan`."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from recompose.console import pluralize
from recompose.monitor.edit_impact import ChangedArtifact, EditImpact
from recompose.phases import TRAINED
from recompose.progress import printable
from recompose.terminal.groups import groups_table, join_first, steps, steps_table, total


def show_plan(console: Console, plan: EditImpact, *, every: bool) -> None:
    """Print what the parameters ask for, which part of it is complete, and the time that is left.

    Args:
        console: the terminal.
        plan: the work; after edits, the tables show only what is new or left.
        every: a row for each method and data set, and for each step before runs.
    """
    console.print(Text(printable(" with ".join([f"profile {plan.profile}", *plan.edits])), "bold"))
    tables = [*([steps_table(plan)] if every else ()), groups_table(plan, every=every)]
    for table in tables:
        if table.row_count:
            console.print(table)
    for line in sentences(plan, every=every):
        console.print(Text(printable(line)))


def sentences(plan: EditImpact, *, every: bool = False) -> Iterator[str]:
    """Yield the sentences below the tables."""
    yield from plan.notes
    if plan.edits and not plan.changes_runs:
        yield "The edit changes no run."
    if plan.dropped:
        yield (
            f"No longer needed: {pluralize(plan.dropped, 'run')}. `recompose store prune` removes those that no "
            f"profile needs."
        )
    if plan.to_make:
        yield from _work(plan, every=every)
    else:
        yield "Nothing to make." if plan.edits else f"Nothing to train or score. {_due(plan)}"


def _work(plan: EditImpact, *, every: bool) -> Iterator[str]:
    missing = plan.to_make
    if not every and any(item.kind not in TRAINED for item in missing):
        yield f"Steps before runs: {steps(plan)}."
    yield _jobs(plan)
    yield from total(plan)
    if unrelated := sum(not item.new for item in missing) if plan.edits else 0:
        yield f"{unrelated} of these jobs would be left without the edit as well."
    yield from _artifacts(plan)
    if not every:
        yield "`recompose plan --all` shows each method, data set and step."


def _due(plan: EditImpact) -> str:
    return f"{pluralize(plan.due, 'artifact')} to make." if plan.due else "All artifacts are up to date."


def _jobs(plan: EditImpact) -> str:
    runs, evaluations = (sum(item.kind == kind for item in plan.to_make) for kind in TRAINED)
    return f"{pluralize(runs, 'run')} to train and {pluralize(evaluations, 'evaluation')} to score."


def _artifacts(plan: EditImpact) -> Iterator[str]:
    artifacts = plan.artifacts
    if not artifacts:
        return
    figures = sum(artifact.kind == "figure" for artifact in artifacts)
    text = f"{pluralize(len(artifacts), 'artifact')} would {'change' if plan.edits else 'be made'}"
    text += f", {pluralize(figures, 'figure')} among them" if figures else ""
    cells, claims = (sum(getattr(artifact, name) or 0 for artifact in artifacts) for name in ("cells", "claims"))
    counts = [pluralize(number, noun) for number, noun in ((cells, "cell"), (claims, "claim")) if number]
    yield f"{text}: {', '.join(counts)}." if counts else f"{text}."
    if plan.edits:
        yield f"  {join_first(map(_title, artifacts), ', ')}"


def _title(artifact: ChangedArtifact) -> str:
    """Return the name of an artifact, with the number of its cells that would change."""
    return f"{artifact.artifact} ({artifact.cells})" if artifact.cells else artifact.artifact
