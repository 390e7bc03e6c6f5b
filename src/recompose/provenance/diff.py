"""Diff: the changes of a cell since a git revision, and of everything that it was made from."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recompose.errors import DiffError, LineageError, ProgramError
from recompose.programs import git
from recompose.provenance.trace import cell_of, find_cell
from recompose.records import StableRecord
from recompose.report.differences import Chain, changes
from recompose.report.lineage import Lineage, LineageCell, lineage_path


@dataclass(frozen=True)
class Pair:
    """A result behind the old cell, its counterpart behind the new cell, and their differences."""

    before: str
    after: str
    title: str
    changed: list[str]


@dataclass(frozen=True)
class Diff:
    """An old and a new cell, with the results behind them, paired."""

    revision: str
    commit: str
    before: LineageCell
    after: LineageCell
    pairs: list[Pair]
    removed: dict[str, str]  # key -> title, of results behind the old cell only
    added: dict[str, str]  # key -> title, of results behind the new cell only

    @property
    def same_runs(self) -> bool:
        """True where the same evaluations made both."""
        return not self.removed and not self.added and all(pair.before == pair.after for pair in self.pairs)

    @property
    def changed(self) -> dict[str, list[str]]:
        """The differences: line -> the titles of the pairs that have it."""
        lines: dict[str, list[str]] = {}
        for pair in self.pairs:
            for line in pair.changed:
                lines.setdefault(line, []).append(pair.title)
        return lines


def diff(path: Path, revision: str, row: str, column: str, view: str | None = None) -> Diff:
    """Compare a measured cell of an artifact, given by any of its files, with its state at a revision.

    Without a view, the first one of the current table is used.

    Raises:
        TraceError: there is no such cell, now or then.
        DiffError: no git repository, no such revision, or no such artifact in it.
    """
    after, records_now = find_cell(path, row, column, view)
    commit, lineage = lineage_at(path, revision)
    before = cell_of(lineage, f"{path} at {revision}", {"row": row, "column": column, "view": after.view})
    records_then = lineage.records
    then, now = (
        {key: records[key] for key in cell.made_from}
        for records, cell in ((records_then, before), (records_now, after))
    )
    partners = {new: old for old, new in _partners(then, now)}
    return Diff(
        revision,
        commit,
        before,
        after,
        [_pair(old, records_then, new, records_now) for new in now if (old := partners.get(new))],
        {key: record.name for key, record in then.items() if key not in partners.values()},
        {key: record.name for key, record in now.items() if key not in partners},
    )


def lineage_at(path: Path, revision: str) -> tuple[str, Lineage]:
    """Return the commit of a revision, and an artifact's lineage in it. The working tree is not touched.

    Raises:
        DiffError: no git repository, no such revision, or no such artifact in it.
    """
    commit, text = file_at(lineage_path(path), revision)
    try:
        return commit, Lineage.parse(text, f"{lineage_path(path)}@{revision}")
    except LineageError as error:
        message = f"{lineage_path(path)} in revision '{revision}' is no lineage of this version: {error}"
        raise DiffError(message, code="no-lineage", place=error.place) from None


def file_at(path: Path, revision: str) -> tuple[str, str]:
    """Return the commit of a revision, and the text of a file in it.

    Raises:
        DiffError: no git repository, no such revision, or no such file in it.
    """
    folder, name = path.parent, path.name
    commit = commit_of(folder, revision)
    try:
        return commit, git("show", "--no-textconv", f"{commit}:./{name}", folder=folder)
    except ProgramError as error:
        message = f"{path} cannot be read in revision '{revision}' ({error})"
        raise DiffError(message, code="missing-file", place=path) from None


def commit_of(folder: Path, revision: str) -> str:
    """Return the commit of a revision.

    Raises:
        DiffError: no git repository, or no such revision; the message has git's reason.
    """
    try:
        git("rev-parse", "--git-dir", folder=folder)
    except ProgramError as error:
        message = f"{folder} has no revision to compare with ({error})"
        raise DiffError(message, code="no-repository", place=folder) from None
    try:
        return git("rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}", folder=folder)
    except ProgramError as error:
        message = f"git knows no revision '{revision}' ({error})"
        raise DiffError(message, code="unknown-revision", place=revision) from None


def _partners(then: dict[str, StableRecord], now: dict[str, StableRecord]) -> Iterator[tuple[str, str]]:
    """Yield pairs of counterparts: a result and itself, else two of the same data set and seed with the fewest
    differences, of the same method first.
    """
    couples = sorted(
        (old != new, *_distance(then[old], now[new]), old, new)
        for old in then
        for new in now
        if old == new or _place(then[old]) == _place(now[new])
    )
    paired: set[tuple[str, str]] = set()
    for *_, old, new in couples:
        if not {("then", old), ("now", new)} & paired:
            paired |= {("then", old), ("now", new)}
            yield old, new


def _place(record: StableRecord) -> tuple[Any, ...]:
    return tuple(record.labels.get(name) for name in ("dataset", "seed"))


def _distance(old: StableRecord, new: StableRecord) -> tuple[bool, int]:
    return old.labels.get("method") != new.labels.get("method"), sum(
        1 for _ in changes(Chain.of(old, {}), Chain.of(new, {}))
    )


def _pair(old: str, then: dict[str, StableRecord], new: str, now: dict[str, StableRecord]) -> Pair:
    before, after = then[old], now[new]
    lines = [*changes(Chain.of(before, then), Chain.of(after, now))]
    roles = sorted(before.inputs.keys() & after.inputs.keys())
    changed_inputs = [role for role in roles if before.inputs[role] != after.inputs[role]]
    lines += [
        f"the same {role} has other content" for role in changed_inputs if before.needs[role] == after.needs[role]
    ]
    if before.digest == after.digest:
        files = {
            name for name in before.files.keys() | after.files.keys() if before.files.get(name) != after.files.get(name)
        }
        lines += [f"{name} has other content" for name in sorted(files)]
    return Pair(old, new, after.name, lines)
