"""The GPUs of this machine, shared by concurrent processes: each process reserves its own."""

import os
import platform
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path

from filelock import FileLock, Timeout

from recompose.progress import say

VISIBLE = "CUDA_VISIBLE_DEVICES"
LOOK_AGAIN = 5.0  # seconds


@contextmanager
def own_devices(folder: Path, count: int) -> Iterator[list[str]]:
    """Reserve so many GPUs for this process within this context; yields their names.

    No other process that reserves in the same folder sees them. A process that sees no more GPUs than it needs from the
    start, as in a scheduler's job, uses those. A process that ends for any reason releases its GPUs. CUDA must not be
    initialised yet.

    Args:
        folder: where processes put their lock files.
        count: the number of GPUs.
    """
    names = _visible()
    if len(names) <= count:
        yield names
        return
    before = os.environ.get(VISIBLE)
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as locks:
        reserved = _reserve(locks, folder, names, count)
        os.environ[VISIBLE] = ",".join(reserved)
        try:
            yield reserved
        finally:
            if before is None:
                del os.environ[VISIBLE]
            else:
                os.environ[VISIBLE] = before


def _visible() -> list[str]:
    """Return the names of the GPUs that this process sees, as in CUDA_VISIBLE_DEVICES."""
    if VISIBLE in os.environ:
        return [name for name in (part.strip() for part in os.environ[VISIBLE].split(",")) if name]
    import torch

    return [str(number) for number in range(torch.cuda.device_count())]


def _reserve(locks: ExitStack, folder: Path, names: list[str], count: int) -> list[str]:
    """Return the names of so many free GPUs, all or none at a time, so that no two processes wait for each other."""
    is_reported = False
    while True:
        with ExitStack() as attempt:
            free = (name for name in names if _is_free(attempt, folder / f"gpu-{platform.node()}-{name}.lock"))
            reserved = list(islice(free, count))
            if len(reserved) == count:
                locks.push(attempt.pop_all())
                return reserved
        if not is_reported:
            say(f"waiting for {count} of the GPUs {', '.join(names)}: other processes use them")
            is_reported = True
        time.sleep(LOOK_AGAIN)


def _is_free(locks: ExitStack, path: Path) -> bool:
    try:
        locks.enter_context(FileLock(path, timeout=0))
    except Timeout:
        return False
    return True
