"""Images decoded in advance by threads: decoding and resizing leave other threads free, and no copies wait in shared
memory, which is scarce in containers. Imported without torch.
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


def decoded_blocks(decode: Callable[[T], np.ndarray], images: Sequence[T], size: int) -> Iterator[np.ndarray]:
    """Yield decoded images [images, ...] in their order, ``size`` at a time; as many more are decoded in advance."""
    decoded = _decode_ahead(decode, images, size)
    while block := list(islice(decoded, size)):
        yield np.stack(block)


def _decode_ahead(decode: Callable[[T], np.ndarray], images: Sequence[T], size: int) -> Iterator[np.ndarray]:
    pool = ThreadPoolExecutor(min(os.cpu_count() or 1, MAX_WORKERS))
    waiting: deque[Future[np.ndarray]] = deque()
    try:
        for image in images:
            waiting.append(pool.submit(decode, image))
            if len(waiting) > size:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
