"""How everything that the plan needs stands now, cheap enough to ask every other second."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from recompose.costs import Costs
from recompose.engine import Engine
from recompose.errors import DamagedError
from recompose.monitor.remaining import (
    Forecast,
    Span,
    Unfinished,
    attempt_started,
    remaining,
    session_began,
)
from recompose.monitor.running import Progress, read_progress
from recompose.papers.declaration import Paper
from recompose.plan import Plan, Recipe, closure
from recompose.store import ERROR
from recompose.workspace import Workspace

STATES = ("done", "running", "waiting", "failed", "interrupted", "tampered")
TRAINED = ("runs", "evaluations")
UNFINISHED = ("running", "waiting", "failed", "interrupted")
ERROR_LINES = 5


@dataclass(frozen=True)
class Item:
    """What a store holds, or will hold, and how it stands."""

    kind: str
    folder: str
    title: str
    state: str
    damage: str = ""
    progress: Progress | None = None  # of what runs, or was interrupted
    started: datetime | None = None  # the attempt that runs
    error: tuple[str, ...] = ()  # the last lines of what failed

    @property
    def key(self) -> str:
        """Its place below results/."""
        return f"{self.kind}/{self.folder}"


@dataclass(frozen=True)
class Pace:
    """How fast runs come to their end, and when the last one will."""

    finished: int = 0  # in this session of work
    seconds: float = 0.0  # that it has lasted
    processes: int = 0  # at work now
    seconds_left: float | None = None  # None: nothing is left, or nothing like it was measured
    unmeasured: int = 0  # jobs left that are not in it, because nothing like them was measured


@dataclass(frozen=True)
class Status:
    """How everything stands."""

    profile: str
    papers: dict[str, dict[str, int]]  # how many of a paper's runs are in each state; papers may share runs
    artifacts: dict[str, tuple[str, int]]  # the state of a paper's artifacts, and how many there are
    steps: list[Item]  # what has to be there before runs
    runs: list[Item]
    pace: Pace

    def of(self, *states: str) -> list[Item]:
        """The steps and runs in one of these states."""
        return [item for item in [*self.steps, *self.runs] if item.state in states]

    @property
    def fine(self) -> bool:
        """Whether nothing failed or was tampered with."""
        return not self.of("failed", "tampered")

    @property
    def over(self) -> bool:
        """Whether nothing runs or waits."""
        return not self.of("running", "waiting")

    @property
    def news(self) -> Any:
        """What has changed where this has; times pass without being news."""
        positions = [
            (item.state, item.progress and (item.progress.done, item.progress.total)) for item in self.of(*STATES)
        ]
        return positions, self.artifacts

    def document(self) -> dict[str, Any]:
        """As plain values."""
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


def _plain(item: Item) -> dict[str, Any]:
    return asdict(item) | {"started": item.started and item.started.isoformat()}


def needed_by(plan: Plan, paper: Paper) -> set[str]:
    """The digests of the runs and evaluations that a paper needs, whatever they are called first."""
    recipes = closure(plan.evaluations_of(paper.track, paper.methods))
    return {recipe.digest for recipe in recipes if recipe.kind in TRAINED}


class Observer:
    """Looks at a workspace again and again.

    What was found complete and whole is only looked at again where its record changes.
    """

    def __init__(self, work: Workspace, papers: list[Paper]) -> None:
        self._work, self._papers = work, papers
        self._needed = {paper.name: needed_by(work.plan, paper) for paper in papers}
        self._whole: dict[str, Span] = {}  # by key
        self._kept: tuple[datetime | None, int, Forecast] | None = None  # of which session, from how many records
        self._engine = Engine(work)

    def look(self, now: datetime | None = None) -> Status:
        """How everything stands now."""
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

    def items(self) -> list[Item]:
        """Return how everything that the plan needs stands now, in its order."""
        return [self._item(recipe) for recipe in self._work.plan.recipes]

    def _item(self, recipe: Recipe) -> Item:
        folder = self._work.store.folder(recipe)
        state, damage = self._state(recipe)
        return Item(
            recipe.kind,
            recipe.folder,
            recipe.name,
            state,
            damage,
            read_progress(folder) if state in ("running", "interrupted") else None,
            attempt_started(folder) if state == "running" else None,
            _last_lines(folder / ERROR) if state == "failed" else (),
        )

    def _state(self, recipe: Recipe) -> tuple[str, str]:
        """The state, and what is wrong with its files."""
        store = self._work.store
        if not store.is_complete(recipe):
            if store.is_being_made(recipe):
                return "running", ""
            if not store.is_complete(recipe):  # nor did it become so just now
                folder = store.folder(recipe)
                return ("failed" if (folder / ERROR).exists() else "interrupted" if folder.exists() else "waiting"), ""
        try:
            self._check(recipe)
        except DamagedError as error:
            return "tampered", str(error)
        except FileNotFoundError:  # somebody discards it
            return "waiting", ""
        return "done", ""

    def _check(self, recipe: Recipe) -> None:
        """Verify a complete folder's files, and keep when it was made; what nobody touched since it was read is not
        read again.

        Raises:
            DamagedError: a file is missing or was changed.
        """
        self._whole[recipe.key] = Span.of(recipe, self._work.store.verify(recipe)["made"])

    def _artifacts(self, paper: Paper) -> str:
        """Done where nothing of them is due."""
        recipes = ((name, self._engine.artifacts[paper.name, name]) for name in paper.artifacts)
        due = any(self._engine.receipts.is_due(paper.name, name, recipe) for name, recipe in recipes)
        return "waiting" if due else "done"

    def _pace(self, items: list[Item], now: datetime) -> Pace:
        recipes = self._work.plan.by_key
        unfinished = [_unfinished(recipes[item.key], item) for item in items if item.state in UNFINISHED]
        running = [each.started for each in unfinished if each.started]
        left = remaining(self._engine, self._forecast(running, unfinished, now), self._spans, unfinished, now)
        processes = sum(each.running for each in unfinished)
        seconds = left.seconds if left.left else None
        return Pace(left.finished, left.session_seconds, processes, seconds, left.unknown)

    @property
    def _spans(self) -> list[Span]:
        return list(self._whole.values())

    def _forecast(self, running: list[datetime], unfinished: list[Unfinished], now: datetime) -> Forecast:
        """What things will take; told anew where another session has begun, or what was unknown may be known now."""
        began = session_began(self._spans, running, now)
        session = began if began < now else None
        if self._kept:
            same, counted, forecast = self._kept
            unknown = any(forecast.seconds(each.recipe, 1) is None for each in unfinished)
            if same == session and (counted == len(self._whole) or not unknown):
                return forecast
        forecast = Forecast(Costs.of(self._work, self._work.plan), began)
        self._kept = session, len(self._whole), forecast
        return forecast


def _unfinished(recipe: Recipe, item: Item) -> Unfinished:
    return Unfinished(recipe, item.state == "running", item.state == "failed", item.started, item.progress)


def _counts(states: Iterable[str]) -> dict[str, int]:
    counts = Counter(states)
    return {state: counts[state] for state in STATES}


def _last_lines(path: Path) -> tuple[str, ...]:
    try:
        return tuple(path.read_text(encoding="utf-8", errors="replace").rstrip().splitlines()[-ERROR_LINES:])
    except OSError:
        return ()
