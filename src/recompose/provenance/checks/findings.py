"""What an audit finds."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

STATES = (
    "tampered",  # a file is not what was written, or a number is not what its runs give
    "incomplete",  # runs that were asked for are missing
    "mixed",  # its runs are not of one code, or not from one kind of machine
    "uncommitted",  # its runs come from sources that no commit holds
    "stale",  # the current parameters, code or inputs would give another one
    "current",
)
Key = tuple[str, ...]  # of a cell in its artifact: source, view, row, column
UNCHECKED = "unchecked"  # what it rests on is not on this disk, or was tampered with itself


@dataclass(frozen=True)
class Finding:
    """Something that does not hold: its state, where, why, and what to do about it."""

    state: str
    place: str
    why: str
    remedy: str = ""
    keys: tuple[str, ...] = ()  # the runs, or other stored things, that it concerns


@dataclass
class Report:
    """What one part of an audit gives."""

    findings: list[Finding] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)  # what could not be checked, and why
    cells: Counter[str] = field(default_factory=Counter)  # measured cells by state

    def add(self, other: "Report") -> None:
        """Take another part in."""
        self.findings += other.findings
        self.unchecked += other.unchecked
        self.cells += other.cells

    @property
    def clean(self) -> bool:
        """Whether all that could be checked holds."""
        return not self.findings


@dataclass(frozen=True)
class Audit:
    """What an audit found of everything that the reports show."""

    report: Report
    states: dict[str, dict[Key, str]]  # of the measured cells of each artifact
    why: dict[str, dict[Key, list[str]]]  # of those that are stale
    runs: int  # that the reports were made from
    files: int  # that were read
    lineages: list[dict[str, Any]]  # of the artifacts, those that can be used
    numbers: dict[str, dict[str, Any]]  # of each run whose metrics were taken anew from its scores

    @property
    def findings(self) -> list[Finding]:
        """What does not hold."""
        return self.report.findings

    @property
    def verdict(self) -> str:
        """What it comes to: clean is what holds in every part."""
        if self.findings:
            return "found what does not hold"
        return "found nothing, but could not check all of it" if self.report.unchecked else "is clean"

    @property
    def recomputed(self) -> int:
        """How many runs' numbers were taken anew."""
        return len(self.numbers)


def worst(states: Iterable[str]) -> str:
    """The worst of some states; current where there are none."""
    order = (*STATES[:-1], UNCHECKED, STATES[-1])
    return min(states, key=order.index, default=STATES[-1])
