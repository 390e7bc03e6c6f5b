"""The view of a running workflow: updated in place on a terminal, lines elsewhere."""

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

from recompose.errors import RecomposeError
from recompose.interrupts import INTERRUPTED, SENTENCE, end_children, is_interruptible
from recompose.monitor.reproduction import PaperProgress, Reproduction, Snapshot
from recompose.monitor.snakemake_call import SnakemakeCall
from recompose.monitor.status import StoreItem
from recompose.papers.declaration import Paper
from recompose.phases import TRAINED
from recompose.progress import printable
from recompose.report.lineage import Lineage, lineage_path
from recompose.terminal.progress import progress_table
from recompose.terminal.status import MOST
from recompose.terminal.summary import headline_number
from recompose.terminal.text import exact_duration, pluralize, rough_duration
from recompose.workspace import Workspace

EVERY = 2.0  # seconds between updates, at least
SHARE = 0.03  # of a core, that updates may take
LINE_EVERY = 60.0  # seconds, where lines are printed
BAR = 20  # characters
MOST_FAILED = 5  # lines


def follow(console: Console, reproduction: Reproduction, start: Callable[[], SnakemakeCall]) -> int:
    """Start a workflow and show its progress until it ends; return its exit code.

    An interrupt ends the workflow and prints one sentence, from the moment on in which the workflow starts.
    """
    request = signal.SIGINT if is_interruptible() else signal.SIGTERM  # children inherit what is ignored, as from nohup
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        call = start()
        with _view(console, Headlines(reproduction.work, reproduction.papers)) as show:
            while (code := _look(reproduction, call, show)) is None:
                pass
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # everything is ending already
        end_children(request)
        code = INTERRUPTED
    if code == INTERRUPTED:
        print(f"\n{SENTENCE}", file=sys.stderr)
    elif code:
        _show_failures(console, reproduction.look(), call)
    return code if code >= 0 else 1  # a signal ended it


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _look(reproduction: Reproduction, call: SnakemakeCall, show: Callable[[Snapshot], None]) -> int | None:
    """Show a snapshot, then wait so long that updates stay cheap; return the exit code after the last snapshot."""
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
            table = self._work.reports / paper.name / paper.first_artifact
            return headline_number(paper, Lineage.read(lineage_path(table)))
        except RecomposeError:  # the audit reports it
            return ""

    def of(self, paper: str, artifact: str) -> str:
        """Return the headline number of an artifact, empty where it is not a headline table."""
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
    """A printer of a line for each written artifact and each failed job, and at least one a minute."""

    def __init__(self, console: Console, headlines: Headlines) -> None:
        self._console, self._headlines = console, headlines
        self._failed: set[str] = set()
        self._last_line = time.monotonic()

    def show(self, snapshot: Snapshot) -> None:
        """Print the changes since the last snapshot."""
        self._headlines.read(snapshot)
        lines = [*self._written(snapshot), *self._failures(snapshot)]
        if not lines and time.monotonic() - self._last_line > LINE_EVERY:
            lines = [f"{snapshot.work.share:.0%} of the expected work done, {_time_left(snapshot)}"]
        for line in lines:
            self._say(line)

    def _written(self, snapshot: Snapshot) -> Iterator[str]:
        for paper, artifact in snapshot.written:
            number = self._headlines.of(paper, artifact)
            yield f"{paper}/{artifact} written" + (f": {number}" if number else "")

    def _failures(self, snapshot: Snapshot) -> Iterator[str]:
        for item in snapshot.failed:
            if item.key not in self._failed:
                self._failed.add(item.key)
                yield f"failed: {_failure(item)}"

    def _say(self, line: str) -> None:
        self._last_line = time.monotonic()
        print(f"{datetime.now():%H:%M:%S}  {printable(line)}", file=self._console.file, flush=True)


def _time_left(snapshot: Snapshot) -> str:
    if snapshot.work.done < snapshot.work.total:
        return f"about {rough_duration(snapshot.seconds_left)} left"
    due = any(len(paper.made) < paper.artifacts for paper in snapshot.papers)
    return "tables and figures are left" if due else "every run, evaluation, table and figure is complete"


def rendered(snapshot: Snapshot, headlines: Headlines) -> RenderableType:
    """Return the whole view, at most 80 columns wide."""
    parts = [f"profile {snapshot.profile}", f"{snapshot.work.share:.0%}", f"{exact_duration(snapshot.seconds)} so far"]
    blocks: list[RenderableType] = [Text(" · ".join([*parts, _time_left(snapshot)]), "bold"), _papers(snapshot)]
    numbers = {name: number for name, number in headlines.numbers.items() if number}
    if numbers:
        blocks.append(_numbers(numbers))
    if snapshot.running:
        blocks.append(progress_table(snapshot.running[: MOST["running"]]))
    if snapshot.failed:
        blocks.append(Text(f"{pluralize(len(snapshot.failed), 'job')} failed; the others continue", "red"))
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
    yield Text(printable(paper.name))
    yield ProgressBar(total=1.0, completed=work.share, width=BAR)
    yield Text(f"{work.share:.0%}")
    yield Text(f"{rough_duration(work.done)} of {rough_duration(work.total)}")
    yield Text(f"{len(paper.made)} of {pluralize(paper.artifacts, 'artifact')}")


def _numbers(numbers: dict[str, str]) -> Table:
    """Return a row for each headline table."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, number in numbers.items():
        table.add_row(Text(printable(name), "green"), Text(printable(number)))
    return table


def _failure(item: StoreItem) -> str:
    why = item.damage or (item.error[-1] if item.error else "")
    return f"{item.title}{f': {why}' if why else ''} (recompose make {item.key})"


def _show_failures(console: Console, snapshot: Snapshot, call: SnakemakeCall) -> None:
    """Print the failed jobs, and where to read more."""
    failures = [*map(_failure, snapshot.failed)] or call.failures()
    lines = ["The workflow failed.", *(f"  {line}" for line in failures[:MOST_FAILED])]
    if len(failures) > MOST_FAILED:
        lines.append(f"  and {len(failures) - MOST_FAILED} more")
    lines.append(f"See `recompose status` and {call.log}; the same command continues where it stopped.")
    for line in lines:
        console.print(Text(printable(line)), soft_wrap=True)


def show_opening(console: Console, reproduction: Reproduction, log: Path) -> None:
    """Print the work to do, its expected time, and the place of the log."""
    missing = reproduction.missing
    runs, evaluations = (sum(recipe.kind == kind for recipe in missing) for kind in TRAINED)
    steps = len(missing) - runs - evaluations
    counts = [(runs, "run", ""), (evaluations, "evaluation", ""), (steps, "step before them", "steps before them")]
    counts.append((reproduction.due, "table or figure", "tables and figures"))
    work = ", ".join(pluralize(*count) for count in counts if count[0])
    to_make = f"{work} to make" if work else "everything is complete"
    console.print(Text(f"profile {reproduction.profile}: {to_make}"), soft_wrap=True)
    if missing:
        console.print(Text(_expected(reproduction)), soft_wrap=True)
    console.print(Text(f"Snakemake writes its log to {log}."), soft_wrap=True)


def _expected(reproduction: Reproduction) -> str:
    text = f"About {rough_duration(reproduction.seconds_left)}, plus tables and figures."
    unknown = reproduction.unknown
    if not unknown:
        return text
    assumed = rough_duration(reproduction.unknown_seconds)
    return f"{text} No estimate for {pluralize(unknown, 'job')}: {assumed} assumed for each."
