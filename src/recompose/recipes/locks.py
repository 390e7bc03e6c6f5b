"""Locks on what commands write: a result has one writer, and what several processes need is made by one of them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from recompose.errors import BusyError
from recompose.progress import say

LOCK, LOCKS = ".lock", ".locks"  # in a folder: its own lock, and those of what is below it


def acquire(lock: FileLock, waiting: str) -> bool:
    """Acquire a lock; while another process holds it, say so in a line, and wait.

    Returns:
        Whether it had to wait.
    """
    try:
        lock.acquire(timeout=0)
    except Timeout:
        say(waiting)
        lock.acquire()
        return True
    return False


@contextmanager
def sole_writer(folder: Path) -> Iterator[None]:
    """Hold a folder that a command writes its result into; it is created if it is absent.

    Raises:
        BusyError: another process holds it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        message = f"another process writes into {folder}: wait until it has ended, or name another folder"
        raise BusyError(message, place=folder) from None
    try:
        yield
    finally:
        lock.release()


def make_once(data: Path, path: Path, make: Callable[[], object]) -> None:
    """Make a file or folder below ``data`` unless it exists; of several processes one makes it, the others wait."""
    if path.exists():
        return  # without a lock, since a complete folder of data may be read-only
    with lock_below(data, path.relative_to(data).as_posix()):
        if not path.exists():
            make()


def lock_below(folder: Path, name: str) -> FileLock:
    """Return the lock on a path below a folder, for all processes, also on machines that share the folder."""
    path = folder / LOCKS / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(path)
