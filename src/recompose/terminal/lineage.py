"""How lineage looks in a terminal: of a cell, of a run, and between two revisions."""

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.tree import Tree

from recompose.digest import digest, short
from recompose.provenance.diff import Diff
from recompose.provenance.trace import Traced
from recompose.provenance.where import Origin, Reached, Where
from recompose.workspace import Workspace

COLOURS = {"current": "green", "stale": "yellow"}  # of states; of any other red


def show_trace(console: Console, work: Workspace, path: Path, traced: Traced) -> None:
    """A cell as a tree: value, aggregate, state, then what made it; what all runs have in common is said once."""
    cell = traced.cell
    place = " · ".join(_plain(text) for text in (str(path), cell["row"], cell["column"]))
    colour = COLOURS.get(traced.state, "red")
    tree = Tree(f"[bold]{_plain(cell['text'])}[/bold]  {place} · [{colour}]{traced.state}[/{colour}]")
    for reason in (*traced.changed, *traced.stale, *(f"missing: {key}" for key in cell["missing"])):
        tree.add(f"[red]{_plain(reason)}[/red]")
    if cell["value"] is not None:
        spread = f" ± {cell['spread']:.4f}" if cell["spread"] is not None else ""
        tree.add(f"{cell['aggregate']}: {cell['value']:.4f}{spread}, n = {cell['n']}")
    told = {key: _told(work, key, record) for key, record in traced.records.items()}
    common = _common(list(told.values()))
    if common:
        _add_lines(tree.add(f"[bold]all {len(told)}[/bold]"), common)
    values = dict(zip(cell["made_from"], cell.get("values", []), strict=False))
    for key, record in traced.records.items():
        seed = f", seed {record['recipe']['seed']}" if "seed" in record["recipe"] else ""
        value = "" if values.get(key) is None else f": {values[key]:.4f}"
        branch = tree.add(f"[bold]{_plain(key)}[/bold]{seed}{value}")
        _add_lines(branch, {name: text for name, text in told[key].items() if name not in common})
    runs = [key.removeprefix("runs/") for key in traced.records if key.startswith("runs/")]
    if runs:
        tree.add(f"[dim]again[/dim] recompose train {_plain(' '.join(runs))}")
    console.print(tree)


def _add_lines(tree: Tree, lines: dict[str, str]) -> None:
    for name, text in lines.items():
        tree.add(f"[dim]{name}[/dim] {_plain(text)}")


def _common(told: list[dict[str, str]]) -> dict[str, str]:
    """What is said alike of all of several."""
    if len(told) < 2:
        return {}
    return {name: text for name, text in told[0].items() if all(other.get(name) == text for other in told)}


def _told(work: Workspace, key: str, record: dict[str, Any]) -> dict[str, str]:
    """What is to be said of a run, or of a data set's index: name -> text."""
    recipe, made = record["recipe"], record["made"]
    lines = {
        "parameters": _said(
            recipe.get("settings") or {k: v for k, v in recipe.items() if k not in ("code", "dataset", "seed")}
        ),
        "data": _input(recipe["dataset"]),
        "backbone": _input(recipe.get("backbone")),
        "code": f"{short(digest(recipe['code']))} ({len(recipe['code'])} modules), commit {short(made['commit'] or 'none')}"
        + (", with uncommitted changes" if made["dirty"] else ""),
        "found": ", ".join(f"{name} {short(value)}" for name, value in record["inputs"].items()),
        "machine": f"{made['host']}, {made['device']}",
        "digest": record["digest"],
        "made": made["started"],
        "cost": f"{made['seconds']} s" + (f", the last of {made['attempts']} attempts" if made["attempts"] > 1 else ""),
        "files": ", ".join(f"{name} {short(entry['sha256'])}" for name, entry in record["files"].items()),
        "folder": _folder(work, key),
    }
    return {name: text for name, text in lines.items() if text}


def _folder(work: Workspace, key: str) -> str:
    folder = work.results / key
    return str(folder.relative_to(work.root)) if folder.exists() else "its files are not on this disk (dvc pull)"


def _input(document: Any) -> str:
    if not isinstance(document, dict):
        return str(document or "")
    return f"{document['name']} {short(document['digest'])}"


def _said(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items()) or "none"


def show_where(console: Console, found: Where) -> None:
    """What a run or a data set reaches, as a tree: papers, artifacts, rows."""
    tree = Tree(f"[bold]{_plain(found.key)}[/bold]  {_plain(found.title)} · {_counted(found)}")
    tree.add(f"[dim]digest[/dim] {_plain(found.digest)}")
    for paper in dict.fromkeys(reached.paper for reached in found.reaches):
        branch = tree.add(f"[bold]{_plain(paper)}[/bold]")
        for reached in found.reaches:
            if reached.paper == paper:
                _add_reached(branch, reached)
    if found.dependents:
        why = "these test its checkpoint" if found.method else "these were made on it"
        branch = tree.add(f"{why}, so what they reach depends on it, too")
        for other in found.dependents:
            branch.add(f"{_plain(other.key)}  {_plain(other.title)} · {_counted(other)}")
    console.print(tree)


def _add_reached(tree: Tree, reached: Reached) -> None:
    """An artifact with a line for each of its rows, in each view."""
    rows: dict[tuple[str, str], list[str]] = {}
    for cell in reached.cells:
        said = f"{_plain(cell['column'])} [bold]{_plain(cell['text'])}[/bold]"
        rows.setdefault((cell["row"], cell["view"]), []).append(said)
    branch = tree.add(f"{_plain(reached.artifact)} [dim]{reached.kind}[/dim]")
    for (row, view), cells in rows.items():
        branch.add(f"{_plain(row)}{f' ({_plain(view)})' if view else ''}: {', '.join(cells)}")


def show_diff(console: Console, path: Path, found: Diff) -> None:
    """What changed in a cell and in what it was made from, as a tree: value, kinds of changes, seeds, runs."""
    before, after = found.before, found.after
    place = " · ".join(_plain(part) for part in (str(path), after["row"], after["column"], after["view"]) if part)
    tree = Tree(
        f"[bold]{_plain(before['text'])} → {_plain(after['text'])}[/bold]  {place} · since {_plain(found.revision)} "
        f"({short(found.commit)})"
    )
    if before["value"] is not None and after["value"] is not None:
        more = after["value"] - before["value"]
        tree.add(f"value {before['value']:.4f} → {after['value']:.4f}, {more:+.4f}")
    if found.same_runs:
        tree.add("made by the same runs")
    for kind, lines in found.changed.items():
        branch = tree.add(f"[bold]{kind}[/bold]")
        for line, titles in lines.items():
            whose = "" if len(titles) == len(found.pairs) else f" ({'; '.join(titles)})"
            branch.add(_plain(line + whose))
    for sign, runs in (("removed", found.removed), ("added", found.added)):
        for key, title in runs.items():
            tree.add(f"[bold]{sign}[/bold] {_plain(title)}, {_plain(key)}")
    if not found.same_runs:
        for pair in found.pairs:
            tree.add(f"[dim]{_plain(pair.title)}: {_plain(pair.before)} → {_plain(pair.after)}[/dim]")
    console.print(tree)


def _counted(origin: Origin) -> str:
    """How much it reaches."""
    cells = sum(len(reached.cells) for reached in origin.reaches)
    return f"{cells} cells of {len(origin.reaches)} artifacts" if cells else "no cell"


def _plain(text: str) -> str:
    """Text from a file, for one line of a terminal: no markup, no line breaks, no control characters."""
    return escape("".join(letter if letter.isprintable() else " " for letter in text))
