"""The output of `recompose plan`."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from recompose.engine import Engine
from recompose.monitor.work_plan import WorkPlan
from recompose.terminal.groups import groups_table, steps, steps_table, total
from recompose.terminal.text import pluralize, printable


def show_plan(console: Console, engine: Engine, plan: WorkPlan, *, every: bool) -> None:
    """Print what the parameters ask for, which part of it is complete, and the time that is left.

    Args:
        console: the terminal.
        engine: of the workspace.
        plan: the work.
        every: a row for each method and data set, and for each step before runs.
    """
    console.print(Text(printable(f"profile {plan.profile}"), "bold"))
    if every:
        console.print(steps_table(plan))
    console.print(groups_table(plan, every=every))
    for line in sentences(engine, plan, every=every):
        console.print(Text(printable(line)))


def sentences(engine: Engine, plan: WorkPlan, *, every: bool) -> Iterator[str]:
    """Yield the sentences below the table."""
    if not every:
        yield f"Steps before runs: {steps(plan)}."
    if plan.to_make:
        yield from total(plan)
    else:
        yield f"Nothing to train or score. {_artifacts(engine)}"
    if not every:
        yield "`recompose plan --all` shows each method, data set and step."


def _artifacts(engine: Engine) -> str:
    due = sum(engine.receipts.is_due(paper, name, recipe) for (paper, name), recipe in engine.artifacts.items())
    return f"{pluralize(due, 'artifact')} to make." if due else "All artifacts are up to date."
