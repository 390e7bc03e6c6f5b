"""Verification by rerunning: runs of the reports are made again from nothing, in a folder of their own.

The runs are drawn at random. They are made by processes that are forked from this one, one for each core.
"""

import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from math import inf
from multiprocessing import get_context
from pathlib import Path

from recompose import phases
from recompose.costs import Costs, processes
from recompose.data.lock import LOCK
from recompose.errors import PlanError, ProgramError, RecomposeError, TraceError
from recompose.interrupts import end_children
from recompose.plan import Recipe, closure
from recompose.programs import git
from recompose.progress import be_quiet, say
from recompose.provenance.cell_place import CellPlace
from recompose.provenance.rerun import (
    BYTES,
    DIFFERS,
    FAILED,
    OTHER_MACHINE,
    UNPLANNED,
    RerunComparer,
    RerunComparison,
)
from recompose.provenance.sampling import WRONG, ReportedRuns, detection, draw
from recompose.report.published import PublishedLineage
from recompose.report.retraining import RetrainingSpreads
from recompose.workspace import SeparateWorkspace, Workspace

START = 15.0  # seconds until a process has imported torch
UNKNOWN = 60.0  # seconds assumed for a recipe without an estimate
EQUAL, UNEQUAL, ELSEWHERE = 0, 1, 3  # exit codes; 3: other bytes on another machine
NO_REPORTS = "{} has no numbers that rest on runs; make the reports first: snakemake --cores all"


@dataclass(frozen=True)
class Sample:
    """The runs to make again, in the order in which they were drawn."""

    runs: dict[str, tuple[str, ...]]  # key of a run -> keys of its evaluations
    total: int  # runs behind the reports
    seed: str = ""  # of the draw; empty: the runs of a cell
    cell: str = ""
    seconds: float = 0.0  # estimated, on an otherwise idle machine
    limit: float = inf  # seconds after which no run is begun
    unplanned: tuple[str, ...] = ()  # runs that the parameters and the code do not ask for any more


@dataclass(frozen=True)
class Verification:
    """The comparisons of all runs that were made again."""

    sample: Sample
    comparisons: list[RerunComparison] = field(default_factory=list)
    has_spreads: bool = False  # retraining was measured
    pulled: dict[str, str] = field(default_factory=dict)  # key of a backbone that was pulled -> its origin
    others: Counter[str] = field(default_factory=Counter)  # what the runs needed and was made again, by kind
    folder: Path | None = None  # of the results, if they are kept

    @property
    def unmade(self) -> int:
        """The number of runs that were not begun, because the time was over."""
        return len(self.sample.runs) - len(self.comparisons)

    @property
    def outcomes(self) -> Counter[str]:
        """The number of runs by outcome."""
        return Counter(comparison.outcome for comparison in self.comparisons)

    @property
    def detection(self) -> float | None:
        """The probability that this would have shown a wrong run, if a share of all was wrong; None without a draw."""
        compared = sum(self.outcomes[outcome] for outcome in (BYTES, OTHER_MACHINE))
        return detection(self.sample.total, compared) if self.sample.seed else None

    @property
    def exit_code(self) -> int:
        """0 where all is equal to the byte, 3 where another machine explains all differences, otherwise 1."""
        if any(self.outcomes[outcome] for outcome in (DIFFERS, UNPLANNED, FAILED)) or not self.comparisons:
            return UNEQUAL
        return ELSEWHERE if self.outcomes[OTHER_MACHINE] else EQUAL

    def document(self) -> dict[str, object]:
        """Return the verification as plain values."""
        return {
            "runs": self.sample.total,
            "drawn": len(self.sample.runs),
            "unmade": self.unmade,
            "seed": self.sample.seed,
            "cell": self.sample.cell,
            "outcomes": dict(self.outcomes),
            "wrong_share": float(WRONG),
            "detection": self.detection,
            "retraining_measured": self.has_spreads,
            "pulled": self.pulled,
            "comparisons": [
                {
                    "run": comparison.run,
                    "name": comparison.name,
                    "outcome": comparison.outcome,
                    "fault": comparison.fault,
                    "numbers": dict(comparison.words),
                    "files": [vars(difference) for difference in comparison.files],
                    "differing": [vars(number) for number in comparison.numbers if number.then != number.now],
                }
                for comparison in self.comparisons
            ],
        }


