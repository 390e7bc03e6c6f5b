"""How the cost of an edit looks in a terminal."""

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recompose.engine import TRAINED
from recompose.monitor.edit_impact import EditImpact, ReachedArtifact
from recompose.monitor.work_plan import Needed, Takes
from recompose.terminal.groups import first, papers_of, time_left, total
from recompose.terminal.text import counted, plain

Rows = dict[str, list[Needed]]  # by what they are called


def show_cost(console: Console, consequences: EditImpact, *, every: bool) -> None:
    """A table of what is touched, then sentences.

    Args:
        console: where to.
        consequences: of edits, or of the parameters as they are.
        every: a line for each method and data set, and for each step before them.
    """
    rows = {name: needed for name, needed in _rows(consequences, every=every).items() if _is_touched(needed)}
    if rows:
        console.print(_table(rows))
    for sentence in sentences(consequences):
        console.print(Text(plain(sentence)))
    if rows and not every:
        console.print("`recompose cost --all` says it of each method, data set and step.")


def _rows(consequences: EditImpact, *, every: bool) -> Rows:
    """Steps together or by name, runs and evaluations by papers, or by method and data set."""
    if not every:
        rows = {f"for {papers_of(group)}": [*group.members] for group in consequences.by_papers}
        return {"steps before runs": consequences.steps, **rows}
    rows = {}
    for step in consequences.steps:
        rows.setdefault(f"{step.kind} {step.title}", []).append(step)
    for group in consequences.by_method:
        of = f"{group.methods[0]} on {group.datasets[0]} ({papers_of(group)})"
        rows |= {f"{kind} of {of}": group.of(kind) for kind in TRAINED}
    return rows


def _is_touched(needed: list[Needed]) -> bool:
    return any(each.new or not each.there for each in needed)


def _table(rows: Rows) -> Table:
    table = Table("what", box=None, pad_edge=False)
    for name in ("asked for", "new", "new, there", "to make", "time"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, needed in rows.items():
        new, missing = [each for each in needed if each.new], [each for each in needed if not each.there]
        counts = (len(needed), len(new), sum(each.there for each in new), len(missing))
        table.add_row(Text(plain(name)), *map(str, counts), time_left(Takes.of(missing)))
    return table


def sentences(consequences: EditImpact) -> Iterator[str]:
    """What the table does not say."""
    yield from consequences.notes
    if consequences.edits and not consequences.changes_runs:
        yield "The edit changes no run."
    if consequences.dropped:
        yield (
            f"No more asked for: {counted(consequences.dropped, 'run')}; `recompose store prune` would remove what "
            f"no other profile needs."
        )
    missing = consequences.to_make
    yield _made(consequences, missing) if missing else "Nothing to make."
    if missing:
        yield from total(consequences)
    if lacking := [each for each in missing if consequences.edits and not each.new]:
        yield f"Without the edit, too, {counted(len(lacking), 'job')} of these would be to do."
    yield from _artifacts(consequences)


def _made(consequences: EditImpact, missing: list[Needed]) -> str:
    runs, scored = (sum(each.kind == kind for each in missing) for kind in TRAINED)
    batches = sum(process.phase == TRAINED[0] for process in consequences.processes)
    rest = len(missing) - runs - scored
    text = (
        f"{counted(runs, 'run')} to train and {counted(scored, 'evaluation')} to score in "
        f"{counted(batches, 'process', 'processes')}"
    )
    return text + (f", and {counted(rest, 'step')} before them to make." if rest else ".")


def _artifacts(consequences: EditImpact) -> Iterator[str]:
    artifacts = consequences.artifacts
    if not artifacts:
        return
    figures = sum(each.kind == "figure" for each in artifacts)
    text = f"{counted(len(artifacts), 'artifact')} would {'change' if consequences.edits else 'be made'}"
    text += f", {counted(figures, 'figure')} among them" if figures else ""
    cells, claims = (sum(getattr(each, name) or 0 for each in artifacts) for name in ("cells", "claims"))
    touched = [counted(number, one) for number, one in ((cells, "cell"), (claims, "claim")) if number]
    yield f"{text}: {', '.join(touched)}." if touched else f"{text}."
    yield f"  {first((_named(each) for each in artifacts), ', ')}"


def _named(artifact: ReachedArtifact) -> str:
    """An artifact, and how many of its cells it is that would change."""
    return f"{artifact.artifact} ({artifact.cells})" if artifact.cells else artifact.artifact
