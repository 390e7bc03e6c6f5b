"""A table of running jobs with their progress."""

from collections.abc import Iterable, Iterator

from rich.console import RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from recompose.monitor.status import StoreItem
from recompose.progress import printable
from recompose.terminal.text import rough_duration

FOLDER = 12  # last characters of a folder's name that are shown
BAR = 10  # characters


def progress_table(items: Iterable[StoreItem], *, details: bool = False) -> Table:
    """Return a table with a row for each running job: title, bar, position and time left.

    Args:
        items: the running jobs.
        details: also show the folder and the rate of each job.
    """
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column()  # shrinks where the terminal is narrow
    for _ in range(5 if details else 3):
        table.add_column(no_wrap=True)
    for item in items:
        title = Text(printable(item.title), "cyan", no_wrap=True, overflow="ellipsis")
        table.add_row(title, *([Text(item.folder[-FOLDER:])] * details), *_progress_cells(item, details=details))
    return table


def _progress_cells(item: StoreItem, *, details: bool) -> Iterator[RenderableType]:
    if progress := item.progress:
        yield ProgressBar(total=progress.total, completed=progress.done, width=BAR)
        yield Text(printable(f"{progress.unit} {progress.done}/{progress.total}".lstrip()))
        if details:
            yield Text(f"{progress.rate:.3g}/s" if progress.rate else "")
        yield Text(f"{rough_duration(progress.seconds_left)} left" if progress.seconds_left is not None else "")
