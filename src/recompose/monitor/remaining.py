"""The remaining time of each item, and of all of them from now to the end.

Estimates rest on what was known before this session of work began. Once enough jobs of the session are finished, the
ratio of their times to their estimates corrects the estimates that remain: a busy neighbour slows everything alike.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from recompose.costs import Costs
from recompose.engine import TRAINED, Engine
from recompose.files import SCRATCH
from recompose.monitor.running import Progress, read_progress
from recompose.phases import PHASES, gpus_of
from recompose.plan import Recipe
from recompose.records import BuildInfo
from recompose.store import ATTEMPTS, ERROR
from recompose.workspace import Workspace

PAUSE = timedelta(minutes=5)  # a longer pause ends a session of work
ENOUGH = 60.0  # seconds of finished work that the correction needs
MOMENT = timedelta(seconds=1)  # the tolerance of recorded start times


@dataclass(frozen=True)
class Span:
    """The time in which a complete recipe was made."""

    recipe: Recipe
    started: datetime
    seconds: float
    attempts: int

    @property
    def ended(self) -> datetime:
        """The time at which it was complete."""
        return self.started + timedelta(seconds=self.seconds)

    @classmethod
    def of(cls, recipe: Recipe, made: BuildInfo) -> "Span":
        """Return the span of a recipe, from the build info in its record."""
        return cls(recipe, datetime.fromisoformat(made.started), made.seconds, made.attempts)


@dataclass(frozen=True)
class UnfinishedItem:
    """A recipe that is not complete, and its state."""

    recipe: Recipe
    running: bool = False
    failed: bool = False
    started: datetime | None = None  # the running attempt
    progress: Progress | None = None  # of a running or interrupted one

    @classmethod
    def of(cls, work: Workspace, recipe: Recipe) -> "UnfinishedItem":
        """Return the current state of a recipe of a workspace."""
        folder, running = work.store.folder(recipe), work.store.is_being_made(recipe)
        failed = not running and (folder / ERROR).exists()
        started = attempt_start(folder) if running else None
        return cls(recipe, running, failed, started, None if failed else read_progress(folder))


@dataclass(frozen=True)
class RemainingJob:
    """A job that is left; jobs of one name run in one process."""

    phase: str
    name: str
    seconds: float
    threads: int
    gpus: int


@dataclass(frozen=True)
class Remaining:
    """All work that is left."""

    jobs: tuple[RemainingJob, ...]  # with an estimate
    unknown: int  # jobs without one
    cores: int
    finished: int = 0  # runs in this session of work
    session_seconds: float = 0.0

    @property
    def seconds(self) -> float:
        """The time from now to the end."""
        return wall_seconds(self.jobs, self.cores)


def wall_seconds(jobs: Iterable[RemainingJob], cores: int) -> float:
    """Return the time from start to end: one phase after the other, each no shorter than its longest process, than
    the work of all cores, and than the work of the one GPU.
    """
    phases: dict[str, list[RemainingJob]] = {}
    for job in jobs:
        phases.setdefault(job.phase, []).append(job)
    return sum(_phase_seconds(members, cores) for members in phases.values())


def _phase_seconds(jobs: Sequence[RemainingJob], cores: int) -> float:
    by_name: dict[str, float] = {}
    for job in jobs:
        by_name[job.name] = by_name.get(job.name, 0.0) + job.seconds
    on_cores = sum(job.seconds * min(job.threads, cores) for job in jobs) / cores
    on_gpu = sum(job.seconds for job in jobs if job.gpus)
    return max([on_cores, on_gpu, *by_name.values()], default=0.0)


def attempt_start(folder: Path) -> datetime | None:
    """Return the start of the last attempt at a folder."""
    try:
        return datetime.fromisoformat((folder / SCRATCH / ATTEMPTS).read_text(encoding="utf-8").splitlines()[-1])
    except (OSError, ValueError, IndexError):
        return None


def session_start(spans: Iterable[Span], running: Iterable[datetime], now: datetime) -> datetime:
    """Return the start of the current session of work, or now where there is none.

    Args:
        spans: of the complete recipes.
        running: the starts of running attempts.
        now: the time.
    """
    times = [(span.started, span.ended) for span in spans] + [(start, now) for start in running]
    earliest = now
    for start, end in sorted(times, key=lambda time: time[1], reverse=True):
        if earliest - end > PAUSE:
            break
        earliest = min(earliest, start)
    return earliest


class Forecast:
    """Expected times, from what was known when a session began."""

    def __init__(self, costs: Costs, start: datetime) -> None:
        self.start, self._costs, self._before = start, costs, costs.until(start - MOMENT)

    def expected(self, recipe: Recipe) -> float | None:
        """Return the seconds that were firmly expected of a recipe when the session began."""
        estimate = self._before.estimate(recipe)
        return estimate.seconds if estimate and estimate.is_firm else None

    def seconds(self, recipe: Recipe, ratio: float) -> float | None:
        """Return the expected seconds, scaled by the session's ratio; None where no similar recipe was timed."""
        if (expected := self.expected(recipe)) is not None:
            return ratio * expected
        estimate = self._costs.estimate(recipe)
        return estimate.seconds if estimate else None

    def ratio(self, spans: Iterable[Span]) -> float:
        """Return the ratio of actual to expected time of the session's jobs, or 1 while too few are finished."""
        times = [(span.seconds, self.expected(span.recipe)) for span in spans if span.attempts == 1]
        timed = [(seconds, expected) for seconds, expected in times if expected]
        took = sum(seconds for seconds, _ in timed)
        return took / sum(expected for _, expected in timed) if took >= ENOUGH else 1.0


