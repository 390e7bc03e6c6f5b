"""A comparison of the reports with those of a git revision: numbers in five words, summed up for papers and claims."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from recompose.errors import DiffError, LineageError
from recompose.files import Document
from recompose.inference.retraining import IDENTICAL, WORDS
from recompose.papers.declaration import Paper
from recompose.provenance.compare_cells import MISSING_NOW, MISSING_THEN, ComparedCell, RevisionCells, compare_cells
from recompose.provenance.diff import commit_of, file_at
from recompose.records import BuildInfo, StableRecord
from recompose.report.differences import Chain, changes
from recompose.report.lineage import MADE, SUFFIX, Lineage, parse_made, read_made
from recompose.report.retraining import RetrainingSpreads

OUTCOMES = (*WORDS, MISSING_THEN, MISSING_NOW)
JUDGED_KINDS = ("runs/", "evaluations/")  # what a processor computes


@dataclass(frozen=True)
class RevisionComparison:
    """The measured cells of the reports with their words, against a revision."""

    revision: str
    commit: str
    cells: list[ComparedCell] = field(default_factory=list)
    settings: dict[str, int] = field(default_factory=dict)  # what changed behind cells -> number of evaluations
    machines: tuple[list[str], list[str]] = ([], [])  # then and now
    has_spreads: bool = False  # retraining was measured

    @property
    def counts(self) -> dict[str, int]:
        """The number of cells by word, in the order of the words."""
        return _count(self.cells)

    @property
    def by_paper(self) -> dict[str, dict[str, int]]:
        """The same for each paper."""
        by_paper: dict[str, list[ComparedCell]] = {}
        for cell in self.cells:
            by_paper.setdefault(cell.artifact.partition("/")[0], []).append(cell)
        return {paper: _count(cells) for paper, cells in by_paper.items()}

    @property
    def flips(self) -> list[ComparedCell]:
        """The claims that have another verdict."""
        return [cell for cell in self.cells if cell.is_flip]

    @property
    def beyond(self) -> list[ComparedCell]:
        """The cells that differ by more than retraining moves them, those of claims first."""
        return sorted((cell for cell in self.cells if cell.is_beyond), key=lambda cell: not cell.cell.part)

    @property
    def other_recipes(self) -> int:
        """The number of cells that other evaluations made."""
        return sum(cell.is_other_recipe for cell in self.cells)

    @property
    def is_untouched(self) -> bool:
        """True where every cell is identical and made by the same evaluations."""
        return all(cell.word == IDENTICAL and not cell.is_other_recipe for cell in self.cells)

    @property
    def is_same(self) -> bool:
        """True where no cell differs by more than retraining moves it, and no claim has another verdict."""
        return not self.beyond and not self.flips

    def document(self) -> Document:
        """Return the comparison as plain values."""
        return {
            "revision": self.revision,
            "commit": self.commit,
            "same": self.is_same,
            "counts": self.counts,
            "papers": self.by_paper,
            "flips": [f"{cell.place}: {cell.change}" for cell in self.flips],
            "beyond": [f"{cell.place}: {cell.change}" for cell in self.beyond],
            "other_recipes": self.other_recipes,
            "settings": self.settings,
            "machines": {"then": self.machines[0], "now": self.machines[1]},
            "retraining_measured": self.has_spreads,
        }


def _count(cells: Iterable[ComparedCell]) -> dict[str, int]:
    counts = Counter(cell.word for cell in cells)
    return {word: counts[word] for word in OUTCOMES if counts[word]}


def compare(reports: Path, papers: Iterable[Paper], revision: str) -> RevisionComparison:
    """Compare every measured cell with that at a revision.

    Raises:
        DiffError: no git repository, or no such revision.
        LineageError: the file of spreads over retrainings is invalid.
    """
    commit, spreads = commit_of(reports, revision), RetrainingSpreads.read(reports)
    cells: list[ComparedCell] = []
    settings: Counter[str] = Counter()
    seen: set[str] = set()
    for paper in papers:
        for name in paper.artifacts:
            path = reports / paper.name / f"{name}{SUFFIX}"
            texts = _text_at(path, revision), path.read_text(encoding="utf-8") if path.exists() else None
            then, now = map(RevisionCells.parse, texts)
            compared = list(compare_cells(f"{paper.name}/{name}", then, now, spreads))
            cells += compared
            if any(cell.is_other_recipe for cell in compared):
                settings.update(_recipe_changes(*texts, seen))
    made_then = parse_made(_text_at(reports / MADE, revision) or "")
    machines = _machines(made_then), _machines(read_made(reports))
    return RevisionComparison(revision, commit, cells, dict(settings.most_common()), machines, bool(spreads.lines))


def _text_at(path: Path, revision: str) -> str | None:
    try:
        return file_at(path, revision)[1]
    except DiffError:
        return None


def _recipe_changes(then: str | None, now: str | None, seen: set[str]) -> Iterator[str]:
    """Yield what changed behind each evaluation of a lineage that is new, once for each evaluation."""
    try:
        before, after = (Lineage.parse(text or "", "lineage") for text in (then, now))
    except LineageError:
        return  # of another version of the code
    partners = {_label(record): record for record in _evaluations(before).values()}
    for key, record in _evaluations(after).items():
        partner = partners.get(_label(record))
        if key not in before.records and key not in seen and partner:
            seen.add(key)
            yield from changes(Chain.of(partner, before.records), Chain.of(record, after.records))


def _evaluations(lineage: Lineage) -> dict[str, StableRecord]:
    return {key: record for key, record in lineage.records.items() if record.kind == "evaluations"}


def _label(record: StableRecord) -> tuple[object, ...]:
    return tuple(record.labels.get(name) for name in ("name", "dataset", "seed"))


def _machines(made: Mapping[str, BuildInfo]) -> list[str]:
    """Return the kinds of machines that computed runs and evaluations, the most frequent first."""
    builds = (build for key, build in made.items() if key.startswith(JUDGED_KINDS))
    return [text for text, _ in Counter(build.processor for build in builds).most_common()]
