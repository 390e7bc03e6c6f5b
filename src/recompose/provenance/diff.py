"""Diff: what changed between a cell as a git revision has it and the same cell now, and in what it was made from."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recompose.digest import short
from recompose.provenance.trace import cell_of, changes, find_cell
from recompose.report.lineage import lineage_path

# what a part of a recipe is called; any other is a parameter
KINDS = {
    "code": "code",
    "dataset": "data",
    "backbone": "backbone",
    "features": "features",
    "checkpoint_of": "checkpoint",
}
# and of how it was made; hosts and times always differ and determine nothing
CIRCUMSTANCES = {
    "packages": "packages",
    "python": "packages",
    "device": "device",
    "commit": "commit",
    "dirty": "commit",
}
Record = dict[str, Any]


class DiffError(LookupError):
    """There is nothing to compare with: the message says why."""


@dataclass(frozen=True)
class Pair:
    """Of what made the cell then and what made it now, two that stand for each other, and what differs: kind -> lines."""

    before: str
    after: str
    title: str
    changed: dict[str, list[str]]


@dataclass(frozen=True)
class Diff:
    """A cell then and now, with what made it, paired."""

    revision: str
    commit: str
    before: dict[str, Any]
    after: dict[str, Any]
    pairs: list[Pair]
    removed: dict[str, str]  # key -> title, of what made it only then
    added: dict[str, str]  # and only now

    @property
    def same_runs(self) -> bool:
        """Whether the same runs made it."""
        return not self.removed and not self.added and all(pair.before == pair.after for pair in self.pairs)

    @property
    def changed(self) -> dict[str, dict[str, list[str]]]:
        """What differs: kind -> line -> the titles of the pairs that it holds for."""
        found: dict[str, dict[str, list[str]]] = {}
        for pair in self.pairs:
            for kind, lines in pair.changed.items():
                for line in lines:
                    found.setdefault(kind, {}).setdefault(line, []).append(pair.title)
        return found


def diff(path: Path, revision: str, row: str, column: str, view: str | None = None) -> Diff:
    """Compare a measured cell of an artifact, given by any of its files, with itself at a revision.

    Of a table that measures in several views the first one of today is meant where none is given.

    Raises:
        TraceError: there is no such cell, now or then.
        DiffError: no git repository, no such revision, or no such artifact in it.
    """
    after, made_now = find_cell(path, row, column, view)
    commit, lineage = lineage_at(path, revision)
    wanted = {"row": row, "column": column, "view": after["view"]}
    before, made_then = cell_of(lineage, f"{path} at {revision}", wanted)
    partners = {new: old for old, new in _partners(made_then, made_now)}
    return Diff(
        revision,
        commit,
        before,
        after,
        [_pair(old, made_then[old], new, made_now[new]) for new in made_now if (old := partners.get(new))],
        {key: _title(record) for key, record in made_then.items() if key not in partners.values()},
        {key: _title(record) for key, record in made_now.items() if key not in partners},
    )


def lineage_at(path: Path, revision: str) -> tuple[str, dict[str, Any]]:
    """The commit that a revision means, and the lineage of an artifact in it. The working tree stays as it is.

    Raises:
        DiffError: no git repository, no such revision, or no such artifact in it.
    """
    folder, name = path.parent, lineage_path(path).name
    if _git(folder, "rev-parse", "--git-dir") is None:
        raise DiffError(f"{folder} is in no git repository, or there is no git: there is no revision to compare with")
    commit = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if commit is None:
        raise DiffError(f"git knows no revision '{revision}'")
    text = _git(folder, "show", "--no-textconv", f"{commit.strip()}:./{name}")
    if text is None:
        raise DiffError(f"{folder / name} is not in revision '{revision}': the artifact was not made by then")
    try:
        return commit.strip(), json.loads(text)
    except json.JSONDecodeError as error:
        raise DiffError(f"{folder / name} in revision '{revision}' is no lineage: {error}") from None


def _git(folder: Path, *arguments: str) -> str | None:
    """What git says; None where it fails or there is none."""
    try:
        command = ["git", "-C", str(folder), *arguments]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout


def _partners(then: dict[str, Record], now: dict[str, Record]) -> Iterator[tuple[str, str]]:
    """Who stands for whom: itself, else, of the same data set and seed, the one with the fewest differences, its own method first."""
    couples = sorted(
        (old != new, *_distance(then[old]["recipe"], now[new]["recipe"]), old, new)
        for old in then
        for new in now
        if old == new or _place(then[old]) == _place(now[new])
    )
    taken: set[tuple[str, str]] = set()
    for *_, old, new in couples:
        if not {("then", old), ("now", new)} & taken:
            taken |= {("then", old), ("now", new)}
            yield old, new


def _place(record: Record) -> tuple[str, Any]:
    recipe = record["recipe"]
    return (recipe["dataset"]["name"], recipe["seed"]) if "method" in recipe else (recipe["dataset"], None)


def _distance(old: Record, new: Record) -> tuple[bool, int]:
    return old.get("method") != new.get("method"), sum(1 for _ in changes(old, new))


def _title(record: Record) -> str:
    recipe = record["recipe"]
    return f"{recipe['method']}, seed {recipe['seed']}" if "method" in recipe else f"data set {recipe['dataset']}"


def _pair(old: str, then: Record, new: str, now: Record) -> Pair:
    changed: dict[str, list[str]] = {}
    for kind, line in [*_recipes(then["recipe"], now["recipe"]), *_circumstances(then, now)]:
        changed.setdefault(kind, []).append(line)
    return Pair(old, new, _title(now), changed)


def _recipes(then: Record, now: Record) -> Iterator[tuple[str, str]]:
    """What differs in what determined them, each line with its kind."""
    for name in sorted(then.keys() | now.keys()):
        yield from ((KINDS.get(name, "parameters"), line) for line in _changes(name, then, now))


def _circumstances(then: Record, now: Record) -> Iterator[tuple[str, str]]:
    """What differs in how they were made, and in what was read; of the same recipe, also in what came out."""
    made = then.get("made", {}), now.get("made", {})
    for name in sorted(made[0].keys() & made[1].keys() & CIRCUMSTANCES.keys()):
        yield from ((CIRCUMSTANCES[name], line) for line in _changes(name, *made))
    yield from (("found", line) for line in _contents(_known("inputs", then, now)))
    if then["digest"] == now["digest"]:
        files = _known("files", then, now)
        digests = [{name: entry["sha256"] for name, entry in found.items()} for found in files]
        yield from (("files", line) for line in _contents(digests))


def _known(name: str, then: Record, now: Record) -> list[Record]:
    """A part of two records; nothing where one of them does not know it."""
    return [then[name], now[name]] if name in then and name in now else [{}, {}]


def _contents(digests: list[dict[str, str]]) -> Iterator[str]:
    """What differs between the digests of some files then and now."""
    before, after = digests
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            yield f"{name} was {short(before.get(name, 'none'))} and is {short(after.get(name, 'none'))} now"


def _changes(name: str, then: Record, now: Record) -> list[str]:
    """The lines of what differs in one part of two documents."""
    return list(changes({name: then.get(name)}, {name: now.get(name)}))