def remaining(
    engine: Engine, forecast: Forecast, spans: Sequence[Span], unfinished: Iterable[UnfinishedItem], now: datetime
) -> Remaining:
    """Return the work that is left.

    While anything runs, failed items do not count: nothing makes them again before the next session.
    """
    unfinished = list(unfinished)
    at_work = any(item.running for item in unfinished)
    items = [item for item in unfinished if not (at_work and item.failed)]
    session = [span for span in spans if span.ended > forecast.start]
    ratio = forecast.ratio(session)
    times = [_seconds(item, forecast, ratio, now) for item in items]
    jobs = (
        _remaining_job(engine, item.recipe, time) for item, time in zip(items, times, strict=True) if time is not None
    )
    runs = sum(span.recipe.kind == TRAINED[0] for span in session)
    lasted = (now - forecast.start).total_seconds() if session or at_work else 0.0
    return Remaining(tuple(jobs), times.count(None), os.cpu_count() or 1, runs, lasted)


def _seconds(item: UnfinishedItem, forecast: Forecast, ratio: float, now: datetime) -> float | None:
    """Return the remaining seconds of an item: its own figure where it runs, else the forecast's."""
    progress = item.progress
    if item.running and progress and progress.seconds_left is not None:
        return progress.seconds_left
    seconds = forecast.seconds(item.recipe, ratio)
    if seconds is None:
        return None
    if item.started:
        return max(seconds - (now - item.started).total_seconds(), 0.0)
    return seconds * (1 - progress.done / progress.total) if progress and progress.total else seconds


def _remaining_job(engine: Engine, recipe: Recipe, seconds: float) -> RemainingJob:
    trained = recipe.kind in TRAINED
    run = recipe.needs.get("run", recipe)  # an evaluation is scored in the process of its run
    name = run.digest if trained else recipe.name
    phase = TRAINED[0] if trained else recipe.kind
    return RemainingJob(phase, name, seconds, engine.threads(recipe), gpus_of(engine.work, [recipe]))


def remaining_now(engine: Engine, now: datetime | None = None) -> Remaining:
    """Return the work that is left of everything that a workspace asks for."""
    now, store = now or datetime.now(UTC), engine.work.store
    recipes = [recipe for recipe in engine.work.plan.recipes if recipe.kind in PHASES]
    complete = {recipe.digest for recipe in recipes if store.is_complete(recipe)}
    records = (engine.costs.stored.get(recipe.key) for recipe in recipes if recipe.digest in complete)
    by_digest = {measured.recipe.digest: measured.made for measured in records if measured}
    spans = [Span.of(recipe, by_digest[recipe.digest]) for recipe in recipes if recipe.digest in by_digest]
    unfinished = [UnfinishedItem.of(engine.work, recipe) for recipe in recipes if recipe.digest not in complete]
    running = [item.started for item in unfinished if item.started]
    return remaining(engine, Forecast(engine.costs, session_start(spans, running, now)), spans, unfinished, now)
