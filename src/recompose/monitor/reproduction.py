"""The progress of a workflow by paper, in seconds of work as expected before it began."""

import time
from collections.abc import Iterable
from dataclasses import dataclass

from recompose.engine import Engine
from recompose.monitor.status import Observer, StoreItem
from recompose.papers.declaration import Paper
from recompose.phases import PHASES
from recompose.plan import Recipe, closure
from recompose.report.lineage import lineage_path
from recompose.store import ERROR

PRIOR = 0.1  # of the work: the weight of the expected time against the time that this call takes

Artifacts = list[tuple[str, str]]  # pairs of a paper and the artifact's name


@dataclass(frozen=True)
class Work:
    """Work in expected seconds, and how much of it is done."""

    done: float
    total: float

    @property
    def share(self) -> float:
        """The done part, from 0 to 1; 1 where there is no work."""
        return self.done / self.total if self.total else 1.0


@dataclass(frozen=True)
class PaperProgress:
    """The progress of a paper."""

    name: str
    work: Work  # shared work counts for each paper
    made: tuple[str, ...]  # artifacts
    artifacts: int  # their number


@dataclass(frozen=True)
class Snapshot:
    """The progress of everything at one moment."""

    profile: str
    papers: list[PaperProgress]
    work: Work  # shared work counts once
    written: Artifacts  # since the previous snapshot
    running: list[StoreItem]
    failed: list[StoreItem]  # since it began
    seconds: float  # since it began
    seconds_left: float  # until all runs and evaluations are complete


class Reproduction:
    """A workflow that makes some papers, or everything, observed from its start."""

    def __init__(self, engine: Engine, targets: Iterable[str] = (), wall_share: float | None = None) -> None:
        """Record the state before the workflow begins.

        Args:
            engine: of the workspace.
            targets: the targets of Snakemake's call.
            wall_share: the expected time from start to end for each second of work; None assumes that all cores are
                always busy.
        """
        work = self.work = engine.work
        self.papers = _chosen(work.papers, targets)
        self._engine, self._observer = engine, Observer(work, self.papers)
        self._needed = {paper.name: self._needed_by(paper) for paper in self.papers}
        everything = closure(recipe for recipes in self._needed.values() for recipe in recipes)
        self.recipes = list(everything) if list(targets) else list(work.plan.recipes)
        self._expected = {recipe.key: self._seconds(recipe) for recipe in self.recipes}
        self._made = {
            (paper.name, name): not engine.receipts.is_due(paper.name, name, engine.artifacts[paper.name, name])
            for paper in self.papers
            for name in paper.artifacts
        }
        self._stamps = {artifact: self._stamp(*artifact) for artifact in self._made}
        self._wall_share = wall_share or 1 / getattr(engine.machine, "cores", 1)
        self._began, self._clock = time.time(), time.monotonic()
        self._before = self._sum(self._done_parts(self._observer.items()), self._expected)

    def _needed_by(self, paper: Paper) -> list[Recipe]:
        artifacts = (self._engine.artifacts[paper.name, name] for name in paper.artifacts)
        return [recipe for recipe in closure(artifacts) if recipe.kind in PHASES]

    def _seconds(self, recipe: Recipe) -> float:
        estimate = self._engine.estimate(recipe)
        return estimate.seconds if estimate else self._engine.machine.unknown

    @property
    def profile(self) -> str:
        """The name of the chosen profile."""
        return self.work.params.profile

    @property
    def missing(self) -> list[Recipe]:
        """The recipes to make."""
        return self.work.missing(self.recipes)

    @property
    def seconds_left(self) -> float:
        """The expected time from start to end."""
        return (self._before.total - self._before.done) * self._wall_share

    @property
    def unknown(self) -> int:
        """The number of missing recipes without an estimate."""
        return sum(self._engine.estimate(recipe) is None for recipe in self.missing)

    @property
    def unknown_seconds(self) -> float:
        """The seconds that each of those counts for."""
        return self._engine.machine.unknown

    @property
    def due(self) -> int:
        """The number of artifacts to make."""
        return sum(not made for made in self._made.values())

    def look(self) -> Snapshot:
        """Return the progress now."""
        written, items = self._written(), self._observer.items()  # in this order: artifacts follow what they need
        done, seconds = self._done_parts(items), time.monotonic() - self._clock
        work = self._sum(done, self._expected)
        return Snapshot(
            self.profile,
            [self._progress(paper, done) for paper in self.papers],
            work,
            written,
            [item for item in items if item.state == "running" and item.key in self._expected],
            [item for item in items if item.state in ("failed", "tampered") and self._is_new(item)],
            seconds,
            self._seconds_left(work, seconds),
        )

    def _done_parts(self, items: list[StoreItem]) -> dict[str, float]:
        """Return the done part of each recipe, by key."""
        return {item.key: _part(item) for item in items if item.key in self._expected}

    def _sum(self, done: dict[str, float], keys: Iterable[str]) -> Work:
        keys = list(keys)
        seconds = (self._expected[key] * done[key] for key in keys)
        return Work(sum(seconds), sum(self._expected[key] for key in keys))

    def _progress(self, paper: Paper, done: dict[str, float]) -> PaperProgress:
        work = self._sum(done, (recipe.key for recipe in self._needed[paper.name]))
        made = tuple(name for name in paper.artifacts if self._made[paper.name, name])
        return PaperProgress(paper.name, work, made, len(paper.artifacts))

    def _seconds_left(self, work: Work, seconds: float) -> float:
        """Return the expected time of the remaining work, corrected increasingly by the time of this call."""
        to_do = self._before.total - self._before.done
        done, remaining = max(work.done - self._before.done, 0.0), work.total - work.done
        weighed = PRIOR * to_do + done
        return remaining * (PRIOR * to_do * self._wall_share + seconds) / weighed if weighed else 0.0

    def _written(self) -> Artifacts:
        """Return the artifacts whose lineage, the last file of each, was written since the previous call."""
        stamps = {artifact: self._stamp(*artifact) for artifact in self._stamps}
        written = [artifact for artifact, stamp in stamps.items() if stamp and stamp != self._stamps[artifact]]
        self._stamps = stamps
        self._made |= dict.fromkeys(written, True)
        return written

    def _stamp(self, paper: str, name: str) -> int:
        """Return the inode of the lineage file: each write replaces the file, while Snakemake only touches it later."""
        try:
            return lineage_path(self.work.reports / paper / name).stat().st_ino
        except OSError:
            return 0

    def _is_new(self, item: StoreItem) -> bool:
        """Return true where it failed since this call began; earlier failures are tried again."""
        if item.state == "tampered":
            return True
        try:
            return (self.work.results / item.key / ERROR).stat().st_mtime >= self._began
        except OSError:
            return False


def _chosen(papers: list[Paper], targets: Iterable[str]) -> list[Paper]:
    """Return the papers that targets name, alone or in a path; all where they name none."""
    parts = {part for target in targets for part in target.split("/")}
    return [paper for paper in papers if paper.name in parts] or papers


def _part(item: StoreItem) -> float:
    if item.state == "done":
        return 1.0
    return min(item.progress.done / item.progress.total, 1.0) if item.progress and item.progress.total else 0.0
