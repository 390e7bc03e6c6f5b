"""`verify`: runs of the reports are made again from nothing, in a folder of their own, and compared.

The runs are drawn at random, all with the same probability. An evaluation of an untrained model counts as a run. Bytes
are compared with the digests in the reports. Where another kind of machine explains other bytes, numbers are judged by
the words of `audit --against`.
"""

import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from math import comb, floor, inf
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import mean

from rich.console import Console

from recompose import phases
from recompose.commands.against import DIFFERENT, WORDS, classify, commit_of, spread_of
from recompose.commands.places import CellPlace, within
from recompose.console import first, pluralize, print_line
from recompose.costs import processes
from recompose.data.upstream import LOCK
from recompose.errors import PlanError, RecomposeError, TraceError
from recompose.interrupts import end_children
from recompose.metric_cache import COST, MetricCache
from recompose.parts.cells import DIFFERENCE, Cell
from recompose.plan import Recipe, closure
from recompose.progress import be_quiet, say
from recompose.records import BuildInfo
from recompose.tables.lineage import MADE
from recompose.tables.published import PublishedLineage
from recompose.workspace import Workspace

BYTES, OTHER_MACHINE, DIFFERS, UNPLANNED, FAILED = OUTCOMES = (
    "equal to the byte",
    "other bytes on another machine",  # and no number that is different
    "different",
    "not planned any more",
    "failed",
)
EXACT = ("data", "pixels")  # kinds that have the same bytes on all machines
EQUAL, UNEQUAL, ELSEWHERE = 0, 1, 3  # exit codes; 3: other bytes on another machine
WRONG = 0.2  # the share of wrong runs for which the probability of detection is stated
MINUTES = 5.0  # in which runs are begun, where neither a number nor a time is given
SHOWN = 10  # lines of a run


@dataclass(frozen=True)
class Rerun:
    """A run that was made again, and what the comparison gave."""

    run: str
    name: str
    outcome: str
    details: tuple[str, ...] = ()  # a line for each file and number that differ, or the fault
    machines: tuple[str, ...] = ()  # how the machine differs from that of the reports
    words: Mapping[str, int] = field(default_factory=dict)  # of numbers


@dataclass(frozen=True)
class Verification:
    """Runs that were drawn, or that are behind a cell, and what those gave that were made again."""

    runs: Mapping[str, tuple[str, ...]]  # key of a run -> keys of its evaluations, in the order of the draw
    total: int  # runs behind the reports
    seed: str = ""  # of the draw; empty: the runs of a cell
    cell: str = ""
    minutes: float = inf  # after which no run is begun
    reruns: tuple[Rerun, ...] = ()

    @property
    def outcomes(self) -> Counter[str]:
        """The number of runs by outcome."""
        return Counter(rerun.outcome for rerun in self.reruns)

    @property
    def exit_code(self) -> int:
        """0 where all is equal to the byte, 3 where another machine explains all differences, otherwise 1."""
        if not self.reruns or self.outcomes.keys() - {BYTES, OTHER_MACHINE}:
            return UNEQUAL
        return ELSEWHERE if self.outcomes[OTHER_MACHINE] else EQUAL

    @property
    def sentence(self) -> str:
        """What this shows: also the probability that wrong runs would have been drawn, where none is wrong."""
        outcomes, unmade = self.outcomes, len(self.runs) - len(self.reruns)
        scope = f"of {self.total} runs" if self.seed else f"runs behind {self.cell}"
        late = f" ({unmade} more were drawn, but the time was over)" if unmade and self.minutes < inf else ""
        parts = [f"{outcomes[name]} {name}" for name in OUTCOMES if outcomes[name]] or ["nothing is shown"]
        text = "all equal to the byte" if outcomes.keys() == {BYTES} else ", ".join(parts)
        beyond = ""
        if outcomes[OTHER_MACHINE]:
            facts = "; ".join(dict.fromkeys(fact for rerun in self.reruns for fact in rerun.machines))
            words = sum((Counter(rerun.words) for rerun in self.reruns), Counter[str]())
            counts = ", ".join(f"{words[word]:,} {word}" for word in WORDS if words[word])
            text += f" ({facts}). {words.total():,} numbers: {counts}"
            beyond = " by more than the spread of replicates"
        text = f"{len(self.reruns)} {scope} made again{late}: {text}."
        if not self.seed or self.exit_code == UNEQUAL:
            return text
        percent = floor(100 * detection(self.total, len(self.reruns)))
        return (
            f"{text} Had {WRONG:.0%} of runs been wrong{beyond}, this would have been seen with {percent}% probability."
        )


