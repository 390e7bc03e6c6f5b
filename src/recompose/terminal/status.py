"""How the status looks in a terminal, once or as it changes."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from recompose.monitor.status import STATES, Item, Observer, Pace, Status
from recompose.store import ERROR, LOG
from recompose.terminal.text import clock, counted, plain, spoken

EVERY = 2.0  # seconds
MOST = {"running": 8, "failed": 3, "tampered": 5, "interrupted": 5}  # lines, or blocks, of each; how many more is said
STYLES = {"running": "cyan", "failed": "red", "tampered": "red", "interrupted": "yellow", "done": "green"}


def watch(console: Console, observer: Observer) -> Status:
    """Show how things stand until nothing runs or waits, or somebody interrupts; gives how they stood last."""
    status = observer.look()
    show = _refreshing if console.is_terminal else _printing
    try:
        with show(console, status) as update:
            while not status.over:
                time.sleep(EVERY)
                status = observer.look()
                update(status)
    except KeyboardInterrupt:
        pass
    return status


@contextmanager
def _refreshing(console: Console, status: Status) -> Iterator[Callable[[Status], None]]:
    """On a terminal: in place."""
    with Live(rendered(status), console=console, auto_refresh=False) as live:
        yield lambda later: live.update(rendered(later), refresh=True)


@contextmanager
def _printing(console: Console, status: Status) -> Iterator[Callable[[Status], None]]:
    """Elsewhere: the whole of it each time that something has happened."""
    console.print(rendered(status))
    shown = [status.news]

    def update(later: Status) -> None:
        if later.news != shown[-1]:
            shown[-1] = later.news
            console.print(rendered(later))

    yield update


def rendered(status: Status) -> RenderableType:
    """The whole of it, narrow enough for 80 columns."""
    blocks: list[RenderableType] = [_headline(status), _papers(status), _steps(status)]
    for state, block in BLOCKS.items():
        if items := status.of(state):
            blocks += [
                Text(f"{state}: {len(items)}", STYLES[state]),
                Padding(block(items[: MOST[state]]), (0, 0, 0, 2), expand=False),
            ]
            if len(items) > MOST[state]:
                blocks.append(Text(f"  and {len(items) - MOST[state]} more"))
    if status.of("interrupted", "waiting") and not status.of("running"):
        blocks.append(Text("nothing is at work: `snakemake --cores all` makes what is missing"))
    return Group(*blocks)


def _headline(status: Status) -> Text:
    pace, done = status.pace, sum(item.state == "done" for item in status.runs)
    parts = [f"profile {status.profile}: {done} of {len(status.runs)} runs and evaluations done", *_paces(pace)]
    return Text(" · ".join(parts))


def _paces(pace: Pace) -> Iterator[str]:
    if pace.processes:
        yield f"{counted(pace.processes, 'process', 'processes')} at work"
    if pace.finished and pace.seconds:
        yield f"{counted(pace.finished, 'run')} in {clock(pace.seconds)}"
    if pace.seconds_left is not None:
        yield f"about {clock(pace.seconds_left)} left"
    if pace.unmeasured:
        yield f"what {counted(pace.unmeasured, 'job')} will take is unknown" + (
            ", and not in it" if pace.seconds_left else ""
        )


def _papers(status: Status) -> Table:
    table = Table("runs of", *STATES, "artifacts", box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name, counts in status.papers.items():
        state, count = status.artifacts[name]
        numbers = [Text(str(counts[each] or "·"), STYLES.get(each, "") if counts[each] else "dim") for each in STATES]
        table.add_row(Text(name), *numbers, Text(f"{count} {state}", STYLES.get(state, "")))
    return table


def _steps(status: Status) -> Text:
    """The steps before runs, by kind."""
    kinds: dict[str, Counter[str]] = {}
    for item in status.steps:
        kinds.setdefault(item.kind, Counter())[item.state] += 1
    texts = (f"{kind}: {', '.join(f'{n} {state}' for state, n in counts.items())}" for kind, counts in kinds.items())
    return Text(" · ".join(texts))


def _running(items: list[Item]) -> Table:
    """A line for each, with how far it is."""
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column()  # the one that gives way
    for _ in range(5):
        table.add_column(no_wrap=True)
    for item in items:
        table.add_row(Text(plain(item.title), no_wrap=True, overflow="ellipsis"), *_progress(item))
    return table


def _progress(item: Item) -> Iterator[RenderableType]:
    progress = item.progress
    yield Text(item.folder[-12:])
    if progress is None:
        return
    yield ProgressBar(total=progress.total, completed=progress.done, width=10)
    yield Text(plain(f"{progress.unit} {progress.done}/{progress.total}".lstrip()))
    yield Text(f"{progress.rate:.3g}/s" if progress.rate else "")
    yield Text(f"{spoken(progress.seconds_left)} left" if progress.seconds_left is not None else "")


def _failed(items: list[Item]) -> Group:
    """The end of each one's trace, where all of it is, and how to do it again alone."""
    return Group(*(line for item in items for line in _failure(item)))


def _failure(item: Item) -> Iterator[Text]:
    yield Text(f"{item.folder} {plain(item.title)}", "bold")
    for line in item.error:
        yield Text(f"  {plain(line)}", no_wrap=True, overflow="ellipsis")
    yield Text(f"  see results/{item.kind}/{item.folder}/{ERROR} and {LOG}")
    yield Text(f"  again: {again(item)}")


def _tampered(items: list[Item]) -> Group:
    return Group(*(Text(plain(f"{item.folder} {item.title}: {item.damage}")) for item in items))


def _interrupted(items: list[Item]) -> Group:
    """The command that goes on with each one, and what it is."""
    return Group(*(Text(plain(f"{again(item)}  {item.title}{_reached(item)}")) for item in items))


def _reached(item: Item) -> str:
    progress = item.progress
    return f", {progress.unit} {progress.done}/{progress.total}" if progress else ""


def again(item: Item) -> str:
    """The command that makes it alone, from where it stopped."""
    return f"recompose make {item.kind}/{item.folder}"


BLOCKS: dict[str, Callable[[list[Item]], RenderableType]] = {
    "running": _running,
    "failed": _failed,
    "tampered": _tampered,
    "interrupted": _interrupted,
}
