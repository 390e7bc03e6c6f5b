"""Images decoded ahead of what takes them, by threads: decoding and resizing leave other threads free, and no copies
wait in shared memory, of which containers have little. Imported without torch.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

import numpy as np

MAX_WORKERS = 16
T = TypeVar("T")


def in_blocks(shown: Callable[[T], np.ndarray], images: Sequence[T], size: int) -> Iterator[np.ndarray]:
    """What is shown of images [images, ...] in their order, ``size`` at a time; as much again is decoded ahead."""
    each = _ahead(shown, images, size)
    while block := list(islice(each, size)):
        yield np.stack(block)


def _ahead(shown: Callable[[T], np.ndarray], images: Sequence[T], size: int) -> Iterator[np.ndarray]:
    pool = ThreadPoolExecutor(min(os.cpu_count() or 1, MAX_WORKERS))
    waiting: deque[Future[np.ndarray]] = deque()
    try:
        for image in images:
            waiting.append(pool.submit(shown, image))
            if len(waiting) > size:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