def detection(runs: int, drawn: int) -> float:
    """Return the probability that a sample has a wrong run, if a share ``WRONG`` of all runs, at random, is wrong.

    The number of wrong runs in a sample is hypergeometric. Their number is rounded down, but at least one is wrong.

    >>> round(detection(276, 7), 3), detection(10, 9), detection(5, 0)
    (0.793, 1.0, 0.0)
    """
    return 1 - comb(runs - max(int(WRONG * runs), 1), drawn) / comb(runs, drawn)


def verify(work: Workspace, cell: str | None, count: int | None, minutes: float | None, seed: str | None) -> int:
    """Make runs again, those behind a cell or some that are drawn, and print what it shows; return the exit code.

    Args:
        work: the workspace.
        cell: the place of a number; None: runs are drawn.
        count: the number of runs at most.
        minutes: the time after which no more runs begin; None: as many as ``count``, or five minutes without one.
        seed: of the draw; None: the digest of the commit.
    """
    published = PublishedLineage.read(work, work.papers)
    if cell:
        drawn = runs_behind(work, published, CellPlace.parse(cell, work))
    else:
        seed = seed or commit_of(work.root, "HEAD")  # nobody chooses the draw
        drawn = draw(work, published, seed, count, minutes or (inf if count else MINUTES))
    how = f"the runs behind {cell}" if cell else f"drawn by the seed {seed}"
    until = f", as many as are begun in {drawn.minutes:g} minutes" if drawn.minutes < inf else ""
    by = pluralize(processes(work), "process", "processes")
    say(f"{len(drawn.runs)} of {drawn.total} runs, {how}, are made again from nothing by {by}{until}")
    verification = make_again(work, published, drawn)
    console = Console()
    for rerun in verification.reruns:
        if rerun.outcome not in (BYTES, OTHER_MACHINE):
            print_line(console, f"{rerun.name} ({rerun.run}): {rerun.outcome}")
            for line in first(rerun.details, SHOWN):
                print_line(console, f"  {line}")
    print_line(console, (verification.sentence, "bold"))
    return verification.exit_code


def draw(work: Workspace, published: PublishedLineage, seed: str, count: int | None, minutes: float) -> Verification:
    """Return runs in random order, which the seed decides.

    Raises:
        PlanError: no number rests on runs.
    """
    runs = _reported_runs(work, published)
    keys = Random(seed).sample(sorted(runs), len(runs))[:count]
    return Verification({key: runs[key] for key in keys}, len(runs), seed, minutes=minutes)


def runs_behind(work: Workspace, published: PublishedLineage, place: CellPlace) -> Verification:
    """Return the runs behind a cell.

    Raises:
        PlanError: no number rests on runs.
        TraceError: there is no such cell, or no run is behind it.
    """
    runs = _reported_runs(work, published)
    if place.name not in published.lineages:
        message = f"{work.reports_place} has no artifact {place.name}"
        raise TraceError(message, code="missing-lineage", place=place.name)
    made_from = {*place.find(published.cells(place.name)).made_from}
    behind = {run: keys for run, keys in runs.items() if made_from.intersection(keys)}
    if not behind:
        message = f"{place.within} of {place.name} follows from data alone; no run is behind it"
        raise TraceError(message, code="no-runs", place=place.within)
    return Verification(behind, len(runs), cell=f"{work.reports_place}/{place.name}#{place.within}")


