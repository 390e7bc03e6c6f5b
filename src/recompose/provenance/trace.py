"""Trace: from one cell of an artifact to everything that made it, and whether it still holds."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from recompose.errors import LineageError, TraceError
from recompose.metric_cache import MetricCache
from recompose.papers.declaration import PAPERS, load_paper
from recompose.report.lineage import lineage_path, read_lineage, record_closure
from recompose.report.published import PublishedLineage, read_made
from recompose.report.schema import read_checked
from recompose.report.trust import CURRENT, UNCHECKED, TrustEvaluator, Verdict
from recompose.workspace import Workspace

Record = dict[str, Any]


@dataclass(frozen=True)
class TraceResult:
    """A cell, the records of everything behind it, and what is to be thought of it."""

    cell: dict[str, Any]
    records: dict[str, Record]  # what is needed first
    made: dict[str, Record]  # of those for which it is known, by what, where and when
    state: str
    why: list[str]
    note: str

    @property
    def word(self) -> str:
        """The state as people read it: what is not on this disk is not verified here."""
        return "not verified here" if self.state == UNCHECKED else self.state

    @property
    def holds(self) -> bool:
        """Whether nothing speaks against it."""
        return self.state == CURRENT


def trace(work: Workspace, path: Path, row: str, column: str, view: str | None = None) -> TraceResult:
    """Trace the measured cell of this row and column of an artifact, given by any of its files; every file behind it is
    verified.

    Of a table that measures in several views the first one is meant where none is given.

    Raises:
        TraceError: the artifact has no lineage, or no such measured cell.
    """
    lineage = _lineage(path, _read_checked)
    cell = cell_of(lineage, str(path), {"row": row, "column": column} | ({"view": view} if view else {}))
    paper, name = path.resolve().parent.name, lineage_path(path).name.partition(".")[0]
    published = PublishedLineage({f"{paper}/{name}": lineage}, read_made(work.reports))
    verdict = _verdict(TrustEvaluator(work, published), paper, name, cell)
    keys = list(record_closure(lineage["records"], cell["made_from"]))
    made = dict(published.made)
    for key in keys:
        recipe = work.plan.by_key.get(key)
        if recipe and work.store.is_complete(recipe):
            made[key] = work.store.record(recipe)["made"]
    records = {key: lineage["records"][key] for key in keys}
    return TraceResult(
        cell, records, {key: made[key] for key in keys if key in made}, verdict.state, list(verdict.why), verdict.note
    )


def _verdict(judge: TrustEvaluator, paper: str, name: str, cell: dict[str, Any]) -> Verdict:
    """What is to be thought of a cell: as the audit has it, from the part of the audit that concerns it."""
    verdict = judge.verdict(f"{paper}/{name}", cell)
    if paper not in PAPERS or name not in load_paper(paper).artifacts:
        return verdict
    from recompose.provenance.checks.artifacts import ArtifactCheck
    from recompose.provenance.checks.stored import StoredCheck

    stored = StoredCheck(judge)
    stored.metric(cell["made_from"], MetricCache.of)
    check = ArtifactCheck(judge, load_paper(paper), name, stored)
    check.check()
    key = ("measured", cell["view"], cell["row"], cell["column"])
    return Verdict(check.states[key], tuple(check.why.get(key, ())), verdict.note)


def _read_checked(path: Path) -> dict[str, Any]:
    """The lineage beside a file of an artifact.

    Raises:
        FileNotFoundError: there is none.
        LineageError: what is there cannot be relied on.
    """
    lineage = lineage_path(path)
    return read_checked(lineage) if lineage.exists() else read_lineage(path)


def _lineage(path: Path, read: Callable[[Path], dict[str, Any]] = read_lineage) -> dict[str, Any]:
    try:
        return read(path)
    except FileNotFoundError as error:
        raise TraceError(str(error)) from None
    except LineageError as error:
        raise TraceError(
            f"{lineage_path(path)} is {error.state}: {error}. Make it again: `snakemake --cores all`"
        ) from None
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise TraceError(
            f"{lineage_path(path)} is no lineage that this code wrote: {error}. Make it again: `snakemake --cores all`"
        ) from None


def find_cell(path: Path, row: str, column: str, view: str | None) -> tuple[dict[str, Any], dict[str, Record]]:
    """A measured cell of an artifact, and the records of everything behind it.

    Raises:
        TraceError: the artifact has no lineage, or no such measured cell.
    """
    lineage = _lineage(path)
    cell = cell_of(lineage, str(path), {"row": row, "column": column} | ({"view": view} if view else {}))
    return cell, {key: lineage["records"][key] for key in record_closure(lineage["records"], cell["made_from"])}


def cell_of(lineage: Mapping[str, Any], artifact: str, wanted: dict[str, str]) -> dict[str, Any]:
    """The first cell of a lineage that has all that is wanted.

    Raises:
        TraceError: there is none; it says where, in the words of ``artifact``, and which there are.
    """
    for cell in lineage["cells"]:
        if wanted.items() <= cell.items():
            return dict(cell)
    raise TraceError(_no_such_cell(artifact, lineage["cells"], wanted))


def _no_such_cell(artifact: str, cells: list[dict[str, Any]], wanted: dict[str, str]) -> str:
    asked = " and ".join(f"{name} {given!r}" for name, given in wanted.items())
    lines = [f"{artifact} has no measured cell in {asked}."]
    for name, given in wanted.items():
        names = list(dict.fromkeys(cell.get(name, "") for cell in cells))
        spelled = {text.lower(): text for text in reversed(names)}
        nearest = get_close_matches(given.lower(), spelled, n=1, cutoff=0.3)
        hint = f" (nearest: '{spelled[nearest[0]]}')" if nearest and given not in names else ""
        lines.append(f"  {name}s{hint}: {', '.join(names)}")
    return "\n".join(lines)
