"""How traces and plans look in a terminal."""

from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

from recompose.digest import digest, short
from recompose.provenance.costs import Costs
from recompose.provenance.trace import Traced
from recompose.workspace import Workspace


def show_trace(console: Console, work: Workspace, path: Path, traced: Traced) -> None:
    """A cell as a tree: value, aggregate, state, then each run."""
    cell = traced.cell
    state = "[red]stale[/red]" if traced.stale else "[green]current[/green]"
    tree = Tree(
        f"[bold]{escape(cell['text'])}[/bold]  {escape(str(path))} · {escape(cell['row'])} · {escape(cell['column'])} · {state}"
    )
    for reason in traced.stale:
        tree.add(f"[red]{escape(reason)}[/red]")
    if cell["value"] is not None:
        spread = f" ± {cell['spread']:.4f}" if cell["spread"] is not None else ""
        tree.add(f"{cell['aggregate']}: {cell['value']:.4f}{spread}, n = {cell['n']}")
    for key in cell["missing"]:
        tree.add(f"[red]missing: {escape(key)}[/red]")
    for key, record in traced.records.items():
        _add_record(tree, work, key, record, cell["column"])
    console.print(tree)


def _add_record(tree: Tree, work: Workspace, key: str, record: dict[str, Any], column: str) -> None:
    recipe, made = record["recipe"], record["made"]
    seed = f", seed {recipe['seed']}" if "seed" in recipe else ""
    branch = tree.add(f"[bold]{escape(key)}[/bold]{seed}")
    lines = {
        "digest": record["digest"],
        "parameters": _said(
            recipe.get("settings") or {k: v for k, v in recipe.items() if k not in ("code", "dataset")}
        ),
        "data": _input(recipe["dataset"]),
        "backbone": _input(recipe.get("backbone")),
        "code": f"{short(digest(recipe['code']))} ({len(recipe['code'])} modules), commit {short(made['commit'] or 'none')}"
        + (", with uncommitted changes" if made["dirty"] else ""),
        "made": f"{made['started']} on {made['host']}, {made['device']}",
        "cost": f"{made['seconds']} s" + (f", the last of {made['attempts']} attempts" if made["attempts"] > 1 else ""),
        "found": ", ".join(f"{name} {short(value)}" for name, value in record["inputs"].items()),
        "files": ", ".join(f"{name} {short(entry['sha256'])}" for name, entry in record["files"].items()),
        "folder": _folder(work, key),
    }
    for name, text in lines.items():
        if text:
            branch.add(f"[dim]{name}[/dim] {escape(text)}")


def _folder(work: Workspace, key: str) -> str:
    folder = work.results / key
    return str(folder.relative_to(work.root)) if folder.exists() else "its files are not on this disk (dvc pull)"


def _input(document: Any) -> str:
    if not isinstance(document, dict):
        return str(document or "")
    return f"{document['name']} {short(document['digest'])}"


def _said(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items()) or "none"


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