def _reported_runs(work: Workspace, published: PublishedLineage) -> dict[str, tuple[str, ...]]:
    """Return the runs behind all measured cells, with the evaluations of each."""
    used = {key for name in published.lineages for cell in published.cells(name) for key in cell.made_from}
    runs: dict[str, tuple[str, ...]] = {}
    for key in sorted(used & published.records.keys()):
        if published.records[key].kind == "evaluations":
            run = published.records[key].needs.get("run")
            name = run.key if run else key
            runs[name] = (*runs.get(name, ()), key)
    if not runs:
        message = f"{work.reports_place} has no numbers that rest on runs; make the reports: snakemake --cores all"
        raise PlanError(message, code="no-reports", place=work.reports_place)
    return runs


def make_again(work: Workspace, published: PublishedLineage, drawn: Verification) -> Verification:
    """Make drawn runs again from nothing, and compare them with the reports."""
    planned = {run: keys for run, keys in drawn.runs.items() if work.plan.by_key.keys() >= {*keys}}
    names = {run: published.records[run].name for run in drawn.runs}
    reruns = [Rerun(run, names[run], UNPLANNED) for run in drawn.runs if run not in planned]
    with _separate_folder(work) as folder:
        rerun = _workspace(work.root, folder)
        for run, fault in _make_all(rerun, planned, drawn.minutes) if planned else ():
            evaluations = [work.plan.by_key[key] for key in planned[run]]
            failed = Rerun(run, names[run], FAILED, (fault,))
            reruns.append(failed if fault else _compare(published, rerun, run, evaluations))
            say(f"{len(reruns)}/{len(drawn.runs)} {names[run]}: {reruns[-1].outcome}")
    return replace(drawn, reruns=tuple(reruns))


