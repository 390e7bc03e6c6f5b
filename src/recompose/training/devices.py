"""The GPUs of this machine, shared by processes that run side by side: each takes its own."""

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
    """Within this context this process sees so many GPUs, which no other process sees that asked in the same folder;
    gives their names.

    Where it sees no more than it needs from the start, as in a scheduler's job, it keeps those. A process that ends,
    however it does, gives its GPUs back. CUDA must not have begun in it.

    Args:
        folder: where processes tell each other what they have.
        count: how many GPUs to see.
    """
    names = _visible()
    if len(names) <= count:
        yield names
        return
    before = os.environ.get(VISIBLE)
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        own = _taken(held, folder, names, count)
        os.environ[VISIBLE] = ",".join(own)
        try:
            yield own
        finally:
            if before is None:
                del os.environ[VISIBLE]
            else:
                os.environ[VISIBLE] = before


def _visible() -> list[str]:
    """The names of the GPUs that this process sees, as the variable has them."""
    if VISIBLE in os.environ:
        return [name for name in (part.strip() for part in os.environ[VISIBLE].split(",")) if name]
    import torch

    return [str(number) for number in range(torch.cuda.device_count())]


def _taken(held: ExitStack, folder: Path, names: list[str], count: int) -> list[str]:
    """So many of the GPUs, or none yet: no two processes wait for each other's."""
    told = False
    while True:
        with ExitStack() as tried:
            free = (name for name in names if _is_free(tried, folder / f"gpu-{platform.node()}-{name}.lock"))
            own = list(islice(free, count))
            if len(own) == count:
                held.push(tried.pop_all())
                return own
        if not told:
            say(f"waiting for {count} of the GPUs {', '.join(names)}: others have them")
            told = True
        time.sleep(LOOK_AGAIN)


def _is_free(held: ExitStack, path: Path) -> bool:
    try:
        held.enter_context(FileLock(path, timeout=0))
    except Timeout:
        return False
    return True
