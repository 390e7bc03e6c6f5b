"""Images decoded in advance by threads: decoding and resizing leave other threads free, and no copies wait in shared
memory, which is scarce in containers. Imported without torch.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

MAX_WORKERS = 16
T = TypeVar("T")


def decoded_blocks(decode: Callable[[T], np.ndarray], images: Sequence[T], size: int) -> Iterator[np.ndarray]:
    """Yield decoded images [images, ...] in their order, ``size`` at a time; as many more are decoded in advance."""
    pool = ThreadPoolExecutor(min(os.cpu_count() or 1, MAX_WORKERS))
    try:
        block = pool.map(decode, images[:size])
        for end in range(size, len(images) + size, size):
            ahead = pool.map(decode, images[end : end + size])
            yield np.stack(list(block))
            block = ahead
    finally:
        pool.shutdown(cancel_futures=True)
