"""How everything that the plan needs stands now, cheap enough to ask every other second."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from recompose.costs import Costs
from recompose.engine import Engine
from recompose.errors import DamagedError
from recompose.files import SCRATCH
from recompose.monitor.running import Progress, read_progress
from recompose.papers.declaration import Paper
from recompose.plan import Plan, Recipe, closure
from recompose.store import ATTEMPTS, ERROR
from recompose.workspace import Workspace

STATES = ("done", "running", "waiting", "failed", "interrupted", "tampered")
TRAINED = ("runs", "evaluations")
PAUSE = timedelta(minutes=5)  # without work for longer: what comes after it is another session
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
    seconds_left: float | None = None  # None: nothing is at work, or nothing like what is left was measured
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
    recipes = closure(plan.of_names(paper.track, paper.methods))
    return {recipe.digest for recipe in recipes if recipe.kind in TRAINED}


def session(done: Iterable[tuple[datetime, datetime]], running: Iterable[datetime], now: datetime) -> tuple[int, float]:
    """How many jobs came to their end in the work that goes on now, and for how many seconds it has.

    Args:
        done: when jobs began and ended.
        running: when those at work began.
        now: the time.
    """
    spans = [(*span, 1) for span in done] + [(start, now, 0) for start in running]
    count, began = 0, now
    for start, end, finished in sorted(spans, key=lambda span: span[1], reverse=True):
        if began - end > PAUSE:
            break
        count, began = count + finished, min(began, start)
    return count, (now - began).total_seconds()


class Observer:
    """Looks at a workspace again and again.

    What was found complete and whole is only looked at again where its record changes.
    """

    def __init__(self, work: Workspace, papers: list[Paper]) -> None:
        self._work, self._papers = work, papers
        self._needed = {paper.name: needed_by(work.plan, paper) for paper in papers}
        self._whole: dict[str, tuple[datetime, datetime]] = {}  # key -> begin and end
        self._estimated: tuple[int, dict[str, float]] | None = None  # from how many records
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
            _started(folder / SCRATCH / ATTEMPTS) if state == "running" else None,
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
        made = self._work.store.verify(recipe)["made"]
        started = datetime.fromisoformat(made["started"])
        self._whole[recipe.key] = started, started + timedelta(seconds=made["seconds"])

    def _artifacts(self, paper: Paper) -> str:
        """Done where nothing of them is due."""
        recipes = ((name, self._engine.artifacts[paper.name, name]) for name in paper.artifacts)
        due = any(self._engine.is_due(paper.name, name, recipe) for name, recipe in recipes)
        return "waiting" if due else "done"

    def _pace(self, items: list[Item], now: datetime) -> Pace:
        at_work = [item for item in items if item.state == "running"]
        spans = [span for key, span in self._whole.items() if key.startswith("runs/")]
        finished, seconds = session(spans, [item.started for item in at_work if item.started], now)
        if not at_work:
            return Pace(finished, seconds)
        processes = len(at_work)
        left = [self._left(item, now) for item in items if item.state in ("running", "waiting", "interrupted")]
        seconds_left = [each for each in left if each is not None]
        longest = max((each for item in at_work if (each := self._left(item, now)) is not None), default=0.0)
        total = max(sum(seconds_left) / processes, longest) if seconds_left else None
        return Pace(finished, seconds, processes, total, len(left) - len(seconds_left))

    def _left(self, item: Item, now: datetime) -> float | None:
        """The seconds that a job has left: as it says itself, or as others like it took."""
        progress, known = item.progress, self._estimates.get(item.key)
        if item.state == "running" and progress and progress.seconds_left is not None:
            return progress.seconds_left
        if known is None:
            return None
        if item.started:
            return max(known - (now - item.started).total_seconds(), 0.0)
        return known * (1 - progress.done / progress.total) if progress else known

    @property
    def _estimates(self) -> dict[str, float]:
        """What each job will take, by key; made anew where more was measured."""
        if self._estimated is None or self._estimated[0] != len(self._whole):
            plan = self._work.plan
            costs = Costs.of(self._work, plan)
            known = {recipe.key: costs.estimate(recipe) for recipe in plan.recipes}
            self._estimated = len(self._whole), {key: each.seconds for key, each in known.items() if each}
        return self._estimated[1]


def _counts(states: Iterable[str]) -> dict[str, int]:
    counts = Counter(states)
    return {state: counts[state] for state in STATES}


def _started(path: Path) -> datetime | None:
    """When the last attempt began."""
    try:
        return datetime.fromisoformat(path.read_text(encoding="utf-8").splitlines()[-1])
    except (OSError, ValueError, IndexError):
        return None


def _last_lines(path: Path) -> tuple[str, ...]:
    try:
        return tuple(path.read_text(encoding="utf-8", errors="replace").rstrip().splitlines()[-ERROR_LINES:])
    except OSError:
        return ()
