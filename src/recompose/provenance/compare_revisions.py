"""A comparison of the reports with those of a git revision, cell by cell."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import isclose
from pathlib import Path

from pydantic import ValidationError

from recompose.errors import DiffError
from recompose.papers.declaration import Paper
from recompose.provenance.diff import commit_of, file_at
from recompose.records import LenientModel
from recompose.report.lineage import SUFFIX

IDENTICAL, LAST_DIGITS, DIFFERENT, COST = (
    "identical",
    "different in the last digits of sums",
    "different",
    "a cost, measured again",
)
MISSING_THEN, MISSING_NOW = "missing then", "missing now"
CLOSE = 1e-6  # relative tolerance for sums that are taken in another order


class RevisionCell(LenientModel):
    """The part of a measured cell that lineages of all versions have."""

    row: str
    column: str
    view: str
    text: str
    value: float | None
    spread: float | None
    values: list[float]
    metric: str = ""


class RevisionCells(LenientModel):
    """The cells of a lineage of any version."""

    cells: list[RevisionCell]


@dataclass(frozen=True)
class RevisionComparison:
    """The number of cells by outcome, and the cells that differ."""

    revision: str
    commit: str
    counts: dict[str, int] = field(default_factory=dict)
    differing: list[str] = field(default_factory=list)

    @property
    def is_same(self) -> bool:
        """True where no cell differs by more than the last digits of sums."""
        return not any(self.counts.get(outcome) for outcome in (DIFFERENT, MISSING_NOW, MISSING_THEN))


def compare(reports: Path, papers: Iterable[Paper], revision: str) -> RevisionComparison:
    """Compare every measured cell with itself at a revision.

    Raises:
        DiffError: no git repository, or no such revision.
    """
    comparison = RevisionComparison(revision, commit_of(reports, revision))
    for paper in papers:
        for name in paper.artifacts:
            path = reports / paper.name / f"{name}{SUFFIX}"
            then, now = (
                _cells(_text_at(path, revision)),
                _cells(path.read_text(encoding="utf-8") if path.exists() else None),
            )
            for key in dict.fromkeys([*now, *then]):
                outcome = _outcome(then.get(key), now.get(key))
                comparison.counts[outcome] = comparison.counts.get(outcome, 0) + 1
                if outcome in (DIFFERENT, MISSING_NOW, MISSING_THEN):
                    place = " · ".join(part for part in (f"{paper.name}/{name}", *key) if part)
                    comparison.differing.append(f"{place}: {_change(then.get(key), now.get(key), outcome)}")
    return comparison


def _text_at(path: Path, revision: str) -> str | None:
    try:
        return file_at(path, revision)[1]
    except DiffError:
        return None


def _cells(text: str | None) -> dict[tuple[str, ...], RevisionCell]:
    try:
        cells = RevisionCells.model_validate_json(text).cells if text else []
    except ValidationError:
        return {}
    return {(cell.row, cell.column, cell.view): cell for cell in cells}


def _outcome(then: RevisionCell | None, now: RevisionCell | None) -> str:
    if then is None or now is None:
        return MISSING_THEN if then is None else MISSING_NOW
    if (then.text, then.value, then.values) == (now.text, now.value, now.values):
        return IDENTICAL
    if now.metric.startswith("cost/"):
        return COST
    numbers = list(zip(_numbers(then), _numbers(now), strict=False))
    alike = len(_numbers(then)) == len(_numbers(now)) and all(
        isclose(a, b, rel_tol=CLOSE, abs_tol=CLOSE) for a, b in numbers
    )
    return LAST_DIGITS if numbers and alike else DIFFERENT


def _numbers(cell: RevisionCell) -> list[float]:
    return [number for number in (cell.value, cell.spread, *cell.values) if number is not None]


def _change(then: RevisionCell | None, now: RevisionCell | None, outcome: str) -> str:
    return f"{then.text} then, {now.text} now" if then and now else outcome
