"""How everything that the plan needs stands now, cheap enough to ask every other second."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from recompose.files import SCRATCH, read_json
from recompose.monitor.costs import Costs
from recompose.monitor.running import Progress, read_progress
from recompose.papers.declaration import Paper
from recompose.plan import Plan, Recipe, Run
from recompose.receipts import Receipts
from recompose.store import ATTEMPTS, ERROR, KINDS, DamagedError, Store
from recompose.workspace import Workspace

STATES = ("done", "running", "waiting", "failed", "interrupted", "damaged")
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
        """Whether nothing failed or is damaged."""
        return not self.of("failed", "damaged")

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


def runs_of(plan: Plan, paper: Paper) -> set[str]:
    """The digests of the runs that a paper needs, whatever they are called first; with those whose checkpoints they test."""
    methods = paper.methods
    runs = [run for (name, _), planned in plan.measures.items() if name in methods for run in planned]
    return {digest for run in runs for digest in (run.digest, run.checkpoint_of) if digest}


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
    """Looks at a workspace again and again. What was found complete and whole is only looked at again where its record changes."""

    def __init__(self, work: Workspace, papers: list[Paper]) -> None:
        self._work, self._papers = work, papers
        self._needed = {paper.name: runs_of(work.plan, paper) for paper in papers}
        self._whole: dict[tuple[str, str], tuple[int, datetime, datetime]] = {}  # change of a record; begin and end
        self._estimated: tuple[int, dict[tuple[str, str], float]] | None = None  # from how many records
        self._receipts = Receipts(work)

    @cached_property
    def _batch_of(self) -> dict[str, str]:
        return {run.folder: batch.name for batch in self._work.plan.batches for run in batch.runs}

    def look(self, now: datetime | None = None) -> Status:
        """How everything stands now."""
        plan = self._work.plan
        items = {kind: [self._item(kind, each) for each in recipes] for kind, recipes in plan.stored().items()}
        runs = items["runs"]
        states = {run.digest: item.state for run, item in zip(plan.runs, runs, strict=True)}
        return Status(
            self._work.params.profile,
            {name: _counts(states[digest] for digest in needed) for name, needed in self._needed.items()},
            {paper.name: (self._artifacts(paper), len(paper.artifacts)) for paper in self._papers},
            [item for kind in KINDS if kind != "runs" for item in items[kind]],
            runs,
            self._pace(items, now or datetime.now(UTC)),
        )

    def _item(self, kind: str, recipe: Recipe) -> Item:
        store = self._work.store(kind)
        folder, title = store.folder(recipe), recipe.title if isinstance(recipe, Run) else recipe.name
        state, damage = self._state(store, recipe)
        return Item(
            kind,
            recipe.folder,
            title,
            state,
            damage,
            read_progress(folder) if state in ("running", "interrupted") else None,
            _started(folder / SCRATCH / ATTEMPTS) if state == "running" else None,
            _last_lines(folder / ERROR) if state == "failed" else (),
        )

    def _state(self, store: Store, recipe: Recipe) -> tuple[str, str]:
        """The state, and what is damaged."""
        if not store.is_complete(recipe):
            if store.is_being_made(recipe):
                return "running", ""
            if not store.is_complete(recipe):  # nor did it become so just now
                folder = store.folder(recipe)
                return ("failed" if (folder / ERROR).exists() else "interrupted" if folder.exists() else "waiting"), ""
        try:
            self._check(store, recipe)
        except DamagedError as error:
            return "damaged", str(error)
        except FileNotFoundError:  # somebody discards it
            return "waiting", ""
        return "done", ""

    def _check(self, store: Store, recipe: Recipe) -> None:
        """Compare the sizes of a complete folder's files, and keep when it was made.

        Raises:
            DamagedError: a file is missing or has another size.
        """
        key, changed = (store.kind, recipe.folder), store.record_path(recipe).stat().st_mtime_ns
        if self._whole.get(key, (None,))[0] != changed:
            store.verify_sizes(recipe)
            made = store.record(recipe)["made"]
            started = datetime.fromisoformat(made["started"])
            self._whole[key] = changed, started, started + timedelta(seconds=made["seconds"])

    def _artifacts(self, paper: Paper) -> str:
        """Done where their receipt and every file it names are there; their bytes are not read."""
        try:
            named = read_json(self._work.root / self._receipts.of_artifacts(paper.name))
        except (OSError, ValueError):
            return "waiting"
        return "done" if all((self._work.root / name).is_file() for name in named) else "waiting"

    def _pace(self, items: dict[str, list[Item]], now: datetime) -> Pace:
        everything = [item for kind in KINDS for item in items[kind]]
        at_work = [item for item in everything if item.state == "running"]
        spans = [(begin, end) for (kind, _), (_, begin, end) in self._whole.items() if kind == "runs"]
        finished, seconds = session(spans, [item.started for item in at_work if item.started], now)
        processes = len({self._batch_of.get(item.folder, item.folder) for item in at_work})
        if not processes:
            return Pace(finished, seconds)
        left = [self._left(item, now) for item in everything if item.state in ("running", "waiting", "interrupted")]
        known = [each for each in left if each is not None]
        longest = max((each for item in at_work if (each := self._left(item, now)) is not None), default=0.0)
        total = max(sum(known) / processes, longest) if known else None
        return Pace(finished, seconds, processes, total, len(left) - len(known))

    def _left(self, item: Item, now: datetime) -> float | None:
        """The seconds that a job has left: as it says itself, or as others like it took."""
        progress, known = item.progress, self._estimates.get((item.kind, item.folder))
        if item.state == "running" and progress and progress.seconds_left is not None:
            return progress.seconds_left
        if known is None:
            return None
        if item.started:
            return max(known - (now - item.started).total_seconds(), 0.0)
        return known * (1 - progress.done / progress.total) if progress else known

    @property
    def _estimates(self) -> dict[tuple[str, str], float]:
        """What each job will take, by kind and folder; made anew where more was measured."""
        if self._estimated is None or self._estimated[0] != len(self._whole):
            costs, plan = Costs.of(self._work, self._work.plan), self._work.plan
            found = {
                (kind, each.folder): known.seconds
                for kind, recipes in plan.stored().items()
                for each in recipes
                if (known := costs.estimate(kind, each))
            }
            self._estimated = len(self._whole), found
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
