"""`recompose status`: the state of everything that the plan needs, its progress, and the time that is left."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from recompose.console import clock_duration, new_table, pluralize, print_json, rough_duration
from recompose.costs import Costs, TimeLeft, time_left
from recompose.errors import DamagedError
from recompose.papers.declaration import Paper
from recompose.phases import TRAINED
from recompose.plan import Plan, Recipe, closure
from recompose.progress import Progress, printable, read_progress
from recompose.records import LOG
from recompose.store import ERROR
from recompose.tables.due import artifact_recipes, is_due
from recompose.workspace import Workspace

STYLES = {  # by state
    "done": "green",
    "running": "cyan",
    "waiting": "",
    "failed": "red",
    "interrupted": "yellow",
    "tampered": "red",
}
MOST = {"running": 8, "failed": 3, "tampered": 5, "interrupted": 5}  # items that are shown of each state
ERROR_LINES = 5
BAR = 10  # characters


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
    papers: dict[str, Counter[str]]  # the number of a paper's runs and evaluations by state; papers may share them
    artifacts: dict[str, tuple[str, int]]  # the state of a paper's artifacts, and their number
    items: list[StoreItem]
    left: TimeLeft

    @property
    def steps(self) -> list[StoreItem]:
        """The items that have to be complete before runs."""
        return [item for item in self.items if item.kind not in TRAINED]

    @property
    def runs(self) -> list[StoreItem]:
        """The runs and evaluations."""
        return [item for item in self.items if item.kind in TRAINED]

    def items_in(self, *states: str) -> list[StoreItem]:
        """Return the items in one of these states."""
        return [item for item in self.items if item.state in states]

    @property
    def is_fine(self) -> bool:
        """True where nothing failed or was tampered with."""
        return not self.items_in("failed", "tampered")

    def document(self) -> dict[str, object]:
        """Return the status as plain values."""
        return {
            "profile": self.profile,
            "left": asdict(self.left),
            "papers": {
                name: {
                    "runs": {state: counts[state] for state in STYLES},
                    "artifacts": dict(zip(("state", "count"), self.artifacts[name], strict=True)),
                }
                for name, counts in self.papers.items()
            },
            "steps": [asdict(item) for item in self.steps],
            "runs": [asdict(item) for item in self.runs],
        }


def show_status(work: Workspace, *, as_json: bool) -> int:
    """Print the status of a workspace; return the exit code."""
    status = current_status(work, Costs.of(work, work.plan))
    if as_json:
        print_json(status.document())
    else:
        Console().print(rendered(status))
    return 0 if status.is_fine else 1


def current_status(work: Workspace, costs: Costs) -> Status:
    """Return the status of a workspace; the time that is left rests on these costs."""
    items = {recipe.digest: store_item(work, recipe) for recipe in work.plan.recipes}
    unfinished = [recipe for recipe in work.plan.recipes if items[recipe.digest].state not in ("done", "tampered")]
    recipes = artifact_recipes(work)
    return Status(
        work.params.profile,
        {paper.name: Counter(items[key].state for key in needed_by(work.plan, paper)) for paper in work.papers},
        {paper.name: (_artifacts_state(work, paper, recipes), len(paper.artifacts)) for paper in work.papers},
        [*items.values()],
        time_left(work, costs, unfinished),
    )


def needed_by(plan: Plan, paper: Paper) -> set[str]:
    """Return the digests of the runs and evaluations that a paper needs, under whatever name they were planned."""
    recipes = closure(plan.evaluations_of(paper.track, paper.methods))
    return {recipe.digest for recipe in recipes if recipe.kind in TRAINED}


def store_item(work: Workspace, recipe: Recipe) -> StoreItem:
    """Return a recipe with its state, and what belongs to that: damage, progress, or the end of an error."""
    folder = work.store.folder(recipe)
    state, damage = _state(work, recipe)
    progress = read_progress(folder) if state in ("running", "interrupted") else None
    error = _last_lines(folder / ERROR) if state == "failed" else ()
    return StoreItem(recipe.kind, recipe.folder, recipe.name, state, damage, progress, error)


def _state(work: Workspace, recipe: Recipe) -> tuple[str, str]:
    """Return the state of a recipe, and the damage to its files."""
    store = work.store
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


def _artifacts_state(work: Workspace, paper: Paper, recipes: dict[str, Recipe]) -> str:
    """Return "done" where no artifact of the paper is due."""
    due = any(is_due(work, paper, name, recipes[f"{paper.name}/{name}"]) for name in paper.artifacts)
    return "waiting" if due else "done"


def _last_lines(path: Path) -> tuple[str, ...]:
    try:
        return tuple(path.read_text(encoding="utf-8", errors="replace").rstrip().splitlines()[-ERROR_LINES:])
    except OSError:
        return ()


def rendered(status: Status) -> RenderableType:
    """Return the whole status, at most 80 columns wide."""
    blocks: list[RenderableType] = [" · ".join(_headline(status)), _papers(status), " · ".join(_steps(status))]
    for state, most in MOST.items():
        items = status.items_in(state)
        if items:
            blocks.append(Text(f"{state}: {len(items)}", STYLES[state]))
            shown = _running(items[:most]) if state == "running" else Group(*map(_lines, items[:most]))
            blocks.append(Padding(shown, (0, 0, 0, 2), expand=False))
        if len(items) > most:
            blocks.append(f"  and {len(items) - most} more")
    if status.items_in("interrupted", "waiting") and not status.items_in("running"):
        blocks.append("nothing runs: `snakemake --cores all` makes what is missing")
    return Group(*(Text(block) if isinstance(block, str) else block for block in blocks))


def _headline(status: Status) -> Iterator[str]:
    left, running = status.left, len(status.items_in("running"))
    done = sum(item.state == "done" for item in status.runs)
    yield f"profile {status.profile}: {done} of {len(status.runs)} runs and evaluations done"
    if running:
        yield f"{pluralize(running, 'process', 'processes')} running"
    if left.seconds:
        yield f"about {clock_duration(left.seconds)} left"
    if left.unknown:
        without = "; the time excludes them" if left.seconds else ""
        yield f"no estimate for {pluralize(left.unknown, 'job')}{without}"


def _papers(status: Status) -> Table:
    table = new_table(("runs of",), (*STYLES, "artifacts"))
    for name, counts in status.papers.items():
        state, count = status.artifacts[name]
        numbers = [Text(str(counts[s] or "·"), style if counts[s] else "dim") for s, style in STYLES.items()]
        table.add_row(Text(name), *numbers, Text(f"{count} {state}", STYLES[state]))
    return table


def _steps(status: Status) -> Iterator[str]:
    """Yield the number of steps before runs by kind and state."""
    kinds: dict[str, Counter[str]] = {}
    for item in status.steps:
        kinds.setdefault(item.kind, Counter())[item.state] += 1
    for kind, counts in kinds.items():
        yield f"{kind}: {', '.join(f'{count} {state}' for state, count in counts.items())}"


def _running(items: list[StoreItem]) -> Table:
    """Return a table with a row for each running job: title, folder, bar, position, rate and time left."""
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True, overflow="ellipsis")  # shrinks where the terminal is narrow
    for _ in range(5):
        table.add_column(no_wrap=True)
    for item in items:
        table.add_row(Text(printable(item.title), "cyan"), Text(item.folder), *_progress_cells(item.progress))
    return table


def _progress_cells(progress: Progress | None) -> Iterator[RenderableType]:
    if progress:
        yield ProgressBar(total=progress.total, completed=progress.done, width=BAR)
        yield Text(printable(f"{progress.unit} {progress.done}/{progress.total}".lstrip()))
        yield Text(f"{progress.rate:.3g}/s" if progress.rate else "")
        yield Text(f"{rough_duration(progress.seconds_left)} left" if progress.seconds_left is not None else "")


def _lines(item: StoreItem) -> Text:
    """Return what is known of an item that failed, was interrupted or tampered with, and the command that goes on."""
    command = f"recompose make {item.key}"
    if item.state == "tampered":
        return Text(printable(f"{item.folder} {item.title}: {item.damage}"))
    if item.state == "interrupted":
        position = f", {item.progress.unit} {item.progress.done}/{item.progress.total}" if item.progress else ""
        return Text(printable(f"{command}  {item.title}{position}"))
    lines = [*item.error, f"see results/{item.key}/{ERROR} and {LOG}", f"again: {command}"]
    title = Text(printable(f"{item.folder} {item.title}"), "bold")
    return Text("\n").join([title, *(Text(f"  {printable(line)}") for line in lines)])
