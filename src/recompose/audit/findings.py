"""Findings: what speaks against the reports, each with the state that it gives to the numbers concerned."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from recompose.recipes.state import CHANGED, MISSING, OUTDATED, UNCHECKED, State

REMAKE = "`snakemake --cores all`"  # the remedy of whatever the workflow can make again
REMEDIES = {
    CHANGED: f"look at `git diff` first; {REMAKE} makes it again",  # somebody may have edited it
    OUTDATED: REMAKE,
    MISSING: REMAKE,
    UNCHECKED: "",
}
Key = tuple[str, ...]  # of a cell in its artifact: source, view, row, column


@dataclass(frozen=True)
class Finding:
    """A problem, or what could not be checked: its state, place, reason and remedy."""

    state: str
    place: str
    why: str
    remedy: str = ""
    keys: tuple[str, ...] = ()  # the stored contents that it concerns
    cells: tuple[Key, ...] = ()  # the cells of the same artifact that it speaks against

    @classmethod
    def of(cls, state: str, place: str, why: str, *keys: str, remedy: str = "", cells: Iterable[Key] = ()) -> "Finding":
        """Return a finding with the remedy of its state unless it has its own."""
        return cls(state, place, why, remedy or REMEDIES[state], keys, tuple(cells))

    @property
    def text(self) -> str:
        """The place and the reason."""
        return f"{self.place} {self.why}"


@dataclass(frozen=True)
class Audit:
    """The result of an audit of everything that the reports show."""

    everything: list[Finding]  # also what could not be checked
    cells: dict[str, dict[Key, State]]  # the state of each measured cell, by artifact
    evaluations: int  # behind the reports
    files: int  # that were read
    numbers: dict[str, dict[str, float]]  # of each evaluation: computed from its scores, or as published
    followed: int = 0  # of these, those as published: their scores are not on this disk
    compared: dict[str, set[Key]] = field(default_factory=dict)  # measured cells that were computed again
    uncommitted: tuple[str, ...] = ()  # results whose code no commit holds

    @property
    def findings(self) -> list[Finding]:
        """The problems."""
        return [finding for finding in self.everything if finding.state != UNCHECKED]

    @property
    def unchecked(self) -> list[str]:
        """What could not be checked, with the reason."""
        return [finding.text for finding in self.everything if finding.state == UNCHECKED]

    @property
    def words(self) -> Counter[str]:
        """The number of measured cells by state."""
        return Counter(state.word for cells in self.cells.values() for state in cells.values())

    @property
    def clean(self) -> bool:
        """True if everything that could be checked is right."""
        return not self.findings

    @property
    def outcome(self) -> str:
        """The result in words; an audit is clean if every part could be checked and is right."""
        if self.findings:
            return "found problems"
        if self.unchecked:
            return "found no problems but could not check everything"
        return "is clean" + (", but no commit holds the code of these results" if self.uncommitted else "")

    @property
    def recomputed(self) -> int:
        """The number of evaluations whose numbers were computed from scores."""
        return len(self.numbers) - self.followed
