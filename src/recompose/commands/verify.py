"""`verify`: runs of the reports are made again from nothing, in a folder of their own, and compared.

The runs are drawn at random, all with the same probability. An evaluation of an untrained model counts as a run. Bytes
are compared with the digests in the reports, and numbers with ``provenance.json``.
"""

import os
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from math import comb, floor, inf
from multiprocessing import get_context
from pathlib import Path
from random import Random

from rich.console import Console

from recompose import phases
from recompose.commands.against import commit_of, spread_of
from recompose.commands.places import CellPlace
from recompose.console import first, print_line
from recompose.costs import processes
from recompose.data.raw import PARTIAL
from recompose.data.upstream import LOCK
from recompose.errors import PlanError, RecomposeError
from recompose.interrupts import end_children
from recompose.parts.cells import Cell
from recompose.progress import be_quiet, say
from recompose.recipes.locks import LOCKS
from recompose.recipes.plan import Recipe, closure
from recompose.tables.provenance import MADE
from recompose.tables.published import Published
from recompose.tables.reports import Reports
from recompose.tables.stored_results import StoredResults
from recompose.workspace import Workspace

BYTES, DIFFERS, UNPLANNED, FAILED = OUTCOMES = ("equal to the byte", "different", "not planned any more", "failed")
WRONG = 0.2  # the share of wrong runs for which the probability of detection is stated
MINUTES = 5.0  # in which runs are begun, where neither a number nor a time is given
SHOWN = 10  # lines of a run
Runs = Mapping[str, Sequence[str]]  # key of a run -> keys of its evaluations


@dataclass
class Rerun:
    """A run that was made again, and what the comparison gave."""

    title: str
    outcome: str = BYTES
    details: list[str] = field(default_factory=list)  # a line for each file and number that differ, or the fault


def verify(work: Workspace, cell: str | None, count: int | None, minutes: float | None, seed: str | None) -> int:
    """Make runs again, those behind a cell or some that are drawn, and print what it shows; return the exit code.

    Args:
        work: the workspace.
        cell: the place of a number; None: runs are drawn.
        count: the number of runs at most.
        minutes: the time after which no more runs begin; None: as many as ``count``, or five minutes without one.
        seed: of the draw; None: the digest of the commit.
    """
    published = Published.read(Reports(work))
    cells = published.cells
    runs = runs_behind(published, chain(*cells.values()))
    if cell:
        place = CellPlace.parse(cell, work)
        drawn, how = runs_behind(published, [place.find(cells.get(place.name, []))]), f"runs behind {cell}"
    else:
        seed = seed or commit_of(work.root, "HEAD")  # nobody chooses the draw
        minutes = minutes or (inf if count else MINUTES)
        drawn, how = draw(runs, seed, count), f"of {len(runs)} runs"
        say(f"the seed {seed} draws {len(drawn)} of {len(runs)} runs to be made again from nothing")
    if not drawn:
        message = f"no run is behind {cell or work.reports_place}, or it was not made: snakemake --cores all"
        raise PlanError(message, code="no-runs", place=cell or work.reports_place)
    reruns = make_again(work, published, drawn, minutes or inf)
    console = Console()
    for rerun in reruns:
        if rerun.outcome != BYTES:
            print_line(console, f"{rerun.title}: {rerun.outcome}")
            for line in first(rerun.details, SHOWN):
                print_line(console, f"  {line}")
    print_line(console, (f"{len(reruns)} {how} made again: {sentence(reruns, 0 if cell else len(runs))}", "bold"))
    return exit_code(reruns)


def runs_behind(published: Published, cells: Iterable[Cell]) -> Runs:
    """Return the runs behind cells, with the evaluations of each."""
    runs: dict[str, list[str]] = {}
    for key in sorted({key for cell in cells for key in cell.made_from} & published.recipes.keys()):
        if published.recipes[key].kind == "evaluations":
            run = published.recipes[key].needs.get("run")
            runs.setdefault(run.key if run else key, []).append(key)
    return runs


def draw(runs: Runs, seed: str, count: int | None = None) -> Runs:
    """Return runs in random order, which the seed decides; None: all."""
    return {key: runs[key] for key in Random(seed).sample(sorted(runs), len(runs))[:count]}


def make_again(work: Workspace, published: Published, runs: Runs, minutes: float = inf) -> list[Rerun]:
    """Make runs again from nothing, several at a time, and compare them with the reports.

    After so many minutes, no more are begun.
    """
    titles = {run: f"{published.recipes[run].name} ({run})" for run in runs}
    planned = {run: keys for run, keys in runs.items() if work.plan.by_key.keys() >= {*keys}}
    reruns = [Rerun(titles[run], UNPLANNED) for run in runs if run not in planned]
    deadline, count = time.monotonic() + 60 * minutes, min(processes(work), len(planned)) or 1
    with _separate_folder(work) as folder, ProcessPoolExecutor(count, get_context("fork"), _begin) as pool:
        rerun = _workspace(work.root, folder)
        recipes = {run: [rerun.plan.by_key[key] for key in keys] for run, keys in planned.items()}  # before the fork
        tasks = {pool.submit(_make, work.root, folder, keys, deadline): run for run, keys in planned.items()}
        try:
            for task in as_completed(tasks):
                title, error = titles[tasks[task]], task.exception()
                if error:
                    fault = str(error) if isinstance(error, RecomposeError) else f"{type(error).__name__}: {error}"
                    reruns.append(Rerun(title, FAILED, [fault]))
                elif task.result():
                    reruns.append(_compare(published, rerun, title, recipes[tasks[task]]))
                else:  # it was too late
                    continue
                say(f"{len(reruns)}/{len(runs)} {title}: {reruns[-1].outcome}")
        except BaseException:  # an interrupt
            end_children()
            raise
    return reruns


