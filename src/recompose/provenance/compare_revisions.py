"""Against: whether the reports say the same as those of a git revision, cell by cell: what a reproduction came to."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import isclose
from pathlib import Path
from typing import Any

from recompose.errors import DiffError
from recompose.papers.declaration import Paper
from recompose.provenance.diff import commit_of, file_at
from recompose.report.lineage import SUFFIX

IDENTICAL, LAST_DIGITS, DIFFERENT, COST = (
    "identical",
    "different in the last digits of sums",
    "different",
    "a cost, measured anew",
)
MISSING_THEN, MISSING_NOW = "not there then", "not there now"
CLOSE = 1e-6  # relative: sums that are taken in another order differ by less


@dataclass(frozen=True)
class Comparison:
    """The cells of the reports by what became of them, and those that are different."""

    revision: str
    commit: str
    counts: dict[str, int] = field(default_factory=dict)
    differing: list[str] = field(default_factory=list)

    @property
    def same(self) -> bool:
        """Whether no cell is different, up to the last digits of sums."""
        return not any(self.counts.get(word) for word in (DIFFERENT, MISSING_NOW, MISSING_THEN))


def compare(reports: Path, papers: Iterable[Paper], revision: str) -> Comparison:
    """Compare every measured cell with itself at a revision.

    Raises:
        DiffError: no git repository, or no such revision.
    """
    comparison = Comparison(revision, commit_of(reports, revision))
    for paper in papers:
        for name in paper.artifacts:
            path = reports / paper.name / f"{name}{SUFFIX}"
            then, now = (
                _cells(_text_at(path, revision)),
                _cells(path.read_text(encoding="utf-8") if path.exists() else None),
            )
            for key in dict.fromkeys([*now, *then]):
                word = _word(then.get(key), now.get(key))
                comparison.counts[word] = comparison.counts.get(word, 0) + 1
                if word in (DIFFERENT, MISSING_NOW, MISSING_THEN):
                    place = " · ".join(part for part in (f"{paper.name}/{name}", *key) if part)
                    comparison.differing.append(f"{place}: {_change(then.get(key), now.get(key), word)}")
    return comparison


def _text_at(path: Path, revision: str) -> str | None:
    try:
        return file_at(path, revision)[1]
    except DiffError:
        return None


def _cells(text: str | None) -> dict[tuple[str, ...], dict[str, Any]]:
    try:
        cells = json.loads(text)["cells"] if text else []
        return {(cell["row"], cell["column"], cell["view"]): cell for cell in cells}
    except (ValueError, KeyError, TypeError):
        return {}


def _word(then: dict[str, Any] | None, now: dict[str, Any] | None) -> str:
    if then is None or now is None:
        return MISSING_THEN if then is None else MISSING_NOW
    if (then["text"], then["value"], then["values"]) == (now["text"], now["value"], now["values"]):
        return IDENTICAL
    if str(now.get("metric", "")).startswith("cost/"):
        return COST
    numbers = list(zip(_numbers(then), _numbers(now), strict=False))
    alike = len(_numbers(then)) == len(_numbers(now)) and all(
        isclose(a, b, rel_tol=CLOSE, abs_tol=CLOSE) for a, b in numbers
    )
    return LAST_DIGITS if numbers and alike else DIFFERENT


def _numbers(cell: dict[str, Any]) -> list[float]:
    return [number for number in (cell["value"], cell["spread"], *cell["values"]) if number is not None]


def _change(then: dict[str, Any] | None, now: dict[str, Any] | None, word: str) -> str:
    return f"{then['text']} then, {now['text']} now" if then and now else word
