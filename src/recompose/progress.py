"""What a long job says while it works: lines, because several jobs share a terminal and logs keep them."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
SAY_EVERY = 20.0  # seconds

_logs: list[Path] = []


def say(message: str) -> None:
    """Write one line with the time of day to standard error, and to the log in force."""
    line = f"{datetime.now(UTC).astimezone():%H:%M:%S}  {message}"
    print(line, file=sys.stderr, flush=True)
    for log in _logs:
        with log.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


@contextmanager
def logged(path: Path) -> Iterator[None]:
    """Keep what is said in a log, too."""
    _logs.append(path)
    try:
        yield
    finally:
        _logs.remove(path)


class Pace:
    """The rate of a job and the time it has left, counted from where it started or resumed."""

    def __init__(self, total: int, done: int = 0) -> None:
        self._total, self._first, self._start = total, done, time.monotonic()

    def at(self, done: int) -> str:
        """Say how far it is: 'done/total, rate, time left'."""
        elapsed = max(time.monotonic() - self._start, 1e-6)
        rate = (done - self._first) / elapsed
        left = timedelta(seconds=round((self._total - done) / rate)) if rate else "unknown"
        return f"{done}/{self._total}, {rate:.3g}/s, {left} left"


def bar(steps: Sequence[T], title: str, unit: str) -> Iterator[T]:
    """Go through steps with a progress bar on a terminal, and elsewhere a line from time to time."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import track

        yield from track(steps, f"{title}, {unit}", console=Console(stderr=True), transient=True)
        return
    pace, said = Pace(len(steps)), time.monotonic()
    for done, step in enumerate(steps, start=1):
        yield step
        if time.monotonic() - said > SAY_EVERY and done < len(steps):
            said = time.monotonic()
            say(f"{title}: {pace.at(done)} ({unit})")
