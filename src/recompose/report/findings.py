"""What an audit finds."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

Key = tuple[str, ...]  # of a cell in its artifact: source, view, row, column


@dataclass(frozen=True)
class Finding:
    """Something that does not hold: its state, where, why, and what to do about it."""

    state: str
    place: str
    why: str
    remedy: str = ""
    keys: tuple[str, ...] = ()  # the stored things that it concerns


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
    why: dict[str, dict[Key, list[str]]]  # of those that are not current
    evaluations: int  # that the reports were made from
    files: int  # that were read
    lineages: dict[str, dict[str, Any]]  # of the artifacts, those that can be used
    numbers: dict[str, dict[str, float]]  # of each evaluation whose metrics were taken anew from its scores
    remedy: str = ""  # for what could not be checked because it is not on this disk

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
        """How many evaluations' numbers were taken anew."""
        return len(self.numbers)
