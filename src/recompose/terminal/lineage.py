"""How lineage looks in a terminal: of a cell, of what is stored, and between two revisions."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.tree import Tree

from recompose.digest import digest, short
from recompose.provenance.diff import Diff
from recompose.provenance.downstream import Origin, ReachedArtifact, Where
from recompose.provenance.remote import has_remote
from recompose.provenance.trace import TraceResult
from recompose.report.trust import UNCHECKED
from recompose.terminal.text import colour_of, unmarked
from recompose.workspace import Workspace

Facts = dict[str, Any]  # name -> what is said under it


def show_trace(console: Console, work: Workspace, path: Path, traced: TraceResult) -> None:
    """A cell as a tree: value, aggregate, state, then what made it; what all of a kind have in common is said once."""
    cell = traced.cell
    place = " · ".join(unmarked(text) for text in (str(path), cell["row"], cell["column"], cell["view"]) if text)
    colour = colour_of(traced.state)
    tree = Tree(f"[bold]{unmarked(cell['text'])}[/bold]  {place} · [{colour}]{traced.word}[/{colour}]")
    for reason in traced.why:
        tree.add(f"[{colour}]{unmarked(reason)}[/{colour}]")
    if traced.note:
        tree.add(unmarked(traced.note))
    if cell["value"] is not None:
        spread = f" ± {cell['spread']:.4f}" if cell["spread"] is not None else ""
        tree.add(f"{cell['aggregate']}: {cell['value']:.4f}{spread}, n = {cell['n']}")
    is_of_each = len(cell["made_from"]) == len(cell["values"])
    values = dict(zip(cell["made_from"], cell["values"], strict=True)) if is_of_each else {}
    if cell["values"] and not is_of_each:
        tree.add(f"by seed: {', '.join(f'{value:.4f}' for value in cell['values'])}")
    for kind in dict.fromkeys(record["kind"] for record in reversed(traced.records.values())):
        _add_kind(tree, work, traced, kind, values)
    if cell["made_from"]:
        tree.add("[dim]all of this lies below results/; to make what is missing:[/dim]")
        tree.add(f"recompose make {unmarked(' '.join(cell['made_from']))}")
        if traced.state == UNCHECKED and has_remote(work.root):
            tree.add("[dim]or, from DVC's remote, all of it:[/dim]")
            tree.add("dvc pull")
    console.print(tree)


def _add_kind(tree: Tree, work: Workspace, traced: TraceResult, kind: str, values: dict[str, float]) -> None:
    """Everything of one kind that is behind a cell."""
    records = {key: record for key, record in traced.records.items() if record["kind"] == kind}
    facts = {key: _facts(work, key, record, traced.made.get(key)) for key, record in records.items()}
    common = [_common(list(part)) for part in zip(*facts.values(), strict=True)]
    if any(common):
        _add_facts(tree.add(f"[bold]all {len(records)} {kind}[/bold]"), *common)
    for key, record in records.items():
        value = "" if values.get(key) is None else f": {values[key]:.4f}"
        branch = tree.add(f"[bold]{unmarked(key)}[/bold] {unmarked(record['name'])}{value}")
        _add_facts(branch, *(_without(part, alike) for part, alike in zip(facts[key], common, strict=True)))


def _add_facts(tree: Tree, parameters: Facts, needs: Facts, others: Facts) -> None:
    lines = {
        "parameters": ", ".join(f"{name}={value}" for name, value in parameters.items()),
        "made from": ", ".join(needs.values()),
        **others,
    }
    for name, text in lines.items():
        if text:
            tree.add(f"[dim]{name}[/dim] {unmarked(text)}")


def _common(of_each: list[Facts]) -> Facts:
    """What is alike in all of several."""
    if len(of_each) < 2:
        return {}
    first, *others = of_each
    return {name: value for name, value in first.items() if all(name in of and of[name] == value for of in others)}


def _without(values: Facts, common: Facts) -> Facts:
    return {name: value for name, value in values.items() if name not in common}


def _facts(
    work: Workspace, key: str, record: dict[str, Any], made: dict[str, Any] | None
) -> tuple[Facts, Facts, Facts]:
    """What is to be told of something stored: its parameters, what it was made from, and the rest."""
    needs = {role: f"{need['kind']}/{short(need['digest'])}" for role, need in record["needs"].items()}
    return dict(_flat(record["document"])), needs, _other_facts(work, key, record, made)


def _other_facts(work: Workspace, key: str, record: dict[str, Any], made: dict[str, Any] | None) -> Facts:
    lines = {
        "files": ", ".join(f"{name} {short(entry['sha256'])}" for name, entry in record["files"].items()),
        "code": f"{short(digest(record['code']))} ({len(record['code'])} modules)" if record["code"] else "",
        "its files": "" if (work.results / key).exists() else "are not on this disk",
    }
    if made:
        attempts = f", the last of {made['attempts']} attempts" if made["attempts"] > 1 else ""
        lines |= {
            "commit": short(made["commit"] or "none") + (", with uncommitted changes" if made["dirty"] else ""),
            "machine": f"{made['host']}, {made['device']}",
            "made": f"{made['started']}, in {made['seconds']} s{attempts}",
        }
    return lines


def _flat(document: dict[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in document.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


def show_downstream(console: Console, origin: Where) -> None:
    """What a run or a data set reaches, as a tree: papers, artifacts, rows."""
    tree = Tree(f"[bold]{unmarked(origin.key)}[/bold]  {unmarked(origin.title)} · {_counted(origin)}")
    tree.add(f"[dim]digest[/dim] {unmarked(origin.digest)}")
    for paper in dict.fromkeys(reached.paper for reached in origin.reaches):
        branch = tree.add(f"[bold]{unmarked(paper)}[/bold]")
        for reached in origin.reaches:
            if reached.paper == paper:
                _add_reached(branch, reached)
    if origin.dependents:
        branch = tree.add("these were made from it, so what they reach depends on it, too")
        for other in origin.dependents:
            branch.add(f"{unmarked(other.key)}  {unmarked(other.title)} · {_counted(other)}")
    console.print(tree)


def _add_reached(tree: Tree, reached: ReachedArtifact) -> None:
    """An artifact with a line for each of its rows, in each view."""
    rows: dict[tuple[str, str], list[str]] = {}
    for cell in reached.cells:
        text = f"{unmarked(cell['column'])} [bold]{unmarked(cell['text'])}[/bold]"
        rows.setdefault((cell["row"], cell["view"]), []).append(text)
    branch = tree.add(f"{unmarked(reached.artifact)} [dim]{reached.kind}[/dim]")
    for (row, view), cells in rows.items():
        branch.add(f"{unmarked(row)}{f' ({unmarked(view)})' if view else ''}: {', '.join(cells)}")


def show_diff(console: Console, path: Path, diff: Diff) -> None:
    """What changed in a cell and in what it was made from, as a tree: value, kinds of changes, seeds, runs."""
    before, after = diff.before, diff.after
    place = " · ".join(unmarked(part) for part in (str(path), after["row"], after["column"], after["view"]) if part)
    tree = Tree(
        f"[bold]{unmarked(before['text'])} → {unmarked(after['text'])}[/bold]  {place} · since "
        f"{unmarked(diff.revision)} "
        f"({short(diff.commit)})"
    )
    if before["value"] is not None and after["value"] is not None:
        more = after["value"] - before["value"]
        tree.add(f"value {before['value']:.4f} → {after['value']:.4f}, {more:+.4f}")
    if diff.same_runs:
        tree.add("made by the same runs")
    for line, titles in diff.changed.items():
        whose = "" if len(titles) == len(diff.pairs) else f" ({'; '.join(titles)})"
        tree.add(unmarked(line + whose))
    for sign, runs in (("removed", diff.removed), ("added", diff.added)):
        for key, title in runs.items():
            tree.add(f"[bold]{sign}[/bold] {unmarked(title)}, {unmarked(key)}")
    if not diff.same_runs:
        for pair in diff.pairs:
            tree.add(f"[dim]{unmarked(pair.title)}: {unmarked(pair.before)} → {unmarked(pair.after)}[/dim]")
    console.print(tree)


def _counted(origin: Origin) -> str:
    """How much it reaches."""
    cells = sum(len(reached.cells) for reached in origin.reaches)
    return f"{cells} cells of {len(origin.reaches)} artifacts" if cells else "no cell"
