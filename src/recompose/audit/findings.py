"""Findings of an audit."""

from collections import Counter
from dataclasses import dataclass, field

from recompose.audit.trust import UNCHECKED
from recompose.tables.lineage import Lineage

Key = tuple[str, ...]  # of a cell in its artifact: source, view, row, column


@dataclass(frozen=True)
class Finding:
    """A problem: its state, place, reason and remedy."""

    state: str
    place: str
    why: str
    remedy: str = ""
    keys: tuple[str, ...] = ()  # the stored folders that it concerns


@dataclass
class AuditReport:
    """The result of one part of an audit."""

    findings: list[Finding] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)  # what could not be checked, with the reason
    cells: Counter[str] = field(default_factory=Counter)  # measured cells by state

    def add(self, other: "AuditReport") -> None:
        """Add the result of another part."""
        self.findings += other.findings
        self.unchecked += other.unchecked
        self.cells += other.cells

    @property
    def clean(self) -> bool:
        """True if everything that could be checked is right."""
        return not self.findings


@dataclass(frozen=True)
class Audit:
    """The result of an audit of everything that the reports show."""

    report: AuditReport
    states: dict[str, dict[Key, str]]  # of the measured cells of each artifact
    why: dict[str, dict[Key, list[str]]]  # reasons for those that are not current
    evaluations: int  # behind the reports
    files: int  # that were read
    lineages: dict[str, Lineage]  # of the artifacts, if usable
    numbers: dict[str, dict[str, float]]  # of each evaluation: recomputed from its scores, or as published
    published: int = 0  # of these, those as published: their scores are not on this disk
    remedy: str = ""  # for what could not be checked because it is not on this disk
    compared: dict[str, set[Key]] = field(default_factory=dict)  # measured cells that were computed again

    @property
    def findings(self) -> list[Finding]:
        """The problems."""
        return self.report.findings

    @property
    def outcome(self) -> str:
        """The result in words; an audit is clean if every part could be checked and is right."""
        if self.findings:
            return "found problems"
        return "found no problems but could not check everything" if self.report.unchecked else "is clean"

    @property
    def recomputed(self) -> int:
        """The number of evaluations whose numbers were recomputed from scores."""
        return len(self.numbers) - self.published

    def followed(self, artifact: str) -> int:
        """Return the number of an artifact's cells that follow from scores, or from the values of evaluations, while
        what made these is unchecked.
        """
        states, compared = self.states[artifact], self.compared.get(artifact, set())
        return sum(states.get(key) == UNCHECKED for key in compared)
