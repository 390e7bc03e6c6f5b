"""Images as towers see them, before normalisation: decoded, cut and resized once, and memory-mapped.

Towers that are tuned see the images of a data set again and again, in each epoch and in each evaluation.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from torch import Tensor
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms import v2

from recompose.data.pictures import Picture
from recompose.progress import Pace

PIXELS = "pixels.npy"  # [pictures, 3, size, size], bytes
BLOCK = 256  # pictures decoded at once
SAY_EVERY = 40  # blocks


class Pictures(Dataset[Tensor]):
    """Pictures as bytes [3, size, size]: the shorter side resized to ``size``, bicubically, and the middle cut out, as
    CLIP takes them; squeezed ones resized alone.

    Raises:
        DataError: one is no readable image; from ``[]``, which names it.
    """

    def __init__(self, pictures: Sequence[Picture], root: Path, size: int) -> None:
        self._pictures, self._root = pictures, root
        bicubic = v2.InterpolationMode.BICUBIC
        finish = [v2.RGB(), v2.PILToTensor()]
        self._cut = v2.Compose([v2.Resize(size, bicubic), v2.CenterCrop(size), *finish])
        self._squeeze = v2.Compose([v2.Resize((size, size), bicubic), *finish])

    def __len__(self) -> int:
        return len(self._pictures)

    def __getitem__(self, index: int) -> Tensor:
        picture = self._pictures[index]
        transform = self._squeeze if picture.squeezed else self._cut
        made: Tensor = transform(picture.open(self._root))
        return made


def in_blocks(pictures: Sequence[Picture], root: Path, size: int, workers: int) -> DataLoader[Tensor]:
    """Pictures [pictures, 3, size, size] of bytes in their order, a block at a time."""
    return DataLoader(Pictures(pictures, root, size), batch_size=BLOCK, num_workers=workers)


def write_pixels(pictures: Sequence[Picture], root: Path, folder: Path, size: int) -> None:
    """Write pictures into a folder as towers see them.

    Raises:
        DataError: one is no readable image.
    """
    shape = (len(pictures), 3, size, size)
    pixels = np.lib.format.open_memmap(folder / PIXELS, mode="w+", dtype=np.uint8, shape=shape)
    pace = Pace("pixels", "picture", len(pictures))
    for number, block in enumerate(in_blocks(pictures, root, size, workers=_workers(len(pictures)))):
        done = number * BLOCK
        pixels[done : done + len(block)] = block.numpy()
        if number % SAY_EVERY == SAY_EVERY - 1:
            pace.at(done + len(block))
    pixels.flush()


def read_pixels(folder: Path) -> np.ndarray:
    """The pictures of a folder that the store has verified, memory-mapped."""
    array: np.ndarray = np.load(folder / PIXELS, mmap_mode="r", allow_pickle=False)
    return array


def _workers(pictures: int) -> int:
    """Processes that decode: none where there is little to decode, since each has to be started."""
    return 0 if pictures < 50 * BLOCK else min(os.cpu_count() or 1, 16)
