"""Where: from anything that is stored to every cell, figure and claim of the reports that it reaches."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from recompose.errors import WhereError
from recompose.papers.declaration import Paper
from recompose.report.kinds import kind_of
from recompose.report.published import PublishedLineage

NAMED = 8  # candidates that an error names


@dataclass(frozen=True)
class ReachedArtifact:
    """An artifact, and those of its cells that were reached, as they are written."""

    paper: str
    artifact: str
    kind: str  # table, figure or claims
    cells: list[dict[str, str]]  # view, row, column, text


@dataclass(frozen=True)
class Origin:
    """Something stored: what it is, and what was made from it."""

    key: str
    digest: str
    kind: str
    name: str
    names: list[str]  # the methods or variants that it stands for
    reaches: list[ReachedArtifact]

    @property
    def title(self) -> str:
        """What it is, as people say it."""
        also = [name for name in self.names if not self.name.startswith(f"{name} ")]
        return self.name + (f" (also {', '.join(also)})" if also else "")


@dataclass(frozen=True)
class Where(Origin):
    """The same of what was asked for, with what was made from it directly."""

    dependents: list[Origin]


def downstream(published: PublishedLineage, papers: list[Paper], start: str) -> Where:
    """What a stored thing reaches, given by the first characters of its digest or of its key, such as ``runs/0123``.

    Raises:
        WhereError: no record of the reports starts like this, or several do.
    """
    key = _key(published, start)
    dependents = [Origin(**_origin(published, papers, other)) for other in sorted(published.dependents(key))]
    return Where(**_origin(published, papers, key), dependents=dependents)


def _key(published: PublishedLineage, start: str) -> str:
    wanted = start.removeprefix("results/").rstrip("/")
    keys = sorted(key for key, record in published.records.items() if _starts(key, record["digest"], wanted))
    if wanted in keys:
        return wanted
    if not keys:
        raise WhereError(f"the reports were made from nothing that starts with '{start}'{_nearest(wanted, published)}")
    if len(keys) > 1:
        raise WhereError(f"{len(keys)} start with '{start}': {_listed(keys)}; give more of the one that is meant")
    return keys[0]


def _starts(key: str, digest: str, wanted: str) -> bool:
    kind, _, folder = key.partition("/")
    return any(name.startswith(wanted) for name in (key, folder, digest, f"{kind}/{digest}"))


def _nearest(wanted: str, published: PublishedLineage) -> str:
    names = {key if "/" in wanted else key.partition("/")[2]: key for key in sorted(published.records)}
    nearest = get_close_matches(wanted, names, n=3, cutoff=0.3)
    return f"; the nearest: {_listed([names[name] for name in nearest])}" if nearest else ""


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _origin(published: PublishedLineage, papers: Iterable[Paper], key: str) -> dict[str, Any]:
    """The fields of an ``Origin``."""
    record, reach = published.records[key], published.reach(key)
    return {
        "key": key,
        "digest": record["digest"],
        "kind": record["kind"],
        "name": record["name"],
        "names": published.names(key),
        "reaches": [
            ReachedArtifact(paper.name, name, kind_of(paper, name), _cells(reach[f"{paper.name}/{name}"]))
            for paper in papers
            for name in paper.artifacts
            if f"{paper.name}/{name}" in reach
        ],
    }


def _cells(cells: list[dict[str, Any]]) -> list[dict[str, str]]:
    return [{name: cell[name] for name in ("view", "row", "column", "text")} for cell in cells]
