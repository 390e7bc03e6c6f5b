"""Everything downstream of a stored result: the cells, figures and claims of the reports that depend on it."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from recompose.errors import DownstreamError
from recompose.papers.declaration import Paper
from recompose.report.kinds import kind_of
from recompose.report.published import PublishedLineage

NAMED = 8  # candidates that an error names


@dataclass(frozen=True)
class ReachedCell:
    """A cell that depends on a result."""

    view: str
    row: str
    column: str
    text: str


@dataclass(frozen=True)
class ReachedArtifact:
    """An artifact, with those of its cells that depend on a result."""

    paper: str
    artifact: str
    kind: str  # table, figure or claims
    cells: list[ReachedCell]


@dataclass(frozen=True)
class Origin:
    """A stored result, and the artifacts that depend on it."""

    key: str
    digest: str
    kind: str
    name: str
    names: list[str]  # the methods or variants of an evaluation
    reaches: list[ReachedArtifact]

    @property
    def title(self) -> str:
        """Its name, with all other methods or variants that it stands for."""
        also = [name for name in self.names if not self.name.startswith(f"{name} ")]
        return self.name + (f" (also {', '.join(also)})" if also else "")


@dataclass(frozen=True)
class Downstream(Origin):
    """A stored result, with the results that were made directly from it."""

    dependents: list[Origin]


def downstream(published: PublishedLineage, papers: list[Paper], start: str) -> Downstream:
    """Return everything downstream of a result.

    Args:
        published: the lineage of the reports.
        papers: the papers whose artifacts are searched.
        start: the first characters of a digest, or of a key such as ``runs/0123``.

    Raises:
        DownstreamError: no record of the reports starts like this, or several do.
    """
    key = _key(published, start)
    dependents = [_origin(published, papers, dependent) for dependent in sorted(published.dependents(key))]
    return Downstream(**vars(_origin(published, papers, key)), dependents=dependents)


def _key(published: PublishedLineage, start: str) -> str:
    prefix = start.removeprefix("results/").rstrip("/")
    keys = sorted(key for key, record in published.records.items() if _starts(key, record.digest, prefix))
    if prefix in keys:
        return prefix
    if not keys:
        message = f"the reports use nothing that starts with '{start}'{_nearest(prefix, published)}"
        raise DownstreamError(message, code="unknown-key", place=start)
    if len(keys) > 1:
        message = f"{len(keys)} start with '{start}': {_join_first(keys)}; add characters"
        raise DownstreamError(message, code="ambiguous-key", place=start)
    return keys[0]


def _starts(key: str, digest: str, prefix: str) -> bool:
    kind, _, folder = key.partition("/")
    return any(name.startswith(prefix) for name in (key, folder, digest, f"{kind}/{digest}"))


def _nearest(prefix: str, published: PublishedLineage) -> str:
    names = {key if "/" in prefix else key.partition("/")[2]: key for key in sorted(published.records)}
    nearest = get_close_matches(prefix, names, n=3, cutoff=0.3)
    return f"; the nearest: {_join_first([names[name] for name in nearest])}" if nearest else ""


def _join_first(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _origin(published: PublishedLineage, papers: Iterable[Paper], key: str) -> Origin:
    record, reach = published.records[key], published.reach(key)
    return Origin(
        key,
        record.digest,
        record.kind,
        record.name,
        published.names(key),
        [
            ReachedArtifact(
                paper.name,
                name,
                kind_of(paper, name),
                [ReachedCell(cell.view, cell.row, cell.column, cell.text) for cell in reach[f"{paper.name}/{name}"]],
            )
            for paper in papers
            for name in paper.artifacts
            if f"{paper.name}/{name}" in reach
        ],
    )
