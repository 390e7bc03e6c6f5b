"""Progress of long jobs: lines on the terminal and in logs, and a file with the present state.

Progress is written in lines because several jobs share a terminal.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, Field, ValidationError

from recompose.files import SCRATCH, write_text

T = TypeVar("T")
SAY_EVERY = 20.0  # seconds
FILE = "progress.json"  # in the scratch folder of a recipe: its progress

_LOGS: ContextVar[tuple[Path, ...]] = ContextVar("logs", default=())  # that are open
_QUIET = ContextVar("quiet", default=False)  # whether details are for logs alone


def say(message: str, *, detail: bool = False) -> None:
    """Write one line with the time of day to standard error and to the open logs.

    A detail goes to the logs alone after ``be_quiet``.
    """
    line = f"{datetime.now(UTC).astimezone():%H:%M:%S}  {printable_lines(message)}"
    if not (detail and _QUIET.get()):
        print(line, file=sys.stderr, flush=True)
    for log in _LOGS.get():
        with log.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def printable(text: str) -> str:
    """Return text on one line, with a replacement sign for every character that cannot be printed."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def printable_lines(text: str) -> str:
    """Return text on as many lines as it has, each as ``printable`` returns it."""
    return "\n".join(printable(line) for line in text.split("\n"))


def be_quiet() -> None:
    """Write details to logs alone from now on."""
    _QUIET.set(True)


@contextmanager
def logged(path: Path) -> Iterator[None]:
    """Write lines to a log, too, and progress to a file beside it."""
    before = _LOGS.set((*_LOGS.get(), path))
    try:
        yield
    finally:
        _LOGS.reset(before)


class ProgressLogger:
    """A logger of a job's progress, rate and remaining time, measured since it started or resumed."""

    def __init__(self, title: str, unit: str, total: int, done: int = 0) -> None:
        self._title, self._unit, self._total = title, unit, total
        self._first, self._start = done, time.monotonic()
        self._write(done, None, None, "")

    def at(self, done: int, metrics: str = "") -> None:
        """Write the progress, the rate and the remaining time as a line, and to a file."""
        elapsed = max(time.monotonic() - self._start, 1e-6)
        rate = (done - self._first) / elapsed
        seconds = (self._total - done) / rate if rate else None
        remaining = "unknown" if seconds is None else str(timedelta(seconds=round(seconds)))
        more = f", {metrics}" if metrics else ""
        say(f"{self._title}: {self._unit} {done}/{self._total}, {rate:.3g}/s, {remaining} left{more}", detail=True)
        self._write(done, rate, seconds, metrics)

    def _write(self, done: int, rate: float | None, seconds: float | None, metrics: str) -> None:
        progress = Progress(
            unit=self._unit, done=done, total=self._total, rate=rate, seconds_left=seconds, metrics=metrics
        )
        for log in _LOGS.get():
            if (log.parent / SCRATCH).is_dir():
                write_text(log.parent / SCRATCH / FILE, progress.model_dump_json())


class Progress(BaseModel):
    """The progress of a job at a time."""

    unit: str  # counted in done and total, such as epoch
    done: int
    total: int
    rate: float | None  # units a second; None before the attempt's first unit
    seconds_left: float | None
    metrics: str
    at: datetime = Field(default_factory=lambda: datetime.now(UTC))


def read_progress(folder: Path, now: datetime | None = None) -> Progress | None:
    """Return the progress of a folder that is being made, or None where it wrote none.

    The remaining time is reduced by the time since it was written.
    """
    try:
        progress = Progress.model_validate_json((folder / SCRATCH / FILE).read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None
    if progress.seconds_left is not None:
        age = ((now or datetime.now(UTC)) - progress.at).total_seconds()
        progress.seconds_left = max(progress.seconds_left - age, 0.0)
    return progress


def bar(steps: Sequence[T], title: str, unit: str) -> Iterator[T]:
    """Iterate over steps with a progress bar on a terminal, or else with a line from time to time."""
    if sys.stderr.isatty() and not _QUIET.get():
        from rich.console import Console
        from rich.progress import track

        yield from track(steps, f"{title}, {unit}", console=Console(stderr=True), transient=True)
        return
    progress, logged_at = ProgressLogger(title, unit, len(steps)), time.monotonic()
    for done, step in enumerate(steps, start=1):
        yield step
        if time.monotonic() - logged_at > SAY_EVERY and done < len(steps):
            logged_at = time.monotonic()
            progress.at(done)
