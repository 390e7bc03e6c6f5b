"""`audit --against`: each number of the reports against the same number at a git revision, in one word.

Text, value and values of all replicates are compared. Costs, and what differs in claims through costs alone, have a
word of their own, since they are measured again.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import stdev

from pydantic import Field, ValidationError
from rich.console import Console

from recompose.claims.cells import FAMILY_PARTS
from recompose.console import first, pluralize, print_json, print_line
from recompose.errors import DiffError, ProgramError
from recompose.papers.declaration import Paper
from recompose.parts.cells import Cell
from recompose.programs import git
from recompose.recipes.records import LenientModel
from recompose.tables.provenance import COST as COST_PREFIX
from recompose.tables.provenance import PROVENANCE, ArtifactCells
from recompose.workspace import Workspace

WORDS = "identical", "a cost", "different", "missing then", "missing now"
IDENTICAL, COST, DIFFERENT, MISSING_THEN, MISSING_NOW = WORDS
VERDICT, MOST = "verdict", 20  # differing numbers that are named
Place = tuple[str, str]  # row and benchmark of a claim


class _ArtifactCells(ArtifactCells):
    """The measured cells of an artifact; the rest of its provenance may be of another version of the code."""

    recipe: str = ""
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
        cell = self.now or self.then
        assert cell
        place = " · ".join(filter(None, (self.artifact, cell.row, cell.column, cell.view)))
        if self.then is None or self.now is None:
            return f"{place}: {self.word}"
        old, new, spread = self.then.text, self.now.text, spread_of(self.then.values)
        texts = f"{old} then, {new} now" if old != new else f"{new} then and now, from other values"
        return f"{place}: {texts}{f' ({spread})' if spread else ''}"

    @property
    def is_flip(self) -> bool:
        """True where a claim has another verdict, whatever its reason."""
        return len({cell.verdict for cell in (self.then, self.now) if cell and cell.part == VERDICT}) > 1

    @property
    def is_same(self) -> bool:
        """True where it is no other number, and no other verdict."""
        return self.word in (IDENTICAL, COST) and not self.is_flip


def compare(reports: Path, papers: Iterable[Paper], revision: str) -> list[ComparedCell]:
    """Compare every measured cell with that at a revision.

    Raises:
        DiffError: no git repository, no such revision, or nothing of these reports in it.
    """
    commit, path = commit_of(reports, revision), reports / PROVENANCE
    now = path.read_text(encoding="utf-8").strip() if path.exists() else ""
    try:
        then = git("show", "--no-textconv", f"{commit}:./{PROVENANCE}", folder=reports)
    except ProgramError:
        message = f"{revision} has no {PROVENANCE} of these reports: they are not in it, or by an older version"
        raise DiffError(message, code="no-provenance", place=revision) from None
    after = _read_cells(now)
    before = after if then == now else _read_cells(then)
    names = (f"{paper.name}/{name}" for paper in papers for name in paper.artifacts)
    return [cell for name in names for cell in compare_cells(name, before.get(name, ()), after.get(name, ()))]


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
    if now.metric.startswith(COST_PREFIX) or not now.part:
        return COST if now.metric.startswith(COST_PREFIX) else DIFFERENT
    is_of_all = now.part in FAMILY_PARTS
    words = {word for (row, at), word in claims.items() if at == now.benchmark and (is_of_all or row == now.row)}
    return COST if words - {IDENTICAL} == {COST} else DIFFERENT


def _evidence_word(then: Cell, now: Cell) -> str:
    """Return the word for the values behind a verdict."""
    if then.evidence is None or now.evidence is None:
        return IDENTICAL if then.text == now.text else DIFFERENT
    before, after = then.evidence.values, now.evidence.values
    if before == after:
        return IDENTICAL
    seeds_then, seeds_now = ({side: values.keys() for side, values in each.items()} for each in (before, after))
    return COST if seeds_then == seeds_now and now.metric.startswith(COST_PREFIX) else DIFFERENT


def spread_of(values: Sequence[float]) -> str:
    """Return the standard deviation over replicates, in words; empty for fewer than two.

    >>> spread_of([50.0, 52.0]), spread_of([50.0])
    ('spread of 2 replicates: 1.4', '')
    """
    return f"spread of {len(values)} replicates: {stdev(values):.2g}" if len(values) > 1 else ""


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


def show_against(work: Workspace, papers: Iterable[Paper], revision: str, *, as_json: bool) -> int:
    """Compare the reports with those at a revision, and print what differs; return the exit code."""
    cells, console = compare(work.reports, papers, revision), Console()
    flips, others = [cell for cell in cells if cell.is_flip], [cell for cell in cells if not cell.is_same]
    others = [cell for cell in others if not cell.is_flip]
    if as_json:
        named = {"flips": [*map(str, flips)], "differing": [*map(str, others)]}
        print_json({"revision": revision, "same": not flips + others, "counts": counts_of(cells), **named})
        return 1 if flips + others else 0
    for cell in flips:
        print_line(console, ("another verdict", "bold red"), f": {cell} ({cell.word})")
    for text in first(map(str, others), MOST):
        print_line(console, ("different", "bold red"), f": {text}")
    for paper in dict.fromkeys(cell.artifact.partition("/")[0] for cell in cells):
        print_line(console, f"{paper}: {sentence([c for c in cells if c.artifact.startswith(f'{paper}/')])}")
    print_line(console, f"compared with {revision}: {sentence(cells)}")
    print_line(console, ("different numbers", "bold red") if flips + others else ("the same numbers", "bold green"))
    return 1 if flips + others else 0