def commit_seed(root: Path) -> str:
    """Return the digest of the current commit, so that nobody chooses the draw.

    Raises:
        PlanError: the folder is no git repository, or has no commit; the message has git's reason.
    """
    try:
        return git("rev-parse", "--verify", "HEAD", folder=root)
    except ProgramError as error:
        message = f"no commit, whose digest is the seed of the draw; give a seed with --seed ({error})"
        raise PlanError(message, code="no-commit", place=root) from None


def sample_cell(work: Workspace, published: PublishedLineage, place: CellPlace) -> Sample:
    """Return the runs behind a cell.

    Raises:
        TraceError: there is no such cell, or no run is behind it.
    """
    runs = _reported_runs(work, published)
    if place.name not in published.lineages:
        message = f"{work.reports_place} has no artifact {place.name}"
        raise TraceError(message, code="missing-lineage", place=place.name)
    keys = runs.behind(place.find(published.cells(place.name)))
    if not keys:
        message = f"{place.within} of {place.name} follows from data alone; no run is behind it"
        raise TraceError(message, code="no-runs", place=place.within)
    cell = f"{work.reports_place}/{place.name}#{place.within}"
    return _sample(work, runs, keys, cell=cell)


def sample_runs(
    work: Workspace, published: PublishedLineage, seed: str, count: int | None = None, minutes: float = inf
) -> Sample:
    """Return runs drawn at random: the first ones of the draw, until their number or the time is reached.

    Args:
        work: the workspace of the reports.
        published: the reports.
        seed: of the draw.
        count: the largest number of runs; None: all.
        minutes: the largest estimated time in which they are made again.

    Raises:
        PlanError: no number rests on runs, or not even the first run fits into the time.
    """
    runs = _reported_runs(work, published)
    clock, keys = _Clock(work), list[str]()
    for key in islice(draw(runs.weights, seed), count):
        needed = clock.seconds_with(_recipes(work, runs.evaluations[key]))
        if needed > 60 * minutes:
            break
        clock.add(_recipes(work, runs.evaluations[key]))
        keys.append(key)
    if not keys:
        message = f"the first run that was drawn takes {needed / 60:.1f} minutes; give --minutes {needed // 60 + 1:.0f}"
        raise PlanError(message, code="too-short", place="--minutes")
    return _sample(work, runs, keys, seed=seed, limit=60 * minutes)


def _reported_runs(work: Workspace, published: PublishedLineage) -> ReportedRuns:
    runs = ReportedRuns.of(published)
    if not runs.weights:
        raise PlanError(NO_REPORTS.format(work.reports_place), code="no-reports", place=work.reports_place)
    return runs


def _sample(
    work: Workspace, runs: ReportedRuns, keys: Sequence[str], *, seed: str = "", cell: str = "", limit: float = inf
) -> Sample:
    evaluations = {key: runs.evaluations[key] for key in keys}
    unplanned = tuple(key for key, needs in evaluations.items() if not _is_planned(work, needs))
    clock = _Clock(work)
    for key in keys:
        clock.add(_recipes(work, evaluations[key]))
    return Sample(evaluations, len(runs.weights), seed, cell, clock.seconds, limit, unplanned)


def _is_planned(work: Workspace, evaluations: Iterable[str]) -> bool:
    return all(key in work.plan.by_key for key in evaluations)


def _recipes(work: Workspace, evaluations: Iterable[str]) -> list[Recipe]:
    """Return the planned ones of some evaluations, with all that they need."""
    return list(closure(work.plan.by_key[key] for key in evaluations if key in work.plan.by_key))


class _Clock:
    """The estimated time of runs that are made from nothing by several processes."""

    def __init__(self, work: Workspace) -> None:
        self._costs, self._processes = Costs.of(work, work.plan), processes(work)
        self._seconds: dict[str, float] = {}  # by key

    @property
    def seconds(self) -> float:
        """The estimated time from start to end."""
        return START + sum(self._seconds.values()) / self._processes

    def add(self, recipes: Iterable[Recipe]) -> None:
        """Add recipes; those that were added before cost nothing."""
        self._seconds |= {recipe.key: self._of(recipe) for recipe in recipes if recipe.key not in self._seconds}

    def seconds_with(self, recipes: Iterable[Recipe]) -> float:
        """Return the estimated time with more recipes."""
        more = {recipe.key: self._of(recipe) for recipe in recipes if recipe.key not in self._seconds}
        return self.seconds + sum(more.values()) / self._processes

    def _of(self, recipe: Recipe) -> float:
        estimate = self._costs.estimate(recipe)
        return estimate.seconds if estimate else UNKNOWN


