"""`audit --against`: each number of the reports against the same number at a git revision, in one of five words.

A cell decides what is compared: the values of its replicates, its value alone, the values that a claim rests on, or its
text.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose
from pathlib import Path
from statistics import fmean, stdev

from pydantic import Field, ValidationError
from rich.console import Console

from recompose.claims.cells import FAMILY_PARTS
from recompose.console import pluralize, print_json, print_line
from recompose.errors import DiffError, ProgramError
from recompose.files import Document
from recompose.metric_cache import COST as COST_PREFIX
from recompose.papers.declaration import Paper
from recompose.parts.cells import Cell
from recompose.programs import git
from recompose.recipes.records import LenientModel
from recompose.tables.lineage import MADE, SUFFIX, Made
from recompose.workspace import Workspace

# from the mildest to the gravest
WORDS = IDENTICAL, COST, LAST_DIGITS, WITHIN, DIFFERENT, MISSING_THEN, MISSING_NOW = (
    "identical",
    "a cost",
    "last digits",
    "within the spread of replicates",
    "different",
    "missing then",
    "missing now",
)
CLOSE = 1e-4  # relative tolerance for sums that are taken in another order, after a network's layers
VERDICT = "verdict"
MOST = 20  # differing cells that are named
Place = tuple[str, str]  # row and benchmark of a claim


def classify(then: Sequence[float], now: Sequence[float], spread: float = 0.0) -> str:
    """Return the word for a number that was computed again.

    Args:
        then: the old values, one for each replicate, or the old number alone.
        now: the new values, in the same order.
        spread: the standard deviation over replicates, which the mean may move by; 0 if it is unknown.

    >>> classify([50.0, 52.0], [50.0, 52.0]), classify([50.0, 52.0], [50.001, 52.0])
    ('identical', 'last digits')
    >>> classify([50.0, 52.0], [51.0, 52.5], 1.4), classify([50.0, 52.0], [60.0, 62.0], 1.4)
    ('within the spread of replicates', 'different')
    """
    if list(then) == list(now):
        return IDENTICAL
    if len(then) != len(now) or not then:
        return DIFFERENT
    if all(isclose(a, b, rel_tol=CLOSE, abs_tol=CLOSE**2) for a, b in zip(then, now, strict=True)):
        return LAST_DIGITS
    return WITHIN if abs(fmean(now) - fmean(then)) <= spread else DIFFERENT


def spread_of(values: Sequence[float]) -> float:
    """Return the standard deviation over replicates; 0 of a single one, whose spread is unknown."""
    return stdev(values) if len(values) > 1 else 0.0


class _RevisionCells(LenientModel):
    """The measured cells of a lineage; the rest of it may be of another version of the code."""

    cells: list[Cell] = Field(default=[])


@dataclass(frozen=True)
class ComparedCell:
    """A cell then and now, and the word for it."""

    artifact: str  # <paper>/<name>
    then: Cell | None
    now: Cell | None
    word: str

    def __str__(self) -> str:
        both = [cell for cell in (self.then, self.now) if cell]
        texts = f"{both[0].text} then, {both[1].text} now" if len(both) > 1 else self.word
        cell = both[-1]
        return f"{' · '.join(filter(None, (self.artifact, cell.row, cell.column, cell.view)))}: {texts}"

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
    machines: tuple[list[str], list[str]] = ([], [])  # then and now

    @property
    def flips(self) -> list[ComparedCell]:
        """The claims that have another verdict."""
        return [cell for cell in self.cells if cell.is_flip]

    @property
    def beyond(self) -> list[ComparedCell]:
        """The cells that differ by more than the spread of replicates or are missing, those of claims first."""
        beyond = [cell for cell in self.cells if cell.word in (DIFFERENT, MISSING_THEN, MISSING_NOW)]
        return sorted(beyond, key=lambda cell: not (cell.now and cell.now.part))

    @property
    def other_recipes(self) -> int:
        """The number of cells that other evaluations made."""
        both = ((cell.then, cell.now) for cell in self.cells)
        return sum(bool(then and now and {*then.made_from} != {*now.made_from}) for then, now in both)

    @property
    def is_same(self) -> bool:
        """True where no cell differs by more than the spread of replicates, and no claim has another verdict."""
        return not self.beyond and not self.flips

    def document(self) -> Document:
        """Return the comparison as plain values."""
        return {
            "revision": self.revision,
            "commit": self.commit,
            "same": self.is_same,
            "counts": counts_of(self.cells),
            "flips": [str(cell) for cell in self.flips],
            "beyond": [str(cell) for cell in self.beyond],
            "other_recipes": self.other_recipes,
            "machines": dict(zip(("then", "now"), self.machines, strict=True)),
        }


def counts_of(cells: Iterable[ComparedCell]) -> dict[str, int]:
    """Return the number of cells by word, in the order of the words."""
    counts = Counter(cell.word for cell in cells)
    return {word: counts[word] for word in WORDS if counts[word]}


def sentence(cells: Sequence[ComparedCell]) -> str:
    """Return the number of cells by word, and that of changed verdicts."""
    counts = ", ".join(f"{count:,} {word}" for word, count in counts_of(cells).items())
    single = sum(cell.word == DIFFERENT and len(cell.now.values) == 1 for cell in cells if cell.now)
    alone = f"; {single:,} of the different ones have one replicate, whose spread is not known" if single else ""
    flips = sum(cell.is_flip for cell in cells)
    verdicts = f"{pluralize(flips, 'verdict')} changed" if flips else "no verdict changed"
    return f"{len(cells):,} numbers: {counts or 'none'}{alone}; {verdicts}."


def compare(reports: Path, papers: Iterable[Paper], revision: str) -> Comparison:
    """Compare every measured cell with that at a revision.

    Raises:
        DiffError: no git repository, or no such revision.
    """
    commit, cells = commit_of(reports, revision), list[ComparedCell]()
    for paper in papers:
        for name in paper.artifacts:
            file = f"{paper.name}/{name}{SUFFIX}"
            now = (reports / file).read_text(encoding="utf-8").strip() if (reports / file).exists() else ""
            then, after = _text_at(reports, file, commit), _read_cells(now)
            cells += compare_cells(f"{paper.name}/{name}", after if then == now else _read_cells(then), after)
    machines = _machines(Made.parse(_text_at(reports, MADE, commit))), _machines(Made.read(reports))
    return Comparison(revision, commit, cells, machines)


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


def _read_cells(text: str) -> list[Cell]:
    """Return the cells of a lineage with this text; none if it is none."""
    try:
        return _RevisionCells.model_validate_json(text).cells
    except ValidationError:
        return []


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
    if now.part:
        return _claim_word(then, now, claims)
    if then.names != now.names or then.value is None or now.value is None:
        return DIFFERENT
    if then.values != now.values:
        return classify(then.values, now.values, spread_of(then.values))
    # a difference has no values of its own; where there are some, the number does not follow from them as it did
    return classify([then.value], [now.value], 0.0 if now.values else then.spread or 0.0)


def _claim_word(then: Cell, now: Cell, claims: Mapping[Place, str]) -> str:
    """Return the word for a part of a claim that is not identical: the gravest of the values that it rests on."""
    rests_on = (
        word
        for (row, benchmark), word in claims.items()
        if benchmark == now.benchmark and (row == now.row or now.part in FAMILY_PARTS)
    )
    gravest = max(rests_on, key=WORDS.index, default=DIFFERENT)
    if gravest == IDENTICAL:  # evidence has six digits
        return LAST_DIGITS if then.text == now.text else DIFFERENT
    return gravest


def _evidence_word(then: Cell, now: Cell) -> str:
    """Return the gravest word of the values behind a verdict."""
    if then.evidence is None or now.evidence is None:
        return IDENTICAL if then.text == now.text else DIFFERENT
    before, after = then.evidence.values, now.evidence.values
    if {side: values.keys() for side, values in before.items()} != {side: v.keys() for side, v in after.items()}:
        return DIFFERENT
    if now.metric.startswith(COST_PREFIX):
        return IDENTICAL if before == after else COST
    sides = (([*before[side].values()], [values[seed] for seed in before[side]]) for side, values in after.items())
    return max((classify(one, other, spread_of(one)) for one, other in sides), key=WORDS.index, default=IDENTICAL)


def _machines(made: Made) -> list[str]:
    """Return the kinds of machines that computed runs and evaluations, the most frequent first."""
    computed = ("runs/", "evaluations/")
    kinds = Counter(build.processor for key, build in made.builds.items() if key.startswith(computed))
    return [text for text, _ in kinds.most_common()]


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
    for cell in comparison.beyond[:MOST]:
        print_line(console, ("different", "bold red"), f": {cell}")
    if more := comparison.beyond[MOST:]:
        print_line(console, f"and {len(more)} more (--json names all)")
    if comparison.machines[0] != comparison.machines[1]:
        for time, machines in zip(("then", "now"), comparison.machines, strict=True):
            print_line(console, f"computed by {' and '.join(machines) or 'unknown machines'} {time}")
    for paper in dict.fromkeys(cell.artifact.partition("/")[0] for cell in comparison.cells):
        cells = [cell for cell in comparison.cells if cell.artifact.startswith(f"{paper}/")]
        print_line(console, f"{paper}: {sentence(cells)}")
    print_line(console, f"compared with {comparison.revision} ({comparison.commit[:12]}): {sentence(comparison.cells)}")
    if comparison.is_same:
        print_line(console, ("the same numbers", "bold green"))
        return 0
    print_line(console, ("different numbers", "bold red"))
    return 1
