"""Where: from a run, or a data set, to every cell, figure and claim of the reports that it reaches."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from recompose.papers.declaration import Paper
from recompose.report.published import Shown

NAMED = 8  # candidates that an error names


class WhereError(LookupError):
    """The reports were made from nothing that is called so, or from several: the message says what there is."""


@dataclass(frozen=True)
class Reached:
    """An artifact, and those of its cells that were reached, as they are written."""

    paper: str
    artifact: str
    kind: str  # table, figure or claims
    cells: list[dict[str, str]]  # view, row, column, text


@dataclass(frozen=True)
class Origin:
    """A run or a data set: what it is, and what was made from it."""

    key: str
    digest: str
    names: list[str]  # the methods or variants whose run it is
    method: str | None
    dataset: str
    seed: int | None
    reaches: list[Reached]

    @property
    def title(self) -> str:
        """What it is, as people say it."""
        if self.method is None:
            return f"data set {self.dataset}"
        return f"{' = '.join(self.names) or self.method} on {self.dataset}, seed {self.seed}"


@dataclass(frozen=True)
class Where(Origin):
    """The same of what was asked for, with the runs that rest on it: they test its checkpoint, or were made on it."""

    dependents: list[Origin]


def where(shown: Shown, papers: list[Paper], start: str) -> Where:
    """What a run or a data set reaches, given by the first characters of its digest or of its key, such as ``runs/0123``.

    Raises:
        WhereError: no record of the reports starts like this, or several do.
    """
    key = _found(shown, start)
    dependents = [Origin(**_origin(shown, papers, other)) for other in sorted(shown.dependents(key))]
    return Where(**_origin(shown, papers, key), dependents=dependents)


def _found(shown: Shown, start: str) -> str:
    wanted = start.removeprefix("results/").rstrip("/")
    found = sorted(key for key, record in shown.records.items() if _starts(key, record["digest"], wanted))
    if wanted in found:
        return wanted
    if not found:
        raise WhereError(f"the reports were made from nothing that starts with '{start}'{_nearest(wanted, shown)}")
    if len(found) > 1:
        raise WhereError(f"{len(found)} start with '{start}': {_listed(found)}; give more of the one that is meant")
    return found[0]


def _starts(key: str, digest: str, wanted: str) -> bool:
    kind, _, folder = key.partition("/")
    return any(name.startswith(wanted) for name in (key, folder, digest, f"{kind}/{digest}"))


def _nearest(wanted: str, shown: Shown) -> str:
    names = {key if "/" in wanted else key.partition("/")[2]: key for key in sorted(shown.records)}
    nearest = get_close_matches(wanted, names, n=3, cutoff=0.3)
    return f"; the nearest: {_listed([names[name] for name in nearest])}" if nearest else ""


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _origin(shown: Shown, papers: Iterable[Paper], key: str) -> dict[str, Any]:
    """The fields of an ``Origin``."""
    record = shown.records[key]
    recipe, reach = record["recipe"], shown.reach(key)
    dataset = recipe["dataset"]["name"] if "method" in recipe else recipe["dataset"]
    return {
        "key": key,
        "digest": record["digest"],
        "names": shown.names(key),
        "method": recipe.get("method"),
        "dataset": dataset,
        "seed": recipe["seed"] if "method" in recipe else None,  # of a data set, it draws the pictures
        "reaches": [
            Reached(paper.name, name, kind_of(paper, name), _cells(reach[f"{paper.name}/{name}"]))
            for paper in papers
            for name in paper.artifacts
            if f"{paper.name}/{name}" in reach
        ],
    }


def kind_of(paper: Paper, artifact: str) -> str:
    """Whether an artifact is a table, a figure or the table of claims."""
    declared = paper.artifacts[artifact]
    if declared.is_figure:
        return "figure"
    return "claims" if declared.kind == "claims" else "table"


def _cells(cells: list[dict[str, Any]]) -> list[dict[str, str]]:
    return [{name: cell[name] for name in ("view", "row", "column", "text")} for cell in cells]
