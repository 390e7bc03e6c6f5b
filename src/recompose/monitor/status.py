"""The state of everything that the plan needs, cheap enough to compute every other second."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from recompose.costs import Costs
from recompose.errors import DamagedError
from recompose.monitor.remaining import TimeLeft, time_left
from recompose.monitor.running import Progress, read_progress
from recompose.papers.declaration import Paper
from recompose.phases import TRAINED
from recompose.plan import Plan, Recipe, closure
from recompose.report.due import artifact_recipes, is_due
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
    error: tuple[str, ...] = ()  # the last lines of a failure

    @property
    def key(self) -> str:
        """Its place below results/."""
        return f"{self.kind}/{self.folder}"


@dataclass(frozen=True)
class Status:
    """The state of a whole profile."""

    profile: str
    papers: dict[str, dict[str, int]]  # the number of a paper's runs by state; papers may share runs
    artifacts: dict[str, tuple[str, int]]  # the state of a paper's artifacts, and their number
    steps: list[StoreItem]  # that have to be complete before runs
    runs: list[StoreItem]
    left: TimeLeft

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
            "left": asdict(self.left),
            "papers": {
                name: {"runs": counts, "artifacts": dict(zip(("state", "count"), self.artifacts[name], strict=True))}
                for name, counts in self.papers.items()
            },
            "steps": [asdict(item) for item in self.steps],
            "runs": [asdict(item) for item in self.runs],
        }


def needed_by(plan: Plan, paper: Paper) -> set[str]:
    """Return the digests of the runs and evaluations that a paper needs, under whatever name they were planned."""
    recipes = closure(plan.evaluations_of(paper.track, paper.methods))
    return {recipe.digest for recipe in recipes if recipe.kind in TRAINED}


class Observer:
    """An observer of a workspace that is asked again and again."""

    def __init__(self, work: Workspace, papers: list[Paper]) -> None:
        self._work, self._papers = work, papers
        self._needed = {paper.name: needed_by(work.plan, paper) for paper in papers}
        self._cached: tuple[int, Costs] | None = None  # with the number of complete recipes
        self._artifact_recipes = artifact_recipes(work)

    def look(self) -> Status:
        """Return the current status."""
        recipes, items = self._work.plan.recipes, self.items()
        states = {recipe.digest: item.state for recipe, item in zip(recipes, items, strict=True)}
        return Status(
            self._work.params.profile,
            {name: _counts(states[digest] for digest in needed) for name, needed in self._needed.items()},
            {paper.name: (self._artifacts(paper), len(paper.artifacts)) for paper in self._papers},
            [item for item in items if item.kind not in TRAINED],
            [item for item in items if item.kind in TRAINED],
            self._time_left(items),
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
            store.verify(recipe)  # untouched files are not read again
        except DamagedError as error:
            return "tampered", str(error)
        except FileNotFoundError:  # it is being discarded
            return "waiting", ""
        return "done", ""

    def _artifacts(self, paper: Paper) -> str:
        """Return "done" where no artifact of the paper is due."""
        recipes = self._artifact_recipes
        due = any(is_due(self._work, paper, name, recipes[f"{paper.name}/{name}"]) for name in paper.artifacts)
        return "waiting" if due else "done"

    def _time_left(self, items: list[StoreItem]) -> TimeLeft:
        """Return the time that is left; costs are read again where recipes without an estimate may have one by now."""
        done = sum(item.state == "done" for item in items)
        recipes = [self._work.plan.by_key[item.key] for item in items if item.state in UNFINISHED]
        if self._cached:
            number, costs = self._cached
            left = time_left(self._work, costs, recipes)
            if number == done or not left.unknown:
                return left
        self._cached = done, Costs.of(self._work, self._work.plan)
        return time_left(self._work, self._cached[1], recipes)


def _counts(states: Iterable[str]) -> dict[str, int]:
    counts = Counter(states)
    return {state: counts[state] for state in STATES}


def _last_lines(path: Path) -> tuple[str, ...]:
    try:
        return tuple(path.read_text(encoding="utf-8", errors="replace").rstrip().splitlines()[-ERROR_LINES:])
    except OSError:
        return ()
