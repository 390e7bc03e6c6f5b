"""Findings: what speaks against the reports, each with a code, and the state that it gives to the numbers concerned."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

STATES = (
    "tampered",  # a file differs from what was written, or a number from the result of its runs
    "incomplete",  # planned evaluations are missing
    "mixed",  # its runs have different code or packages
    "uncommitted",  # its runs come from sources that no commit holds
    "stale",  # the current parameters, code or inputs would give another number
    "unchecked",  # what it rests on is not on this disk, or is unreliable itself
    "current",
)
UNCHECKED, CURRENT = STATES[-2:]
CODES = {  # of a finding -> the state that it causes
    "changed-file": "tampered",  # a file differs from what was written, or from its record
    "unreadable": "tampered",  # a file is not of its form
    "edited-record": "tampered",  # store, lineage and made.json disagree about a result
    "edited-value": "tampered",  # a number is not what its runs or its source give
    "changed-data": "tampered",  # raw files differ from their digests
    "other-lock": "tampered",  # dvc.lock has other reports
    "missing-file": "incomplete",
    "incomplete": "incomplete",
    "mixed": "mixed",
    "uncommitted": "uncommitted",
    "renamed": "stale",  # a result has other names, which do not determine it, than what was shown
    "rebuilt": "stale",  # a result is another one than what was shown, or than what was made from it
    "other-recipe": "stale",  # the current parameters or code ask for something else
    "other-text": "stale",  # the current code or declaration writes another file
    "outdated": "stale",  # another version of the code wrote it
    "absent": UNCHECKED,  # a result is not on this disk
    "unknown-content": UNCHECKED,  # nothing tells what an artifact was made from
    UNCHECKED: UNCHECKED,  # for any other reason
}
REMAKE = "`snakemake --cores all`"  # the remedy of whatever the workflow can make again
REMEDIES = {
    "tampered": "look at `git diff` first; `snakemake --cores all` makes it again",  # somebody may have edited it
    "incomplete": REMAKE,
    "mixed": "`recompose store discard` these runs, then " + REMAKE,
    "uncommitted": "commit the sources: a commit with exactly this code resolves it",
    "stale": REMAKE,
    UNCHECKED: "",
}
Key = tuple[str, ...]  # of a cell in its artifact: source, view, row, column


def worst(states: Iterable[str]) -> str:
    """Return the worst of some states; current if there are none."""
    return min(states, key=STATES.index, default=CURRENT)


@dataclass(frozen=True)
class Finding:
    """A problem: its code, state, place, reason and remedy."""

    code: str
    state: str
    place: str
    why: str
    remedy: str = ""
    keys: tuple[str, ...] = ()  # the stored folders that it concerns
    cells: tuple[Key, ...] = ()  # the cells of the same artifact that it speaks against

    @classmethod
    def of(cls, code: str, place: str, why: str, *keys: str, remedy: str = "", cells: Iterable[Key] = ()) -> "Finding":
        """Return a finding with the state of its code, and the remedy of that state unless it has its own."""
        state = CODES[code]
        return cls(code, state, place, why, remedy or REMEDIES[state], keys, tuple(cells))

    @property
    def text(self) -> str:
        """The place and the reason."""
        return f"{self.place}{': ' if self.code == UNCHECKED else ' '}{self.why}"


@dataclass(frozen=True)
class Trust:
    """The trust in a number: its state, the reasons, and a note."""

    state: str = CURRENT
    why: tuple[str, ...] = ()
    note: str = ""  # such as the commit that holds its code by now

    def worsened(self, state: str, why: str) -> "Trust":
        """Return the trust in the same number once something else speaks against it; the worst state counts."""
        if worst([self.state, state]) != state:
            return self
        reasons = self.why if state == self.state else ()
        return replace(self, state=state, why=tuple(dict.fromkeys([*reasons, why])))


@dataclass(frozen=True)
class Audit:
    """The result of an audit of everything that the reports show."""

    everything: list[Finding]  # also what could not be checked
    trusts: dict[str, dict[Key, Trust]]  # in the measured cells of each artifact
    evaluations: int  # behind the reports
    files: int  # that were read
    numbers: dict[str, dict[str, float]]  # of each evaluation: recomputed from its scores, or as published
    published: int = 0  # of these, those as published: their scores are not on this disk
    compared: dict[str, set[Key]] = field(default_factory=dict)  # measured cells that were computed again

    @property
    def findings(self) -> list[Finding]:
        """The problems."""
        return [finding for finding in self.everything if finding.state != UNCHECKED]

    @property
    def unchecked(self) -> list[str]:
        """What could not be checked, with the reason."""
        return [finding.text for finding in self.everything if finding.state == UNCHECKED]

    @property
    def remedy(self) -> str:
        """What makes it possible to check what is not on this disk."""
        return next((finding.remedy for finding in self.everything if finding.code == "absent"), "")

    @property
    def states(self) -> dict[str, dict[Key, str]]:
        """The state of each measured cell, by artifact."""
        return {name: {key: trust.state for key, trust in cells.items()} for name, cells in self.trusts.items()}

    @property
    def cells(self) -> Counter[str]:
        """The number of measured cells by state."""
        return Counter(trust.state for cells in self.trusts.values() for trust in cells.values())

    @property
    def clean(self) -> bool:
        """True if everything that could be checked is right."""
        return not self.findings

    @property
    def outcome(self) -> str:
        """The result in words; an audit is clean if every part could be checked and is right."""
        if {finding.state for finding in self.findings} == {"uncommitted"}:
            return "found no problems, but no commit holds the code of these results"
        if self.findings:
            return "found problems"
        return "found no problems but could not check everything" if self.unchecked else "is clean"

    @property
    def recomputed(self) -> int:
        """The number of evaluations whose numbers were recomputed from scores."""
        return len(self.numbers) - self.published

    def followed(self, artifact: str) -> int:
        """Return the number of an artifact's cells that follow from scores, or from the values of evaluations, while
        what made these is unchecked.
        """
        trusts, compared = self.trusts[artifact], self.compared.get(artifact, set())
        return sum(trusts[key].state == UNCHECKED for key in compared & trusts.keys())
