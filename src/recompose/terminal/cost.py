"""How the cost of an edit looks in a terminal."""

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recompose.costs import Estimate
from recompose.engine import TRAINED
from recompose.monitor.changed import Consequences, ReachedArtifact
from recompose.monitor.outlook import Needed, Takes
from recompose.terminal.groups import papers_of, time_left, total
from recompose.terminal.text import counted, plain

MOST = 6  # artifacts, machines and proportions that are named
Rows = dict[str, list[Needed]]  # by what they are called


def show_cost(console: Console, consequences: Consequences, *, every: bool) -> None:
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


def _rows(consequences: Consequences, *, every: bool) -> Rows:
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
        table.add_column(name, justify="right")
    for name, needed in rows.items():
        new, missing = [each for each in needed if each.new], [each for each in needed if not each.there]
        counts = (len(needed), len(new), sum(each.there for each in new), len(missing))
        table.add_row(Text(plain(name)), *map(str, counts), time_left(Takes.of(missing)))
    return table


def sentences(consequences: Consequences) -> Iterator[str]:
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
        yield total(consequences)
    if lacking := [each for each in missing if consequences.edits and not each.new]:
        yield f"Without the edit, too, {counted(len(lacking), 'job')} of these would be to do."
    yield from _bases(missing)
    yield from _artifacts(consequences.artifacts)


def _made(consequences: Consequences, missing: list[Needed]) -> str:
    runs, scored = (sum(each.kind == kind for each in missing) for kind in TRAINED)
    batches = sum(process.phase == TRAINED[0] for process in consequences.processes)
    rest = len(missing) - runs - scored
    text = (
        f"{counted(runs, 'run')} to train and {counted(scored, 'evaluation')} to score in "
        f"{counted(batches, 'process', 'processes')}"
    )
    return text + (f", and {counted(rest, 'step')} before them to make." if rest else ".")


def _bases(missing: Iterable[Needed]) -> Iterator[str]:
    """Where times come from."""
    estimates = [each.estimate for each in missing if each.estimate]
    for basis, places in _places(estimates).items():
        yield f"As {basis} on {_first(places, '; ')}."
    if scaled := dict.fromkeys(line for estimate in estimates for line in estimate.scaled):
        yield f"Scaled in proportion: {_first(scaled, '; ')}."


def _places(estimates: Iterable[Estimate]) -> dict[str, dict[str, None]]:
    """The machines that times come from, by what they rest on."""
    places: dict[str, dict[str, None]] = {}
    for estimate in estimates:
        places.setdefault(estimate.basis, {}).update(dict.fromkeys(estimate.where))
    return places


def _first(names: Iterable[str], separator: str) -> str:
    """The first of some names, and how many more there are."""
    names = list(names)
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return separator.join(names[:MOST]) + more


def _artifacts(artifacts: list[ReachedArtifact]) -> Iterator[str]:
    if not artifacts:
        return
    cells, claims = (sum(getattr(each, name) or 0 for each in artifacts) for name in ("cells", "claims"))
    figures = sum(each.kind == "figure" for each in artifacts)
    yield (
        f"{counted(len(artifacts), 'artifact')} would change, {counted(figures, 'figure')} among them: "
        f"{counted(cells, 'cell')}, {counted(claims, 'claim')}."
    )
    named = [f"{each.artifact} ({'not made yet' if each.cells is None else each.cells})" for each in artifacts]
    yield f"  {_first(named, ', ')}"
