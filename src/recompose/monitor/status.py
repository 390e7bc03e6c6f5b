"""The state of everything that the plan needs, cheap enough to compute every other second."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from recompose.costs import Costs
from recompose.engine import TRAINED, Engine
from recompose.errors import DamagedError
from recompose.monitor.remaining import (
    Forecast,
    Span,
    UnfinishedItem,
    attempt_start,
    remaining,
    session_start,
)
from recompose.monitor.running import Progress, read_progress
from recompose.papers.declaration import Paper
from recompose.plan import Plan, Recipe, closure
from recompose.store import ERROR
from recompose.workspace import Workspace

STATES = ("done", "running", "waiting", "failed", "interrupted", "tampered")
UNFINISHED = ("running", "waiting", "failed", "interrupted")
ERROR_LINES = 5


@dataclass(frozen=True)
class StoreItem:
    """A recipe of the plan and its state in the store."""

    kind: str
    folder: str
    title: str
    state: str
    damage: str = ""
    progress: Progress | None = None  # of a running or interrupted one
    started: datetime | None = None  # the running attempt
    error: tuple[str, ...] = ()  # the last lines of a failure

    @property
    def key(self) -> str:
        """Its place below results/."""
        return f"{self.kind}/{self.folder}"


@dataclass(frozen=True)
class SessionPace:
    """The progress of the current session of work, and its expected end."""

    finished: int = 0  # runs in this session
    seconds: float = 0.0  # since the session began
    processes: int = 0  # that run now
    seconds_left: float | None = None  # None: nothing is left, or no remaining job has an estimate
    unmeasured: int = 0  # remaining jobs without an estimate


@dataclass(frozen=True)
class Status:
    """The state of a whole profile."""

    profile: str
    papers: dict[str, dict[str, int]]  # the number of a paper's runs by state; papers may share runs
    artifacts: dict[str, tuple[str, int]]  # the state of a paper's artifacts, and their number
    steps: list[StoreItem]  # that have to be complete before runs
    runs: list[StoreItem]
    pace: SessionPace

    def items_in(self, *states: str) -> list[StoreItem]:
        """Return the steps and runs in one of these states."""
        return [item for item in [*self.steps, *self.runs] if item.state in states]

    @property
    def is_fine(self) -> bool:
        """True where nothing failed or was tampered with."""
        return not self.items_in("failed", "tampered")

    @property
    def is_over(self) -> bool:
        """True where nothing runs or waits."""
        return not self.items_in("running", "waiting")

    @property
    def change_key(self) -> Any:
        """A value that differs between two states that differ in more than times."""
        positions = [
            (item.state, item.progress and (item.progress.done, item.progress.total)) for item in self.items_in(*STATES)
        ]
        return positions, self.artifacts

    def document(self) -> dict[str, object]:
        """Return the status as plain values."""
        return {
            "profile": self.profile,
            "pace": asdict(self.pace),
            "papers": {
                name: {"runs": counts, "artifacts": dict(zip(("state", "count"), self.artifacts[name], strict=True))}
                for name, counts in self.papers.items()
            },
            "steps": [_plain(item) for item in self.steps],
            "runs": [_plain(item) for item in self.runs],
        }


def _plain(item: StoreItem) -> dict[str, object]:
    return asdict(item) | {"started": item.started and item.started.isoformat()}


def needed_by(plan: Plan, paper: Paper) -> set[str]:
    """Return the digests of the runs and evaluations that a paper needs, under whatever name they were planned."""
    recipes = closure(plan.evaluations_of(paper.track, paper.methods))
    return {recipe.digest for recipe in recipes if recipe.kind in TRAINED}


class Observer:
    """An observer of a workspace that is asked again and again.

    It reads a complete folder again only where its record changed.
    """

    def __init__(self, work: Workspace, papers: list[Paper]) -> None:
        self._work, self._papers = work, papers
        self._needed = {paper.name: needed_by(work.plan, paper) for paper in papers}
        self._whole: dict[str, Span] = {}  # by key
        self._cached: tuple[datetime | None, int, Forecast] | None = None  # with its session and number of records
        self._engine = Engine(work)

    def look(self, now: datetime | None = None) -> Status:
        """Return the current status."""
        recipes, items = self._work.plan.recipes, self.items()
        states = {recipe.digest: item.state for recipe, item in zip(recipes, items, strict=True)}
        return Status(
            self._work.params.profile,
            {name: _counts(states[digest] for digest in needed) for name, needed in self._needed.items()},
            {paper.name: (self._artifacts(paper), len(paper.artifacts)) for paper in self._papers},
            [item for item in items if item.kind not in TRAINED],
            [item for item in items if item.kind in TRAINED],
            self._pace(items, now or datetime.now(UTC)),
        )

    def items(self) -> list[StoreItem]:
        """Return the current state of everything that the plan needs, in its order."""
        return [self._item(recipe) for recipe in self._work.plan.recipes]

    def _item(self, recipe: Recipe) -> StoreItem:
        folder = self._work.store.folder(recipe)
        state, damage = self._state(recipe)
        return StoreItem(
            recipe.kind,
            recipe.folder,
            recipe.name,
            state,
            damage,
            read_progress(folder) if state in ("running", "interrupted") else None,
            attempt_start(folder) if state == "running" else None,
            _last_lines(folder / ERROR) if state == "failed" else (),
        )

    def _state(self, recipe: Recipe) -> tuple[str, str]:
        """Return the state of a recipe, and the damage to its files."""
        store = self._work.store
        if not store.is_complete(recipe):
            if store.is_being_made(recipe):
                return "running", ""
            if not store.is_complete(recipe):  # it may have become complete just now
                folder = store.folder(recipe)
                return ("failed" if (folder / ERROR).exists() else "interrupted" if folder.exists() else "waiting"), ""
        try:
            self._check(recipe)
        except DamagedError as error:
            return "tampered", str(error)
        except FileNotFoundError:  # it is being discarded
            return "waiting", ""
        return "done", ""

    def _check(self, recipe: Recipe) -> None:
        """Verify a complete folder's files and remember its span; untouched files are not read again.

        Raises:
            DamagedError: a file is missing or was changed.
        """
        self._whole[recipe.key] = Span.of(recipe, self._work.store.verify(recipe).made)

    def _artifacts(self, paper: Paper) -> str:
        """Return "done" where no artifact of the paper is due."""
        recipes = ((name, self._engine.artifacts[paper.name, name]) for name in paper.artifacts)
        due = any(self._engine.receipts.is_due(paper.name, name, recipe) for name, recipe in recipes)
        return "waiting" if due else "done"

    def _pace(self, items: list[StoreItem], now: datetime) -> SessionPace:
        recipes = self._work.plan.by_key
        unfinished = [_unfinished(recipes[item.key], item) for item in items if item.state in UNFINISHED]
        running = [item.started for item in unfinished if item.started]
        work_left = remaining(self._engine, self._forecast(running, unfinished, now), self._spans, unfinished, now)
        processes = sum(item.running for item in unfinished)
        seconds = work_left.seconds if work_left.jobs else None
        return SessionPace(work_left.finished, work_left.session_seconds, processes, seconds, work_left.unknown)

    @property
    def _spans(self) -> list[Span]:
        return list(self._whole.values())

    def _forecast(self, running: list[datetime], unfinished: list[UnfinishedItem], now: datetime) -> Forecast:
        """Return the forecast of this session; a new one where the session, or the set of known times, changed."""
        start = session_start(self._spans, running, now)
        session = start if start < now else None
        if self._cached:
            same, records, forecast = self._cached
            unknown = any(forecast.seconds(item.recipe, 1) is None for item in unfinished)
            if same == session and (records == len(self._whole) or not unknown):
                return forecast
        forecast = Forecast(Costs.of(self._work, self._work.plan), start)
        self._cached = session, len(self._whole), forecast
        return forecast


def _unfinished(recipe: Recipe, item: StoreItem) -> UnfinishedItem:
    return UnfinishedItem(recipe, item.state == "running", item.state == "failed", item.started, item.progress)


def _counts(states: Iterable[str]) -> dict[str, int]:
    counts = Counter(states)
    return {state: counts[state] for state in STATES}


def _last_lines(path: Path) -> tuple[str, ...]:
    try:
        return tuple(path.read_text(encoding="utf-8", errors="replace").rstrip().splitlines()[-ERROR_LINES:])
    except OSError:
        return ()
