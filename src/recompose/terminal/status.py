"""The output of `recompose status`, once or as it changes."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from recompose.monitor.status import STATES, Observer, Status, StoreItem
from recompose.progress import printable
from recompose.records import LOG
from recompose.store import ERROR
from recompose.terminal.progress import progress_table
from recompose.terminal.text import clock_duration, pluralize

EVERY = 2.0  # seconds
MOST = {"running": 8, "failed": 3, "tampered": 5, "interrupted": 5}  # items that are shown of each state
STYLES = {"running": "cyan", "failed": "red", "tampered": "red", "interrupted": "yellow", "done": "green"}


def watch(console: Console, observer: Observer) -> Status:
    """Show the status until nothing runs or waits, or until an interrupt; return the last one."""
    status = observer.look()
    show = _refreshing if console.is_terminal else _printing
    try:
        with show(console, status) as update:
            while not status.is_over:
                time.sleep(EVERY)
                status = observer.look()
                update(status)
    except KeyboardInterrupt:
        pass
    return status


@contextmanager
def _refreshing(console: Console, status: Status) -> Iterator[Callable[[Status], None]]:
    """Show statuses in place, on a terminal."""
    with Live(rendered(status), console=console, auto_refresh=False) as live:
        yield lambda later: live.update(rendered(later), refresh=True)


@contextmanager
def _printing(console: Console, status: Status) -> Iterator[Callable[[Status], None]]:
    """Print each status that differs from the one before, where there is no terminal."""
    console.print(rendered(status))
    last_key = status.change_key

    def update(later: Status) -> None:
        nonlocal last_key
        if later.change_key != last_key:
            last_key = later.change_key
            console.print(rendered(later))

    yield update


def rendered(status: Status) -> RenderableType:
    """Return the whole status, at most 80 columns wide."""
    blocks: list[RenderableType] = [_headline(status), _papers(status), _steps(status)]
    for state, block in BLOCKS.items():
        if items := status.items_in(state):
            blocks += [
                Text(f"{state}: {len(items)}", STYLES[state]),
                Padding(block(items[: MOST[state]]), (0, 0, 0, 2), expand=False),
            ]
            if len(items) > MOST[state]:
                blocks.append(Text(f"  and {len(items) - MOST[state]} more"))
    if status.items_in("interrupted", "waiting") and not status.items_in("running"):
        blocks.append(Text("nothing runs: `snakemake --cores all` makes what is missing"))
    return Group(*blocks)


def _headline(status: Status) -> Text:
    done = sum(item.state == "done" for item in status.runs)
    parts = [f"profile {status.profile}: {done} of {len(status.runs)} runs and evaluations done", *_time_left(status)]
    return Text(" · ".join(parts))


def _time_left(status: Status) -> Iterator[str]:
    left = status.left
    if running := len(status.items_in("running")):
        yield f"{pluralize(running, 'process', 'processes')} running"
    if left.seconds:
        yield f"about {clock_duration(left.seconds)} left"
    if left.unknown:
        without = "; the time excludes them" if left.seconds else ""
        yield f"no estimate for {pluralize(left.unknown, 'job')}{without}"


def _papers(status: Status) -> Table:
    table = Table("runs of", *STATES, "artifacts", box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name, counts in status.papers.items():
        state, count = status.artifacts[name]
        numbers = [Text(str(counts[s] or "·"), STYLES.get(s, "") if counts[s] else "dim") for s in STATES]
        table.add_row(Text(name), *numbers, Text(f"{count} {state}", STYLES.get(state, "")))
    return table


def _steps(status: Status) -> Text:
    """Return the number of steps before runs by kind and state."""
    kinds: dict[str, Counter[str]] = {}
    for item in status.steps:
        kinds.setdefault(item.kind, Counter())[item.state] += 1
    texts = (f"{kind}: {', '.join(f'{n} {state}' for state, n in counts.items())}" for kind, counts in kinds.items())
    return Text(" · ".join(texts))


def _running_jobs(items: list[StoreItem]) -> Table:
    return progress_table(items, details=True)


def _failed(items: list[StoreItem]) -> Group:
    """Return the last lines of each error, its file, and the command that repeats the job alone."""
    return Group(*(line for item in items for line in _failure(item)))


def _failure(item: StoreItem) -> Iterator[Text]:
    yield Text(f"{item.folder} {printable(item.title)}", "bold")
    for line in item.error:
        yield Text(f"  {printable(line)}", no_wrap=True, overflow="ellipsis")
    yield Text(f"  see results/{item.kind}/{item.folder}/{ERROR} and {LOG}")
    yield Text(f"  again: {make_command(item)}")


def _tampered(items: list[StoreItem]) -> Group:
    return Group(*(Text(printable(f"{item.folder} {item.title}: {item.damage}")) for item in items))


def _interrupted(items: list[StoreItem]) -> Group:
    """Return the command that continues each job, and its position."""
    return Group(*(Text(printable(f"{make_command(item)}  {item.title}{_position(item)}")) for item in items))


def _position(item: StoreItem) -> str:
    progress = item.progress
    return f", {progress.unit} {progress.done}/{progress.total}" if progress else ""


def make_command(item: StoreItem) -> str:
    """Return the command that makes an item alone, from where it stopped."""
    return f"recompose make {item.kind}/{item.folder}"


BLOCKS: dict[str, Callable[[list[StoreItem]], RenderableType]] = {
    "running": _running_jobs,
    "failed": _failed,
    "tampered": _tampered,
    "interrupted": _interrupted,
}
