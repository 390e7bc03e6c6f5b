"""`audit --against`: each number of the reports against the same number at a git revision, in one word.

Text, value and values of all replicates are compared. Costs, and what differs in claims through costs alone, have a
word of their own, since they are measured again.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from statistics import stdev

from pydantic import Field, ValidationError
from rich.console import Console

from recompose.claims.cells import FAMILY_PARTS
from recompose.console import pluralize, print_json, print_line
from recompose.errors import DiffError, ProgramError
from recompose.files import Document
from recompose.papers.declaration import Paper
from recompose.parts.cells import Cell
from recompose.programs import git
from recompose.recipes.records import LenientModel
from recompose.tables.provenance import COST as COST_PREFIX
from recompose.tables.provenance import PROVENANCE
from recompose.workspace import Workspace

WORDS = IDENTICAL, COST, DIFFERENT, MISSING_THEN, MISSING_NOW = (
    "identical",
    "a cost",
    "different",
    "missing then",
    "missing now",
)
VERDICT = "verdict"
MOST = 20  # differing cells that are named
Place = tuple[str, str]  # row and benchmark of a claim


def spread_of(values: Sequence[float]) -> str:
    """Return the standard deviation over replicates, in words; empty for fewer than two.

    >>> spread_of([50.0, 52.0]), spread_of([50.0])
    ('spread of 2 replicates: 1.4', '')
    """
    return f"spread of {len(values)} replicates: {stdev(values):.2g}" if len(values) > 1 else ""


class _ArtifactCells(LenientModel):
    """The measured cells of an artifact; the rest of its lineage may be of another version of the code."""

    cells: list[Cell] = Field(default=[])


class _RevisionCells(LenientModel):
    """The artifacts of a provenance."""

    artifacts: dict[str, _ArtifactCells] = Field(default={})


@dataclass(frozen=True)
class ComparedCell:
    """A cell then and now, and the word for it."""

    artifact: str  # <paper>/<name>
    then: Cell | None
    now: Cell | None
    word: str

    def __str__(self) -> str:
        both = [cell for cell in (self.then, self.now) if cell]
        cell = both[-1]
        place = " · ".join(filter(None, (self.artifact, cell.row, cell.column, cell.view)))
        if len(both) == 1:
            return f"{place}: {self.word}"
        old, new = (each.text for each in both)
        texts = f"{old} then, {new} now" if old != new else f"{new} then and now, from other values"
        spread = spread_of(both[0].values)
        return f"{place}: {texts}{f' ({spread})' if spread else ''}"

    @property
    def is_flip(self) -> bool:
        """True where a claim has another verdict, whatever its reason."""
        verdicts = {cell.verdict for cell in (self.then, self.now) if cell and cell.part == VERDICT}
        return len(verdicts) > 1


@dataclass(frozen=True)
class Comparison:
    """The measured cells of the reports with their words, against a revision."""

    revision: str
    commit: str
    cells: list[ComparedCell] = field(default_factory=list)

    @property
    def flips(self) -> list[ComparedCell]:
        """The claims that have another verdict."""
        return [cell for cell in self.cells if cell.is_flip]

    @property
    def differing(self) -> list[ComparedCell]:
        """The cells that are different or missing, those of claims first."""
        differing = [cell for cell in self.cells if cell.word not in (IDENTICAL, COST)]
        return sorted(differing, key=lambda cell: not (cell.now and cell.now.part))

    @property
    def other_recipes(self) -> int:
        """The number of cells that other evaluations made."""
        both = ((cell.then, cell.now) for cell in self.cells)
        return sum(bool(then and now and {*then.made_from} != {*now.made_from}) for then, now in both)

    @property
    def is_same(self) -> bool:
        """True where no cell is different or missing, and no claim has another verdict."""
        return not self.differing and not self.flips

    def document(self) -> Document:
        """Return the comparison as plain values."""
        return {
            "revision": self.revision,
            "commit": self.commit,
            "same": self.is_same,
            "counts": counts_of(self.cells),
            "flips": [str(cell) for cell in self.flips],
            "differing": [str(cell) for cell in self.differing],
            "other_recipes": self.other_recipes,
        }


def counts_of(cells: Iterable[ComparedCell]) -> dict[str, int]:
    """Return the number of cells by word, in the order of the words."""
    counts = Counter(cell.word for cell in cells)
    return {word: counts[word] for word in WORDS if counts[word]}


def sentence(cells: Sequence[ComparedCell]) -> str:
    """Return the number of cells by word, and that of changed verdicts."""
    counts = ", ".join(f"{count:,} {word}" for word, count in counts_of(cells).items())
    flips = sum(cell.is_flip for cell in cells)
    verdicts = f"{pluralize(flips, 'verdict')} changed" if flips else "no verdict changed"
    return f"{len(cells):,} numbers: {counts or 'none'}; {verdicts}."


def compare(reports: Path, papers: Iterable[Paper], revision: str) -> Comparison:
    """Compare every measured cell with that at a revision.

    Raises:
        DiffError: no git repository, or no such revision.
    """
    commit, path = commit_of(reports, revision), reports / PROVENANCE
    now = path.read_text(encoding="utf-8").strip() if path.exists() else ""
    if not (text := _text_at(reports, PROVENANCE, commit)):
        message = f"{revision} has no {PROVENANCE} of these reports: they are not in it, or by an older version"
        raise DiffError(message, code="no-provenance", place=revision)
    after = _read_cells(now)
    then = after if text == now else _read_cells(text)
    names = [f"{paper.name}/{name}" for paper in papers for name in paper.artifacts]
    cells = (compare_cells(name, then.get(name, ()), after.get(name, ())) for name in names)
    return Comparison(revision, commit, [*chain.from_iterable(cells)])


def commit_of(folder: Path, revision: str) -> str:
    """Return the commit of a revision.

    Raises:
        DiffError: no git repository, or no such revision; the message has git's reason.
    """
    try:
        return git("rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}", folder=folder)
    except ProgramError as error:
        message = f"{folder} has no revision '{revision}' ({error})"
        raise DiffError(message, code="unknown-revision", place=revision) from None


def _text_at(reports: Path, file: str, commit: str) -> str:
    """Return the text of a file of the reports in a commit, empty if there is none."""
    try:
        return git("show", "--no-textconv", f"{commit}:./{file}", folder=reports)
    except ProgramError:
        return ""


def _read_cells(text: str) -> dict[str, list[Cell]]:
    """Return the cells of each artifact in a provenance with this text; none if it is none."""
    try:
        return {name: each.cells for name, each in _RevisionCells.model_validate_json(text).artifacts.items()}
    except ValidationError:
        return {}


def compare_cells(artifact: str, then: Iterable[Cell], now: Iterable[Cell]) -> list[ComparedCell]:
    """Return the cells of an artifact, each with the word for it."""
    before, after = ({cell.key: cell for cell in cells} for cells in (then, now))
    verdicts = [cell for key, cell in after.items() if cell.part == VERDICT and key in before]
    claims = {(cell.row, cell.benchmark): _evidence_word(before[cell.key], cell) for cell in verdicts}
    both = ((before.get(key), after.get(key)) for key in dict.fromkeys([*after, *before]))
    return [ComparedCell(artifact, old, new, _word(old, new, claims)) for old, new in both]


def _word(then: Cell | None, now: Cell | None, claims: Mapping[Place, str]) -> str:
    if then is None or now is None:
        return MISSING_THEN if then is None else MISSING_NOW
    if (then.text, then.value, then.values) == (now.text, now.value, now.values):
        return IDENTICAL
    if now.metric.startswith(COST_PREFIX):
        return COST
    if not now.part:
        return DIFFERENT
    rests_on = {
        word
        for (row, benchmark), word in claims.items()
        if benchmark == now.benchmark and (row == now.row or now.part in FAMILY_PARTS)
    }
    return COST if rests_on - {IDENTICAL} == {COST} else DIFFERENT


def _evidence_word(then: Cell, now: Cell) -> str:
    """Return the word for the values behind a verdict."""
    if then.evidence is None or now.evidence is None:
        return IDENTICAL if then.text == now.text else DIFFERENT
    before, after = then.evidence.values, now.evidence.values
    if before == after:
        return IDENTICAL
    seeds_then, seeds_now = ({side: values.keys() for side, values in each.items()} for each in (before, after))
    return COST if seeds_then == seeds_now and now.metric.startswith(COST_PREFIX) else DIFFERENT


def show_against(work: Workspace, papers: Iterable[Paper], revision: str, *, as_json: bool) -> int:
    """Compare the reports with those at a revision, and print what differs; return the exit code."""
    comparison, console = compare(work.reports, papers, revision), Console()
    if as_json:
        print_json(comparison.document())
        return 0 if comparison.is_same else 1
    if comparison.other_recipes:
        numbers = pluralize(comparison.other_recipes, "number")
        print_line(console, f"made by evaluations with other settings, data or code: {numbers}")
    for cell in comparison.flips:
        print_line(console, ("another verdict", "bold red"), f": {cell} ({cell.word})")
    for cell in comparison.differing[:MOST]:
        print_line(console, ("different", "bold red"), f": {cell}")
    if more := comparison.differing[MOST:]:
        print_line(console, f"and {len(more)} more (--json names all)")
    for paper in dict.fromkeys(cell.artifact.partition("/")[0] for cell in comparison.cells):
        cells = [cell for cell in comparison.cells if cell.artifact.startswith(f"{paper}/")]
        print_line(console, f"{paper}: {sentence(cells)}")
    print_line(console, f"compared with {comparison.revision} ({comparison.commit[:12]}): {sentence(comparison.cells)}")
    if comparison.is_same:
        print_line(console, ("the same numbers", "bold green"))
        return 0
    print_line(console, ("different numbers", "bold red"))
    return 1
