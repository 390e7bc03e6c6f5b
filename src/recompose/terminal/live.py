"""The view of a workflow at work: one that changes in place in a terminal, and lines elsewhere."""

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import FrameType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from recompose.engine import TRAINED
from recompose.errors import RecomposeError
from recompose.interrupts import INTERRUPTED, SENTENCE, end_children
from recompose.monitor.reproduction import PaperProgress, Reproduction, Snapshot
from recompose.monitor.snakemake_call import SnakemakeCall
from recompose.monitor.status import Item
from recompose.papers.declaration import Paper
from recompose.report.results import Results
from recompose.terminal.status import MOST
from recompose.terminal.summary import headline_number
from recompose.terminal.text import counted, plain, rough, spoken
from recompose.workspace import Workspace

EVERY = 2.0  # seconds between looks, at least
SHARE = 0.03  # of a core, that looking may take
SAY_EVERY = 60.0  # seconds, where lines are printed
BAR = 20  # characters
MOST_FAILED = 5  # lines


def follow(console: Console, reproduction: Reproduction, call: SnakemakeCall) -> int:
    """Show how far a workflow is until it ends; return its exit code.

    An interrupt ends it, and is answered with one sentence.
    """
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        with _view(console, Headlines(reproduction.work, reproduction.papers)) as show:
            while (code := _look(reproduction, call, show)) is None:
                pass
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # everything ends in any case
        end_children()
        code = INTERRUPTED
    if code == INTERRUPTED:
        print(f"\n{SENTENCE}", file=sys.stderr)
    elif code:
        _show_failures(console, reproduction.look(), call)
    return code if code >= 0 else 1  # a signal ended it


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _look(reproduction: Reproduction, call: SnakemakeCall, show: Callable[[Snapshot], None]) -> int | None:
    """Look and show, then wait so long that looking stays cheap; return the exit code at the end, after a last look."""
    before = time.process_time()
    show(reproduction.look())
    code = call.wait(max(EVERY, (time.process_time() - before) / SHARE))
    if code is not None:
        show(reproduction.look())
    return code


class Headlines:
    """The headline number of each paper whose headline table is made."""

    def __init__(self, work: Workspace, papers: list[Paper]) -> None:
        self._work = work
        self._tables = {paper.name: paper for paper in papers if paper.headline}
        self.numbers: dict[str, str] = {}  # by paper

    def read(self, snapshot: Snapshot) -> None:
        """Read the numbers of tables that were made since the snapshot before."""
        for progress in snapshot.papers:
            paper = self._tables.get(progress.name)
            if paper is None or paper.headline is None or paper.headline.artifact not in progress.made:
                continue
            if paper.name not in self.numbers or (paper.name, paper.headline.artifact) in snapshot.written:
                self.numbers[paper.name] = self._number(paper)

    def _number(self, paper: Paper) -> str:
        try:
            return headline_number(Results(self._work), paper)
        except RecomposeError:  # the audit is who says what is wrong
            return ""

    def of(self, paper: str, artifact: str) -> str:
        """Return the number that an artifact shows first, or nothing where it is not a headline table."""
        headline = self._tables[paper].headline if paper in self._tables else None
        return self.numbers.get(paper, "") if headline and headline.artifact == artifact else ""


@contextmanager
def _view(console: Console, headlines: Headlines) -> Iterator[Callable[[Snapshot], None]]:
    """Show snapshots in place on a terminal, and as lines elsewhere."""
    if not (console.is_terminal and console.file.isatty()) or console.is_dumb_terminal:
        yield Lines(console, headlines).show
        return
    with Live(console=console, auto_refresh=False) as live:

        def show(snapshot: Snapshot) -> None:
            headlines.read(snapshot)
            live.update(rendered(snapshot, headlines), refresh=True)

        yield show


class Lines:
    """A line for each artifact that is written and each job that fails, and one a minute in between."""

    def __init__(self, console: Console, headlines: Headlines) -> None:
        self._console, self._headlines = console, headlines
        self._failed: set[str] = set()
        self._said = time.monotonic()

    def show(self, snapshot: Snapshot) -> None:
        """Say what is new."""
        self._headlines.read(snapshot)
        lines = [*self._written(snapshot), *self._failures(snapshot)]
        if not lines and time.monotonic() - self._said > SAY_EVERY:
            lines = [f"{snapshot.work.share:.0%} of the expected work is done, {_time_left(snapshot)}"]
        for line in lines:
            self._say(line)

    def _written(self, snapshot: Snapshot) -> Iterator[str]:
        for paper, artifact in snapshot.written:
            number = self._headlines.of(paper, artifact)
            yield f"{paper}/{artifact} is written" + (f": {number}" if number else "")

    def _failures(self, snapshot: Snapshot) -> Iterator[str]:
        for item in snapshot.failed:
            if item.key not in self._failed:
                self._failed.add(item.key)
                yield f"failed: {_failure(item)}"

    def _say(self, line: str) -> None:
        self._said = time.monotonic()
        print(f"{datetime.now():%H:%M:%S}  {plain(line)}", file=self._console.file, flush=True)


