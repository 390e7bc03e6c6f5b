"""How the cost of an edit looks in a terminal."""

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recompose.monitor.changed import Consequences, Needed, ReachedArtifact
from recompose.terminal.text import counted, plain, spoken

MOST = 12  # artifacts that are named


def show_cost(console: Console, consequences: Consequences) -> None:
    """A table of runs and steps, then sentences."""
    if rows := [row for row in _groups(consequences) if any(each.new or not each.there for each in row)]:
        console.print(_table(rows))
    for sentence in sentences(consequences):
        console.print(Text(plain(sentence)))


def _groups(consequences: Consequences) -> list[list[Needed]]:
    """Steps one by one, runs by method and data set."""
    groups: dict[tuple[str, str, str], list[Needed]] = {}
    for each in consequences.needed:
        groups.setdefault((each.kind, each.method, each.dataset), []).append(each)
    return list(groups.values())


def _table(rows: list[list[Needed]]) -> Table:
    table = Table("what", box=None, pad_edge=False)
    for name in ("asked for", "new", "new, there", "to make", "time"):
        table.add_column(name, justify="right")
    for row in rows:
        first, new, missing = row[0], [e for e in row if e.new], [e for e in row if not e.there]
        on = f" on {first.dataset}" if first.dataset else ""
        counts = (len(row), len(new), sum(each.there for each in new), len(missing))
        table.add_row(Text(plain(f"{first.kind} {first.method}{on}")), *map(str, counts), _time(missing))
    return table


def _time(missing: list[Needed]) -> str:
    """What these take together, as far as it is known."""
    seconds = [each.estimate.seconds for each in missing if each.estimate]
    unknown = len(missing) - len(seconds)
    text = [spoken(sum(seconds))] * bool(seconds) + [f"{unknown} not measured"] * bool(unknown)
    return ", ".join(text)


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
        yield _hours(consequences)
    if lacking := [each for each in missing if consequences.edits and not each.new]:
        yield f"{len(lacking)} of what is to make is missing without the edit, too."
    yield from _bases(missing)
    yield from _artifacts(consequences.artifacts)


def _made(consequences: Consequences, missing: list[Needed]) -> str:
    runs, scored = (sum(each.kind == kind for each in missing) for kind in ("runs", "evaluations"))
    batches = sum(process.phase == "runs" for process in consequences.processes)
    rest = len(missing) - runs - scored
    text = (
        f"{counted(runs, 'run')} to train and {counted(scored, 'evaluation')} to score in "
        f"{counted(batches, 'process', 'processes')}"
    )
    return text + (f", and {counted(rest, 'step')} before them to make." if rest else ".")


def _hours(consequences: Consequences) -> str:
    if consequences.unmeasured == len(consequences.to_make):
        return "Nothing like any of it was measured: how long it takes is unknown."
    text = (
        f"About {spoken(consequences.core_seconds)} of cores, {spoken(consequences.wall_seconds)} from start to "
        f"end on {consequences.cores} cores"
    )
    if consequences.unmeasured:
        text += f", without the {consequences.unmeasured} of them like none that was measured"
    return f"{text}; artifacts come on top."


def _bases(missing: Iterable[Needed]) -> Iterator[str]:
    """Where times come from."""
    estimates = [each.estimate for each in missing if each.estimate]
    if where := dict.fromkeys(place for estimate in estimates for place in estimate.where):
        yield f"As measured on {'; '.join(where)}."
    if scaled := dict.fromkeys(line for estimate in estimates for line in estimate.scaled):
        yield f"Scaled in proportion: {'; '.join(scaled)}."


def _artifacts(artifacts: list[ReachedArtifact]) -> Iterator[str]:
    if not artifacts:
        return
    cells, claims = (sum(getattr(each, name) or 0 for each in artifacts) for name in ("cells", "claims"))
    figures = sum(each.kind == "figure" for each in artifacts)
    yield (
        f"{counted(len(artifacts), 'artifact')} would change, {counted(figures, 'figure')} among them: "
        f"{counted(cells, 'cell')}, {counted(claims, 'claim')}."
    )
    named = [f"{each.artifact} ({'not made yet' if each.cells is None else each.cells})" for each in artifacts[:MOST]]
    more = f" and {len(artifacts) - MOST} more" if len(artifacts) > MOST else ""
    yield f"  {', '.join(named)}{more}"