@contextmanager
def _separate_folder(work: Workspace) -> Iterator[Path]:
    """Enter a temporary folder without results, which is removed at the end.

    Published raw files are those of the project, which were verified when they were acquired; generated ones are
    generated again. What is missing of published ones may be put into the project's folders, so their locks are the
    project's, too, unless nobody can write there.
    """
    with tempfile.TemporaryDirectory(prefix="recompose-verify-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        generated = {f"{recipe.name}-{recipe.folder}" for recipe in work.plan.of("data")}
        (folder / "data").mkdir()
        for path in work.data.iterdir() if work.data.is_dir() else ():
            if path.name not in generated and path.suffix != PARTIAL and not path.name.startswith("."):
                (folder / "data" / path.name).symlink_to(path.resolve())
        if os.access(work.data, os.W_OK):
            (work.data / LOCKS).mkdir(exist_ok=True)
            (folder / "data" / LOCKS).symlink_to((work.data / LOCKS).resolve())
        if (work.root / LOCK).exists():
            shutil.copy2(work.root / LOCK, folder)
        yield folder


@cache
def _workspace(root: Path, folder: Path) -> Workspace:
    """Return the workspace with its results in a folder; processes inherit it."""
    return Workspace(root, folder=folder)


def _begin() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    be_quiet()


def _make(root: Path, folder: Path, evaluations: Iterable[str], deadline: float) -> bool:
    """Make evaluations with all that they need; return false if it is too late to begin."""
    work, is_due = _workspace(root, folder), time.monotonic() < deadline
    if is_due:
        phases.make(work, closure(work.plan.by_key[key] for key in evaluations))
    return is_due


def _compare(published: Published, rerun: Workspace, title: str, evaluations: list[Recipe]) -> Rerun:
    """Compare a run that was made again with the reports."""
    details: list[str] = []
    for recipe in closure(evaluations):
        then, now = published.made.get(recipe.key), rerun.store.record(recipe).build
        if not (then and then.files):
            details.append(f"{MADE} does not tell the files of {recipe.key}")
        elif files := sorted(name for name in then.files | now.files if then.files.get(name) != now.files.get(name)):
            details.append(f"{', '.join(files)} of {recipe.key} differ")
        if recipe.kind == "evaluations":
            details += _differing_numbers(published, rerun, recipe)
    return Rerun(title, DIFFERS if details else BYTES, details)


def _differing_numbers(published: Published, rerun: Workspace, evaluation: Recipe) -> Iterator[str]:
    """Yield a line for each metric of an evaluation that the reports show with another value, with the spread of its
    replicates.
    """
    key, labels, values = evaluation.key, evaluation.labels, published.values
    cells = (cell for of_artifact in published.cells.values() for cell in of_artifact if key in cell.made_from)
    then, now = values.get(key, {}), StoredResults(rerun).computed(evaluation)
    replicates = [each.key for each in rerun.plan.evaluations(evaluation.track, labels["name"], labels["dataset"])]
    for metric in sorted(now.keys() & {cell.metric for cell in cells}):
        if then.get(metric) != now[metric]:
            spread = spread_of([values[each][metric] for each in replicates if metric in values.get(each, {})])
            numbers = f"{then.get(metric, 'nothing')} in the reports, {now[metric]} now"
            yield "; ".join(filter(None, (f"{metric} of {key}: {numbers}", spread)))


def exit_code(reruns: Iterable[Rerun]) -> int:
    """Return 0 where there are reruns and all are equal to the byte, otherwise 1."""
    return 0 if {rerun.outcome for rerun in reruns} == {BYTES} else 1


def sentence(reruns: Sequence[Rerun], total: int) -> str:
    """Return what reruns show: also the probability that wrong runs would have been drawn, where none is wrong.

    Args:
        reruns: what was made again.
        total: the number of runs that it was drawn from; 0: it was not drawn.
    """
    if exit_code(reruns):
        outcomes = Counter(rerun.outcome for rerun in reruns)
        counts = ", ".join(f"{outcomes[name]} {name}" for name in OUTCOMES if outcomes[name])
        return f"{counts or 'nothing is shown'}."
    if not total:
        return "all equal to the byte."
    percent = floor(100 * detection(total, len(reruns)))
    return (
        f"all equal to the byte. Had {WRONG:.0%} of runs been wrong, this would have been seen with {percent}% "
        "probability."
    )


def detection(runs: int, drawn: int) -> float:
    """Return the probability that a sample has a wrong run, if a share ``WRONG`` of all runs, at random, is wrong.

    The number of wrong runs in a sample is hypergeometric. Their number is rounded down, but at least one is wrong.

    >>> round(detection(276, 7), 3), detection(10, 9), detection(5, 0)
    (0.793, 1.0, 0.0)
    """
    return 1 - comb(runs - max(int(WRONG * runs), 1), drawn) / comb(runs, drawn)
