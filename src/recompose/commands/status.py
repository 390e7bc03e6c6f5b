"""`recompose status`: the state of everything that the plan needs, its progress, and the time that is left."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain

from rich.console import Console
from rich.text import Text

from recompose.console import line, new_table, pluralize, print_json, print_line, rough_duration
from recompose.costs import Costs, TimeLeft, time_left
from recompose.papers.declaration import Paper
from recompose.phases import TRAINED
from recompose.progress import Progress, read_progress
from recompose.recipes.plan import Plan, Recipe, closure
from recompose.recipes.records import LOG, remedy
from recompose.recipes.state import CHANGED, CURRENT, MISSING, OUTDATED, state
from recompose.recipes.store import ERROR
from recompose.tables.reports import Reports
from recompose.workspace import Workspace

STYLES = {  # by state
    CURRENT: "green",
    "running": "cyan",
    MISSING: "",
    "failed": "red",
    "interrupted": "yellow",
    OUTDATED: "yellow",
    CHANGED: "red",
}
ALWAYS = (CURRENT, "running", MISSING)  # states that have a column even if nothing is in them
LISTED = ("running", "failed", CHANGED, OUTDATED, "interrupted")  # states whose items are named
MOST = 5  # items that are named of each
ERROR_LINES = 5


@dataclass(frozen=True)
class StoreItem:
    """A recipe of the plan and its state in the store."""

    kind: str
    folder: str
    title: str
    state: str
    progress: Progress | None = None  # of a running or interrupted one
    wrong: tuple[str, ...] = ()  # what is wrong with a changed or outdated one, or the last lines of a failure

    @property
    def key(self) -> str:
        """Its place below results/."""
        return f"{self.kind}/{self.folder}"


@dataclass(frozen=True)
class Status:
    """The state of a whole profile."""

    profile: str
    papers: dict[str, Counter[str]]  # the number of a paper's runs and evaluations by state; papers may share them
    due: dict[str, int]  # the number of a paper's artifacts that are to be made
    items: list[StoreItem]
    left: TimeLeft

    def items_in(self, *states: str) -> list[StoreItem]:
        """Return the items in one of these states."""
        return [item for item in self.items if item.state in states]


def show_status(work: Workspace, *, as_json: bool) -> int:
    """Print the status of a workspace; return the exit code."""
    status = current_status(work)
    if as_json:
        print_json(status)
    else:
        show(Console(), status)
    return 1 if status.items_in("failed", CHANGED) else 0


def current_status(work: Workspace) -> Status:
    """Return the status of a workspace."""
    items = {recipe.digest: store_item(work, recipe) for recipe in work.plan.recipes}
    unfinished = [recipe for recipe in work.plan.recipes if items[recipe.digest].state not in (CURRENT, CHANGED)]
    return Status(
        work.params.profile,
        {paper.name: Counter(items[key].state for key in needed_by(work.plan, paper)) for paper in work.papers},
        Reports(work).due_counts(),
        [*items.values()],
        time_left(work, Costs.of(work, work.plan), unfinished),
    )


def needed_by(plan: Plan, paper: Paper) -> set[str]:
    """Return the digests of the runs and evaluations that a paper needs, under whatever name they were planned."""
    recipes = closure(plan.evaluations_of(paper.track, paper.all_methods))
    return {recipe.digest for recipe in recipes if recipe.kind in TRAINED}


def store_item(work: Workspace, recipe: Recipe) -> StoreItem:
    """Return a recipe with its state, its progress, and what is wrong with it."""
    store, folder = work.store, work.store.folder(recipe)
    item = partial(StoreItem, recipe.kind, recipe.folder, recipe.name)
    if not store.is_complete(recipe) and store.is_being_made(recipe):
        return item("running", read_progress(folder))
    try:
        stored = state(store, recipe)  # now it would be complete, had it been finished meanwhile
    except FileNotFoundError:  # it is being discarded
        return item(MISSING)
    if stored.word != MISSING:
        faults = (f"results/{recipe.key}/{name} {fault}: {remedy(recipe.key)}" for name, fault in stored.faults.items())
        return item(stored.word, wrong=tuple(faults) or stored.why)
    with suppress(OSError):
        error = (folder / ERROR).read_text(encoding="utf-8", errors="replace")
        return item("failed", wrong=tuple(error.rstrip().splitlines()[-ERROR_LINES:]))
    return item("interrupted", read_progress(folder)) if folder.exists() else item(MISSING)


def show(console: Console, status: Status) -> None:
    """Print the whole status: counts, a row for each paper, and what runs, failed, or was damaged or interrupted."""
    print_line(console, " · ".join(_headline(status)))
    words = [word for word in STYLES if word in ALWAYS or any(counts[word] for counts in status.papers.values())]
    table = new_table(["runs of"], [*words, "artifacts to make"])
    for name, counts in status.papers.items():
        numbers = [Text(str(counts[word] or "·"), STYLES[word] if counts[word] else "dim") for word in words]
        table.add_row(line(name), *numbers, str(status.due[name] or "none"))
    console.print(table)
    for word in LISTED:
        if items := status.items_in(word):
            print_line(console, (f"{word}: {len(items)}", STYLES[word]))
        for text in chain.from_iterable(map(_texts, items[:MOST])):
            print_line(console, f"  {text}")
        if len(items) > MOST:
            print_line(console, f"  and {len(items) - MOST} more")
    if status.items_in("interrupted", MISSING) and not status.items_in("running"):
        print_line(console, "nothing runs: `snakemake --cores all` makes what is missing")


def _headline(status: Status) -> Iterator[str]:
    running = len(status.items_in("running"))
    for title, is_trained in (("runs and evaluations", True), ("steps before them", False)):
        states = [item.state for item in status.items if (item.kind in TRAINED) == is_trained]
        yield f"{states.count(CURRENT)} of {len(states)} {title} of {status.profile} done"
    if running:
        yield f"{pluralize(running, 'process', 'processes')} running"
    if status.left.seconds:
        yield f"about {rough_duration(status.left.seconds)} left"
    if status.left.unknown:
        yield f"no estimate for {pluralize(status.left.unknown, 'job')}"


def _texts(item: StoreItem) -> Iterator[str]:
    """Yield what is known of an item that is not done, and the command that goes on."""
    position = f", {item.progress.unit} {item.progress.done}/{item.progress.total}" if item.progress else ""
    if item.progress and item.progress.seconds_left is not None and item.state == "running":
        position += f", {rough_duration(item.progress.seconds_left)} left"
    yield f"{item.key} {item.title}{position}"
    yield from (f"  {text}" for text in item.wrong)
    if item.state == "failed":
        yield f"  see results/{item.key}/{ERROR} and {LOG}"
    if item.state in ("failed", "interrupted"):
        yield f"  again: recompose make {item.key}"
