"""Trace: everything that one cell of an artifact was made from, and whether the cell still holds."""

from dataclasses import dataclass, field
from pathlib import Path

from recompose.errors import LineageError, TraceError
from recompose.exhibits.cells import Cell
from recompose.exhibits.evidence import ClaimEvidence
from recompose.metric_cache import MetricCache
from recompose.plan import recipe_of
from recompose.provenance.artifact_names import nearest_name
from recompose.records import BuildInfo, StableRecord
from recompose.report.lineage import SUFFIX, Lineage, lineage_path, read_made
from recompose.report.published import PublishedLineage
from recompose.report.trust import CURRENT, UNCHECKED, TrustEvaluator, Verdict, absence
from recompose.workspace import Workspace

MISSING_CELL = "missing-cell"  # the code of an error


@dataclass(frozen=True)
class TraceResult:
    """A cell, the records of everything behind it, and the verdict on it."""

    cell: Cell
    records: dict[str, StableRecord]  # by key, dependencies first
    made: dict[str, BuildInfo]  # by key: host, time and commit, where they are known
    state: str
    why: list[str]
    note: str
    evidence: ClaimEvidence | None = None  # for the verdict on a claim, if it is a cell of one
    absent: tuple[str, ...] = ()  # the keys of what is not on this disk
    views: dict[str, str] = field(default_factory=dict)  # the text of the same cell in other views

    @property
    def word(self) -> str:
        """The state in words: what is not on this disk is not verified here."""
        return "not verified here" if self.state == UNCHECKED else self.state

    @property
    def reasons(self) -> list[str]:
        """The reasons for the state, with a single one for everything that is not on this disk."""
        named = {absence(key) for key in self.absent}
        others = [why for why in dict.fromkeys(self.why) if why not in named]
        if named.isdisjoint(self.why):
            return others
        return [f"{len(self.absent)} of {len(self.records)} results behind it are not on this disk", *others]

    @property
    def is_current(self) -> bool:
        """True where nothing speaks against it."""
        return self.state == CURRENT


def trace(work: Workspace, path: Path, row: str, column: str, view: str | None = None) -> TraceResult:
    """Trace a measured cell, and verify every file behind it.

    Args:
        work: the workspace.
        path: any file of the artifact.
        row: the cell's row.
        column: the cell's column.
        view: the cell's view; None: the first one that fits.
    Raises:
        TraceError: the artifact has no lineage, or no such measured cell.
    """
    lineage = read_lineage(path)
    cell = cell_of(lineage, str(path), {"row": row, "column": column} | ({"view": view} if view else {}))
    paper, name = path.resolve().parent.name, lineage_path(path).name.partition(".")[0]
    published = PublishedLineage({f"{paper}/{name}": lineage}, read_made(work.reports))
    verdict = _verdict(TrustEvaluator(work, published), paper, name, cell)
    keys = list(lineage.closure(cell.made_from))
    made = dict(published.made)
    records = {key: lineage.records[key] for key in keys}
    for key in keys:
        recipe = work.plan.by_key.get(key)
        if recipe and work.store.is_complete(recipe):
            made[key] = work.store.record(recipe).made
    return TraceResult(
        cell,
        records,
        {key: made[key] for key in keys if key in made},
        verdict.state,
        list(verdict.why),
        verdict.note,
        _evidence(lineage, cell),
        tuple(key for key in keys if not work.store.is_complete(recipe_of(records[key]))),
        {
            other.view: other.text
            for other in lineage.cells
            if (other.row, other.column) == (cell.row, cell.column) and other.view != cell.view
        },
    )


def _evidence(lineage: Lineage, cell: Cell) -> ClaimEvidence | None:
    """Return the evidence for the claim that a cell belongs to; it is kept with the claim's verdict."""
    claim = (other for other in lineage.cells if (other.row, other.benchmark) == (cell.row, cell.benchmark))
    return next((other.evidence for other in claim if other.evidence), None)


def _verdict(evaluator: TrustEvaluator, paper: str, name: str, cell: Cell) -> Verdict:
    """Return the audit's verdict on a cell, from the checks that concern it."""
    verdict = evaluator.verdict(f"{paper}/{name}", cell)
    declared = {candidate.name: candidate for candidate in evaluator.work.declared}
    if paper not in declared or name not in declared[paper].artifacts:
        return verdict
    from recompose.provenance.checks.artifacts import ArtifactCheck
    from recompose.provenance.checks.stored import StoredCheck

    stored = StoredCheck(evaluator)
    stored.compute_metrics(cell.made_from, MetricCache.of)
    check = ArtifactCheck(evaluator, declared[paper], name, stored)
    check.check()
    return Verdict(check.states[cell.key], tuple(check.why.get(cell.key, ())), verdict.note)


def read_lineage(path: Path) -> Lineage:
    """Read the lineage of an artifact, given any of its files.

    Raises:
        TraceError: it is missing, or cannot be relied on.
    """
    place = lineage_path(path)
    if not place.exists():
        others = [other.name.removesuffix(SUFFIX) for other in sorted(place.parent.glob(f"*{SUFFIX}"))]
        nearest = nearest_name(place.name.removesuffix(SUFFIX), others)
        hint = f"; the nearest is '{nearest}'" if nearest else ""
        remedy = f"`snakemake --cores all` makes it{hint}"
        message = f"{place} is missing: {path.name} is no artifact, or was not made here; {remedy}"
        raise TraceError(message, code="missing-lineage", place=place)
    try:
        return Lineage.read(place)
    except LineageError as error:
        message = f"{place} is {error.state}: {error}. Make it again: `snakemake --cores all`"
        raise TraceError(message, code=error.code, place=place) from None


def cell_of(lineage: Lineage, artifact: str, query: dict[str, str]) -> Cell:
    """Return the first cell of a lineage that matches a query by row, column and view.

    Raises:
        TraceError: there is none; the message names the artifact, and the rows and columns that exist.
    """
    for cell in lineage.cells:
        if all(getattr(cell, name) == value for name, value in query.items()):
            return cell
    raise TraceError(_missing_cell_message(artifact, lineage.cells, query), code=MISSING_CELL, place=artifact)


def _missing_cell_message(artifact: str, cells: list[Cell], query: dict[str, str]) -> str:
    place = " and ".join(f"{name} {value!r}" for name, value in query.items())
    lines = [f"{artifact} has no measured cell in {place}."]
    for name, value in query.items():
        names = list(dict.fromkeys(getattr(cell, name) for cell in cells))
        nearest = nearest_name(value, reversed(names))
        hint = f" (nearest: '{nearest}')" if nearest and value not in names else ""
        lines.append(f"  {name}s{hint}: {', '.join(names)}")
    return "\n".join(lines)
