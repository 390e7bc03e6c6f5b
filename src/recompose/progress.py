"""What a long job says while it works: lines, because several jobs share a terminal and logs keep them."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

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