@contextmanager
def separate_workspace(work: Workspace, *, keep: bool) -> Iterator[SeparateWorkspace]:
    """Enter a workspace with empty results in a temporary folder, which is removed at the end unless it is kept.

    Published raw files are those of the project, which were verified when they were acquired; generated ones are
    generated again.
    """
    folder = Path(tempfile.mkdtemp(prefix="recompose-verify-"))
    try:
        generated = {f"{recipe.name}-{recipe.folder}" for recipe in work.plan.of("data")}
        (folder / "data").mkdir()
        for path in work.data.iterdir() if work.data.is_dir() else ():
            if path.name not in generated and not path.name.startswith("."):
                (folder / "data" / path.name).symlink_to(path.resolve())
        if (work.root / LOCK).exists():
            shutil.copy2(work.root / LOCK, folder)
        yield SeparateWorkspace(work.root, work.edits, folder=folder)
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def verify(
    work: Workspace, published: PublishedLineage, sample: Sample, spreads: RetrainingSpreads, *, keep: bool = False
) -> Verification:
    """Make the runs of a sample again from nothing, and compare them.

    Args:
        work: the workspace of the reports.
        published: the reports.
        sample: the runs.
        spreads: what retraining moves.
        keep: keep the folder of the new results.
    """
    comparisons = [
        RerunComparison(key, published.records[key].name, planned=False)
        for key in sample.runs
        if key in sample.unplanned
    ]
    todo = {key: needs for key, needs in sample.runs.items() if key not in sample.unplanned}
    with _ended_by_signals(), separate_workspace(work, keep=keep) as rerun:
        comparer = RerunComparer(work, published, rerun, spreads)
        started, needs = time.monotonic(), {recipe.key: recipe for key in todo for recipe in _recipes(work, todo[key])}
        _ = [recipe.key for recipe in rerun.plan.by_key.values()]  # planned once, for all processes
        # its processes end before the folder is removed
        with closing(_make_all(rerun, todo, started + sample.limit)) as attempts:
            for done, (key, fault) in enumerate(attempts, start=1):
                name = published.records[key].name
                compared = RerunComparison(key, name, fault=fault) if fault else comparer.compare(key, todo[key])
                comparisons.append(compared)
                passed = time.monotonic() - started
                left = max(min(passed / done * (len(todo) - done), sample.limit - passed), 0)
                say(f"{done}/{len(todo)} {name}: {compared.outcome}; about {left / 60:.1f} minutes left")
        made = [recipe for recipe in needs.values() if rerun.store.is_complete(recipe)]
        origins = {recipe.key: rerun.store.record(recipe).made.pulled_from for recipe in made}
        pulled = {key: origin for key, origin in origins.items() if origin}
        others = Counter(
            recipe.kind for recipe in made if recipe.kind not in ("runs", "evaluations") and recipe.key not in pulled
        )
        folder = rerun.folder if keep else None
        return Verification(sample, comparisons, bool(spreads.lines), pulled, others, folder)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let SIGTERM end this process as an interrupt does, so that nothing is left behind."""
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def _make_all(
    rerun: Workspace, runs: dict[str, tuple[str, ...]], deadline: float
) -> Generator[tuple[str, str], None, None]:
    """Make runs with their evaluations, several at a time; yield the key of each with its fault, empty if it has
    none. After the deadline, no more runs are begun.
    """
    if not runs:
        return
    count = min(processes(rerun), len(runs))
    with ProcessPoolExecutor(count, get_context("fork"), _begin, (rerun,)) as pool:
        try:
            futures: dict[Future[str | None], str] = {
                pool.submit(_make, needs, deadline): key for key, needs in runs.items()
            }
            for future in as_completed(futures):
                try:
                    if (fault := future.result()) is not None:
                        yield futures[future], fault
                except BrokenProcessPool:
                    yield futures[future], "its process ended; it may have run out of memory"
        except BaseException:  # an interrupt, here or in the caller
            end_children()
            raise


_separate: list[Workspace] = []  # the workspace of a forked process


def _begin(rerun: Workspace) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    be_quiet()
    _separate[:] = [rerun]


def _make(evaluations: Sequence[str], deadline: float) -> str | None:
    """Make evaluations with all that they need; return the fault, empty if there is none, or None after the deadline,
    which all processes of a machine share.
    """
    if time.monotonic() > deadline:
        return None
    work = _separate[0]
    try:
        phases.make(work, _recipes(work, evaluations))
    except RecomposeError as error:
        return str(error)
    return ""
