"""How a plan looks in a terminal."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from recompose.engine import Engine
from recompose.monitor.work_plan import WorkPlan
from recompose.terminal.groups import groups_table, steps, steps_table, total
from recompose.terminal.text import counted, plain


def show_plan(console: Console, engine: Engine, outlook: WorkPlan, *, every: bool) -> None:
    """What the parameters ask for, what of it is there, and what the rest takes.

    Args:
        console: where to.
        engine: of the workspace.
        outlook: what there is and what is left.
        every: a line for each method and data set, and for each step before them.
    """
    console.print(Text(plain(f"profile {outlook.profile}"), "bold"))
    if every:
        console.print(steps_table(outlook))
    console.print(groups_table(outlook, every=every))
    for line in sentences(engine, outlook, every=every):
        console.print(Text(plain(line)))


def sentences(engine: Engine, outlook: WorkPlan, *, every: bool) -> Iterator[str]:
    """What the table does not say."""
    if not every:
        yield f"before them: {steps(outlook)}"
    if outlook.to_make:
        yield from total(outlook)
    else:
        yield f"Nothing to train or score. {_artifacts(engine)}"
    if not every:
        yield "`recompose plan --all` says it of each method, data set and step."


def _artifacts(engine: Engine) -> str:
    due = sum(engine.receipts.is_due(paper, name, recipe) for (paper, name), recipe in engine.artifacts.items())
    return f"{counted(due, 'artifact')} to make." if due else "Every artifact is made."
