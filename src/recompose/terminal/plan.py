"""How a plan, and what came of it, look in a terminal."""

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recompose.engine import ALL, Engine
from recompose.monitor.changed import Consequences, consequences
from recompose.phases import PHASES
from recompose.terminal.text import counted, plain, spoken
from recompose.workspace import Workspace


def show_plan(console: Console, work: Workspace) -> None:
    """What the parameters ask for, what of it is there, and what the rest takes."""
    console.print(f"profile [bold]{work.params.profile}[/bold]: {', '.join(_tracks(work))}")
    table = Table("phase", "what it is", box=None)
    table.add_column("there", justify="right")
    for kind, phase in PHASES.items():
        recipes = work.plan.of(kind)
        missing = work.missing(recipes)
        table.add_row(kind, phase.about, f"{len(recipes) - len(missing)} of {len(recipes)}")
    console.print(table)
    for line in to_do(work):
        console.print(Text(plain(line)))


def _tracks(work: Workspace) -> Iterator[str]:
    for name, track in work.plan.tracks.items():
        yield f"{name} on {', '.join(track.benchmarks)}, {counted(len(track.methods), 'method')}"


def to_do(work: Workspace) -> Iterator[str]:
    """What a workflow would do now, and about how long it takes here."""
    engine = Engine(work)
    jobs = engine.jobs(ALL)
    for job in jobs:
        yield f"  {job.says}"
    if not jobs:
        yield "Nothing to train or score."
    yield time_of(consequences(work.root)) if jobs else _artifacts(engine)


def _artifacts(engine: Engine) -> str:
    due = sum(engine.is_due(paper, name, recipe) for (paper, name), recipe in engine.artifacts.items())
    return f"{counted(due, 'artifact')} to make." if due else "Every artifact is made."


def time_of(rest: Consequences) -> str:
    """About how long what is missing takes."""
    if rest.unmeasured == len(rest.to_make):
        return "Nothing like any of it was measured: how long it takes is unknown."
    more = f", without {rest.unmeasured} like none that was measured" if rest.unmeasured else ""
    return (
        f"About {spoken(rest.wall_seconds)} from start to end on {counted(rest.cores, 'core')}{more}; artifacts "
        f"come on top."
    )
