"""Diff: what changed between a cell as a git revision has it and the same cell now, and in what it was made from."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recompose.errors import DiffError
from recompose.provenance.trace import cell_of, find_cell
from recompose.report.differences import chain, changes
from recompose.report.lineage import expand_codes, lineage_path

Record = dict[str, Any]


@dataclass(frozen=True)
class Pair:
    """Of what made the cell then and what made it now, two that stand for each other, and what differs."""

    before: str
    after: str
    title: str
    changed: list[str]


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
        """Whether the same evaluations made it."""
        return not self.removed and not self.added and all(pair.before == pair.after for pair in self.pairs)

    @property
    def changed(self) -> dict[str, list[str]]:
        """What differs: line -> the titles of the pairs that it holds for."""
        lines: dict[str, list[str]] = {}
        for pair in self.pairs:
            for line in pair.changed:
                lines.setdefault(line, []).append(pair.title)
        return lines


def diff(path: Path, revision: str, row: str, column: str, view: str | None = None) -> Diff:
    """Compare a measured cell of an artifact, given by any of its files, with itself at a revision.

    Of a table that measures in several views the first one of today is meant where none is given.

    Raises:
        TraceError: there is no such cell, now or then.
        DiffError: no git repository, no such revision, or no such artifact in it.
    """
    after, records_now = find_cell(path, row, column, view)
    commit, lineage = lineage_at(path, revision)
    before = cell_of(lineage, f"{path} at {revision}", {"row": row, "column": column, "view": after["view"]})
    records_then: dict[str, Record] = lineage["records"]
    then, now = (
        {key: records[key] for key in cell["made_from"]}
        for records, cell in ((records_then, before), (records_now, after))
    )
    partners = {new: old for old, new in _partners(then, now)}
    return Diff(
        revision,
        commit,
        before,
        after,
        [_pair(old, records_then, new, records_now) for new in now if (old := partners.get(new))],
        {key: record["name"] for key, record in then.items() if key not in partners.values()},
        {key: record["name"] for key, record in now.items() if key not in partners},
    )


def lineage_at(path: Path, revision: str) -> tuple[str, dict[str, Any]]:
    """The commit that a revision means, and the lineage of an artifact in it. The working tree stays as it is.

    Raises:
        DiffError: no git repository, no such revision, or no such artifact in it.
    """
    commit, text = file_at(lineage_path(path), revision)
    try:
        return commit, expand_codes(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DiffError(
            f"{lineage_path(path)} in revision '{revision}' is no lineage as this code writes it: {error}"
        ) from None


def file_at(path: Path, revision: str) -> tuple[str, str]:
    """The commit that a revision means, and the text of a file in it.

    Raises:
        DiffError: no git repository, no such revision, or no such file in it.
    """
    folder, name = path.parent, path.name
    commit = commit_of(folder, revision)
    text = _git(folder, "show", "--no-textconv", f"{commit}:./{name}")
    if text is None:
        raise DiffError(f"{path} is not in revision '{revision}': it was not made by then")
    return commit, text


def commit_of(folder: Path, revision: str) -> str:
    """The commit that a revision means.

    Raises:
        DiffError: no git repository, or no such revision.
    """
    if _git(folder, "rev-parse", "--git-dir") is None:
        raise DiffError(f"{folder} is in no git repository, or there is no git: there is no revision to compare with")
    commit = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if commit is None:
        raise DiffError(f"git knows no revision '{revision}'")
    return commit.strip()


def _git(folder: Path, *arguments: str) -> str | None:
    """What git says; None where it fails or there is none."""
    try:
        command = ["git", "-C", str(folder), *arguments]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout


def _partners(then: dict[str, Record], now: dict[str, Record]) -> Iterator[tuple[str, str]]:
    """Who stands for whom: itself, else, of the same data set and seed, the one with the fewest differences, its own
    method first.
    """
    couples = sorted(
        (old != new, *_distance(then[old], now[new]), old, new)
        for old in then
        for new in now
        if old == new or _place(then[old]) == _place(now[new])
    )
    taken: set[tuple[str, str]] = set()
    for *_, old, new in couples:
        if not {("then", old), ("now", new)} & taken:
            taken |= {("then", old), ("now", new)}
            yield old, new


def _place(record: Record) -> tuple[Any, ...]:
    return tuple(record["labels"].get(name) for name in ("dataset", "seed"))


def _distance(old: Record, new: Record) -> tuple[bool, int]:
    return old["labels"].get("method") != new["labels"].get("method"), sum(1 for _ in changes(chain(old), chain(new)))


def _pair(old: str, then: dict[str, Record], new: str, now: dict[str, Record]) -> Pair:
    before, after = then[old], now[new]
    lines = [*changes(chain(before, then), chain(after, now))]
    roles = sorted(before["inputs"].keys() & after["inputs"].keys())
    otherwise = [role for role in roles if before["inputs"][role] != after["inputs"][role]]
    lines += [
        f"the same {role} came out otherwise" for role in otherwise if before["needs"][role] == after["needs"][role]
    ]
    if before["digest"] == after["digest"]:
        files = {
            name
            for name in before["files"].keys() | after["files"].keys()
            if before["files"].get(name) != after["files"].get(name)
        }
        lines += [f"{name} came out otherwise" for name in sorted(files)]
    return Pair(old, new, after["name"], lines)