def _time_left(snapshot: Snapshot) -> str:
    if snapshot.work.done < snapshot.work.total:
        return f"about {rough(snapshot.seconds_left)} left"
    due = any(len(paper.made) < paper.artifacts for paper in snapshot.papers)
    return "tables and figures are left" if due else "all is trained and scored, and every table and figure made"


def rendered(snapshot: Snapshot, headlines: Headlines) -> RenderableType:
    """Return all of it, narrow enough for 80 columns."""
    parts = [f"profile {snapshot.profile}", f"{snapshot.work.share:.0%}", f"{spoken(snapshot.seconds)} so far"]
    blocks: list[RenderableType] = [Text(" · ".join([*parts, _time_left(snapshot)]), "bold"), _papers(snapshot)]
    numbers = {name: number for name, number in headlines.numbers.items() if number}
    if numbers:
        blocks.append(_numbers(numbers))
    if snapshot.running:
        blocks.append(_running(snapshot.running[: MOST["running"]]))
    if snapshot.failed:
        blocks.append(Text(f"{counted(len(snapshot.failed), 'job')} failed; the rest goes on", "red"))
    return Group(*blocks)


def _papers(snapshot: Snapshot) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for _ in range(3):
        table.add_column(no_wrap=True, justify="right")
    for paper in snapshot.papers:
        table.add_row(*_row(paper))
    return table


def _row(paper: PaperProgress) -> Iterator[RenderableType]:
    work = paper.work
    yield Text(plain(paper.name))
    yield ProgressBar(total=1.0, completed=work.share, width=BAR)
    yield Text(f"{work.share:.0%}")
    yield Text(f"{rough(work.done)} of {rough(work.total)}")
    yield Text(f"{len(paper.made)} of {counted(paper.artifacts, 'artifact')}")


def _numbers(numbers: dict[str, str]) -> Table:
    """Return a line for each headline table."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, number in numbers.items():
        table.add_row(Text(plain(name), "green"), Text(plain(number)))
    return table


def _running(items: list[Item]) -> Table:
    """Return a line for each thing that is being made, with how far it is."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column()  # the one that gives way
    for _ in range(3):
        table.add_column(no_wrap=True)
    for item in items:
        table.add_row(Text(plain(item.title), "cyan", no_wrap=True, overflow="ellipsis"), *_progress(item))
    return table


def _progress(item: Item) -> Iterator[RenderableType]:
    if progress := item.progress:
        yield ProgressBar(total=progress.total, completed=progress.done, width=10)
        yield Text(plain(f"{progress.unit} {progress.done}/{progress.total}".lstrip()))
        yield Text(f"{rough(progress.seconds_left)} left" if progress.seconds_left is not None else "")


def _failure(item: Item) -> str:
    why = item.damage or (item.error[-1] if item.error else "")
    return f"{item.title}{f': {why}' if why else ''} (recompose make {item.key})"


def _show_failures(console: Console, snapshot: Snapshot, call: SnakemakeCall) -> None:
    """Say in some lines what failed and where more is said."""
    failures = [*map(_failure, snapshot.failed)] or call.failures()
    lines = ["The workflow failed.", *(f"  {line}" for line in failures[:MOST_FAILED])]
    if len(failures) > MOST_FAILED:
        lines.append(f"  and {len(failures) - MOST_FAILED} more")
    lines.append(f"`recompose status` says more, and so does {call.log}; the same command goes on where it was.")
    for line in lines:
        console.print(Text(plain(line)), soft_wrap=True)


def show_opening(console: Console, reproduction: Reproduction, log: Path) -> None:
    """Say what is to be made and about how long that takes."""
    missing = reproduction.missing
    runs, scored = (sum(recipe.kind == kind for recipe in missing) for kind in TRAINED)
    steps = len(missing) - runs - scored
    counts = [(runs, "run", ""), (scored, "evaluation", ""), (steps, "step before them", "steps before them")]
    counts.append((reproduction.due, "table or figure", "tables and figures"))
    work = ", ".join(counted(*count) for count in counts if count[0])
    to_make = f"{work} to make" if work else "everything is made"
    console.print(Text(f"profile {reproduction.profile}: {to_make}"), soft_wrap=True)
    if missing:
        console.print(Text(_expected(reproduction)), soft_wrap=True)
    console.print(Text(f"What Snakemake says is in {log}."), soft_wrap=True)


def _expected(reproduction: Reproduction) -> str:
    text = f"About {rough(reproduction.seconds_left)}, and what tables and figures take on top."
    unknown = reproduction.unknown
    if not unknown:
        return text
    counts_for = rough(reproduction.unknown_seconds)
    return f"{text} Of {counted(unknown, 'job')} no time is known: each counts for {counts_for}."
