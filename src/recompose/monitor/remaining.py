"""The time that is left: of each thing to make, and from now to the end of all of them.

What is expected rests on what was known before this session of work began. How its finished jobs compare with that,
once there is enough of them, corrects what is left: a busy neighbour slows everything alike.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from recompose.costs import Costs
from recompose.engine import TRAINED, Engine
from recompose.files import SCRATCH
from recompose.monitor.running import Progress, read_progress
from recompose.phases import PHASES, gpus_of
from recompose.plan import Recipe
from recompose.store import ATTEMPTS, ERROR
from recompose.workspace import Workspace

PAUSE = timedelta(minutes=5)  # without work for longer: what comes after it is another session
ENOUGH = 60.0  # seconds of finished work, from which it tells how a session goes
MOMENT = timedelta(seconds=1)  # by which records may tell of a time too early


@dataclass(frozen=True)
class Span:
    """The making of something complete."""

    recipe: Recipe
    started: datetime
    seconds: float
    attempts: int

    @property
    def ended(self) -> datetime:
        """Return when it was complete."""
        return self.started + timedelta(seconds=self.seconds)

    @classmethod
    def of(cls, recipe: Recipe, made: Mapping[str, object]) -> "Span":
        """Return that of a recipe, from how its record says that it was made."""
        started, seconds, attempts = (made[name] for name in ("started", "seconds", "attempts"))
        return cls(recipe, datetime.fromisoformat(str(started)), float(str(seconds)), int(str(attempts)))


@dataclass(frozen=True)
class Unfinished:
    """Something that is not complete."""

    recipe: Recipe
    running: bool = False
    failed: bool = False
    started: datetime | None = None  # the attempt that runs
    progress: Progress | None = None  # of what runs, or was interrupted

    @classmethod
    def of(cls, work: Workspace, recipe: Recipe) -> "Unfinished":
        """Return how a recipe of a workspace stands now."""
        folder, running = work.store.folder(recipe), work.store.is_being_made(recipe)
        failed = not running and (folder / ERROR).exists()
        started = attempt_started(folder) if running else None
        return cls(recipe, running, failed, started, None if failed else read_progress(folder))


@dataclass(frozen=True)
class Left:
    """Something left to make, in one process with others of its name."""

    phase: str
    name: str
    seconds: float
    threads: int
    gpus: int


@dataclass(frozen=True)
class Remaining:
    """All that is left."""

    left: tuple[Left, ...]  # for which a time is known
    unknown: int  # for which none is
    cores: int
    finished: int = 0  # runs in this session of work
    session_seconds: float = 0.0

    @property
    def seconds(self) -> float:
        """Return the time from now to the end."""
        return wall(self.left, self.cores)


def wall(left: Iterable[Left], cores: int) -> float:
    """Return the time from start to end: one phase after the other, each no shorter than its longest process takes,
    or than cores and the one GPU have to do.
    """
    phases: dict[str, list[Left]] = {}
    for each in left:
        phases.setdefault(each.phase, []).append(each)
    return sum(_of_phase(members, cores) for members in phases.values())


def _of_phase(left: Sequence[Left], cores: int) -> float:
    named: dict[str, float] = {}
    for each in left:
        named[each.name] = named.get(each.name, 0.0) + each.seconds
    of_cores = sum(each.seconds * min(each.threads, cores) for each in left) / cores
    on_gpu = sum(each.seconds for each in left if each.gpus)
    return max([of_cores, on_gpu, *named.values()], default=0.0)


def attempt_started(folder: Path) -> datetime | None:
    """Return when the last attempt at a folder began."""
    try:
        return datetime.fromisoformat((folder / SCRATCH / ATTEMPTS).read_text(encoding="utf-8").splitlines()[-1])
    except (OSError, ValueError, IndexError):
        return None


def session_began(spans: Iterable[Span], running: Iterable[datetime], now: datetime) -> datetime:
    """Return when the work began that goes on now, or now where none does.

    Args:
        spans: what is complete.
        running: when what is at work began.
        now: the time.
    """
    times = [(span.started, span.ended) for span in spans] + [(start, now) for start in running]
    began = now
    for start, end in sorted(times, key=lambda time: time[1], reverse=True):
        if began - end > PAUSE:
            break
        began = min(began, start)
    return began


class Forecast:
    """An expectation of what things take, by what was known when a session began."""

    def __init__(self, costs: Costs, began: datetime) -> None:
        self.began, self._costs, self._before = began, costs, costs.until(began - MOMENT)
        self._expected: dict[str, float | None] = {}
        self._since: dict[str, float | None] = {}  # of what is like nothing that was known

    def expected(self, recipe: Recipe) -> float | None:
        """Return what was expected of a recipe when the session began."""
        return _kept(self._expected, self._before, recipe)

    def seconds(self, recipe: Recipe, ratio: float) -> float | None:
        """Return what a recipe will take in a session that goes by a ratio; None where nothing like it is known."""
        expected = self.expected(recipe)
        return _kept(self._since, self._costs, recipe) if expected is None else ratio * expected

    def ratio(self, spans: Iterable[Span]) -> float:
        """Return how many times as long as expected the jobs of the session took, or 1 while too few are finished."""
        times = [(span.seconds, self.expected(span.recipe)) for span in spans if span.attempts == 1]
        known = [(seconds, expected) for seconds, expected in times if expected]
        took = sum(seconds for seconds, _ in known)
        return took / sum(expected for _, expected in known) if took >= ENOUGH else 1.0


def _kept(kept: dict[str, float | None], costs: Costs, recipe: Recipe) -> float | None:
    if recipe.digest not in kept:
        estimate = costs.estimate(recipe)
        kept[recipe.digest] = estimate.seconds if estimate else None
    return kept[recipe.digest]


def remaining(
    engine: Engine, forecast: Forecast, spans: Sequence[Span], unfinished: Iterable[Unfinished], now: datetime
) -> Remaining:
    """Return what is left, from what is complete and what is not.

    While something is at work, what failed is not left: nobody makes it again before the next session.
    """
    unfinished = list(unfinished)
    at_work = any(item.running for item in unfinished)
    items = [item for item in unfinished if not (at_work and item.failed)]
    session = [span for span in spans if span.ended > forecast.began]
    ratio = forecast.ratio(session)
    times = [_seconds(item, forecast, ratio, now) for item in items]
    left = (_left(engine, item.recipe, time) for item, time in zip(items, times, strict=True) if time is not None)
    runs = sum(span.recipe.kind == TRAINED[0] for span in session)
    lasted = (now - forecast.began).total_seconds() if session or at_work else 0.0
    return Remaining(tuple(left), times.count(None), os.cpu_count() or 1, runs, lasted)


def _seconds(unfinished: Unfinished, forecast: Forecast, ratio: float, now: datetime) -> float | None:
    """Return the seconds that something has left: as it says itself, or as others like it took."""
    progress = unfinished.progress
    if unfinished.running and progress and progress.seconds_left is not None:
        return progress.seconds_left
    seconds = forecast.seconds(unfinished.recipe, ratio)
    if seconds is None:
        return None
    if unfinished.started:
        return max(seconds - (now - unfinished.started).total_seconds(), 0.0)
    return seconds * (1 - progress.done / progress.total) if progress and progress.total else seconds


def _left(engine: Engine, recipe: Recipe, seconds: float) -> Left:
    trained = recipe.kind in TRAINED
    run = recipe.needs.get("run", recipe)  # what scores a run stands behind it
    name = run.digest if trained else recipe.name
    phase = TRAINED[0] if trained else recipe.kind
    return Left(phase, name, seconds, engine.threads(recipe), gpus_of(engine.work, [recipe]))


def remaining_now(engine: Engine, now: datetime | None = None) -> Remaining:
    """Return what is left of all that a workspace asks for."""
    now, store = now or datetime.now(UTC), engine.work.store
    recipes = [recipe for recipe in engine.work.plan.recipes if recipe.kind in PHASES]
    complete = {recipe.digest for recipe in recipes if store.is_complete(recipe)}
    records = (engine.costs.stored.get(recipe.key) for recipe in recipes if recipe.digest in complete)
    by_digest = {record["digest"]: record["made"] for record in records if record}
    spans = [Span.of(recipe, by_digest[recipe.digest]) for recipe in recipes if recipe.digest in by_digest]
    unfinished = [Unfinished.of(engine.work, recipe) for recipe in recipes if recipe.digest not in complete]
    running = [each.started for each in unfinished if each.started]
    return remaining(engine, Forecast(engine.costs, session_began(spans, running, now)), spans, unfinished, now)