@contextmanager
def _separate_folder(work: Workspace) -> Iterator[Path]:
    """Enter a temporary folder without results, which is removed at the end.

    Published raw files are those of the project, which were verified when they were acquired; generated ones are
    generated again.
    """
    with tempfile.TemporaryDirectory(prefix="recompose-verify-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        generated = {f"{recipe.name}-{recipe.folder}" for recipe in work.plan.of("data")}
        (folder / "data").mkdir()
        for path in work.data.iterdir() if work.data.is_dir() else ():
            if path.name not in generated and not path.name.startswith("."):
                (folder / "data" / path.name).symlink_to(path.resolve())
        if (work.root / LOCK).exists():
            shutil.copy2(work.root / LOCK, folder)
        yield folder


@cache
def _workspace(root: Path, folder: Path) -> Workspace:
    """Return a workspace with its results in a folder, planned once before processes are forked."""
    work = Workspace(root, folder=folder)
    _ = [recipe.key for recipe in work.plan.by_key.values()]
    return work


def _make_all(work: Workspace, runs: Mapping[str, tuple[str, ...]], minutes: float) -> Iterator[tuple[str, str]]:
    """Make runs with their evaluations, several at a time; yield the key of each with its fault, empty if it has none.

    After so many minutes, no more runs are begun.
    """
    deadline, count = time.monotonic() + 60 * minutes, min(processes(work), len(runs))
    with ProcessPoolExecutor(count, get_context("fork"), _begin) as pool:
        try:
            futures: dict[Future[str | None], str] = {
                pool.submit(_make, work.root, work.place, keys, deadline): run for run, keys in runs.items()
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


def _begin() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    be_quiet()


def _make(root: Path, folder: Path, evaluations: Iterable[str], deadline: float) -> str | None:
    """Make evaluations with all that they need; return the fault or an empty text, or None after the deadline."""
    if time.monotonic() > deadline:
        return None
    work = _workspace(root, folder)
    try:
        phases.make(work, closure(work.plan.by_key[key] for key in evaluations))
    except RecomposeError as error:
        return str(error)
    return ""


def _compare(published: PublishedLineage, rerun: Workspace, run: str, evaluations: list[Recipe]) -> Rerun:
    """Compare a run that was made again with the reports."""
    details, machines, moved, is_explained = list[str](), dict[str, None](), set[str](), True
    for recipe in closure(evaluations):
        then = published.made.get(recipe.key)
        if not (then and then.files):
            details.append(f"{MADE} does not tell the files of {recipe.key}")
            is_explained = False
            continue
        now = rerun.store.record(recipe).build
        if files := sorted(name for name in then.files | now.files if then.files.get(name) != now.files.get(name)):
            is_exact = recipe.kind in EXACT or (recipe.kind == "backbones" and not recipe.needs)
            facts = [] if is_exact else machine_differences(then, now)
            details.append("; ".join([f"{', '.join(files)} of {recipe.key} differ", *facts]))
            machines |= dict.fromkeys(facts)
            moved |= {recipe.key} if facts else set()
            is_explained &= bool(facts)
    words: Counter[str] = Counter()
    for place, old, new, word in _numbers(published, rerun, evaluations, moved):
        words[word] += 1
        if word == DIFFERENT:
            details.append(f"{place}: {old:.4f} in the reports, {new:.4f} now")
    differs = not is_explained or words[DIFFERENT]
    outcome = DIFFERS if differs else OTHER_MACHINE if machines else BYTES
    return Rerun(run, published.records[run].name, outcome, tuple(details), tuple(machines), words)


def machine_differences(then: BuildInfo, now: BuildInfo) -> list[str]:
    """Return the differences between two machines that change the last digits of sums; the number of cores is none."""
    before, after = (
        {
            "instruction set": made.instruction_set,
            "device": made.device.partition(" x ")[2] or made.device,  # without their number
            "torch": made.packages.get("torch"),
            "numpy": made.packages.get("numpy"),
        }
        for made in (then, now)
    )
    return [f"{name} {before[name]} then, {after[name]} now" for name in before if before[name] != after[name]]


def _numbers(
    published: PublishedLineage, rerun: Workspace, evaluations: list[Recipe], moved: set[str]
) -> Iterator[tuple[str, float, float, str]]:
    """Yield place, old and new value, and word of each number that follows from these evaluations.

    The spread of replicates excuses only values of evaluations that another machine gave other bytes.
    """
    cache = MetricCache(rerun)
    metrics = {recipe.key: (rerun.catalogue[recipe.track], cache.recompute(recipe)) for recipe in evaluations}
    for artifact in published.lineages:
        for cell in published.cells(artifact):
            if metrics.keys().isdisjoint(cell.made_from) or not has_own_values(cell):
                continue
            now = list(cell.values)
            for number, key in enumerate(cell.made_from):
                if key in metrics and cell.metric in metrics[key][1]:
                    track, values = metrics[key]
                    now[number] = track.description_of(cell.metric).factor * values[cell.metric]
            changed = {key for key, a, b in zip(cell.made_from, cell.values, now, strict=True) if a != b}
            spread = spread_of(cell.values) if changed and changed <= moved else 0.0
            words = [classify(cell.values, now, spread)]
            then = mean(cell.values) if cell.value is None else cell.value
            words.append(classify([then], [mean(now)], spread))  # a forged one does not follow from the values
            yield f"{artifact} {within(cell)}", then, mean(now), max(words, key=WORDS.index)


def has_own_values(cell: Cell) -> bool:
    """Return True for a mean over evaluations, each of which has a value; not for a cost, which is measured again."""
    is_measured = bool(cell.metric) and not cell.metric.startswith(COST)
    return is_measured and cell.aggregate != DIFFERENCE and 0 < len(cell.values) == len(cell.made_from)
