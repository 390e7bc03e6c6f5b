"""How a plan looks in a terminal."""

from collections import Counter

from rich.console import Console
from rich.table import Table

from recompose.monitor.costs import Costs
from recompose.workspace import Workspace


def show_plan(console: Console, work: Workspace) -> None:
    """What the parameters ask for, and what of it is there."""
    plan = work.plan
    table = Table("phase", "what", "state", box=None)
    stores = [("index", recipe) for recipe in plan.datasets.values()]
    stores += [("backbones", recipe) for recipe in plan.backbones.values()]
    stores += [("features", recipe) for recipe in plan.features.values()]
    for kind, recipe in stores:
        table.add_row(kind, recipe.folder, "done" if work.store(kind).is_complete(recipe) else "to make")
    for batch in plan.batches:
        done = [run for run in batch.runs if work.runs.is_complete(run)]
        what = Counter(run.method for run in batch.runs)
        said = ", ".join(f"{count} {method}" for method, count in what.items())
        table.add_row(
            "runs",
            f"batch {batch.name}: {said} on {batch.dataset}" + (f", {batch.backbone}" if batch.backbone else ""),
            f"{len(done)} of {len(batch.runs)} done",
        )
    console.print(f"profile [bold]{work.params.profile}[/bold]: {len(plan.runs)} runs in {len(plan.batches)} processes")
    console.print(table)
    _show_cost(console, work)


def _show_cost(console: Console, work: Workspace) -> None:
    """What the missing runs will take, where runs like them were measured."""
    missing = [run for run in work.plan.runs if not work.runs.is_complete(run)]
    if not missing:
        console.print("Nothing to train.")
        return
    costs = Costs.of(work, work.plan)
    known = [estimate.seconds for run in missing if (estimate := costs.estimate("runs", run))]
    said = f"{len(missing)} runs to train"
    if known:
        said += (
            f"; {len(known)} of them take about {sum(known):.0f} s, as earlier runs did (`recompose cost` says more)"
        )
    console.print(said)
