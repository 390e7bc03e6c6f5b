"""Images as towers see them, before normalisation: decoded, cut and resized once, and memory-mapped.

Towers that are tuned see the images of a data set again and again, in each epoch and in each evaluation.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms import v2

from recompose.data.pictures import Picture
from recompose.errors import DataError
from recompose.files import check_room
from recompose.progress import Pace

PIXELS = "pixels.npy"  # [pictures, 3, size, size], bytes
BLOCK = 64  # pictures decoded at once: those of all worker processes wait in shared memory
SAY_EVERY = 160  # blocks
MANY = 10_000  # pictures, for which it pays to start processes that decode


class Pictures(Dataset[Tensor]):
    """Pictures as bytes [3, size, size]: the shorter side resized to ``size``, bicubically, and the middle cut out, as
    CLIP takes them; squeezed ones resized alone.

    Raises:
        DataError: one is no readable image, or so thin that it would not fit into memory; from ``[]``, which names it.
    """

    def __init__(self, pictures: Sequence[Picture], root: Path, size: int) -> None:
        self._pictures, self._root, self._size = pictures, root, size
        bicubic = v2.InterpolationMode.BICUBIC
        finish = [v2.RGB(), v2.PILToTensor()]
        self._cut = v2.Compose([v2.Resize(size, bicubic), v2.CenterCrop(size), *finish])
        self._squeeze = v2.Compose([v2.Resize((size, size), bicubic), *finish])

    def __len__(self) -> int:
        return len(self._pictures)

    def __getitem__(self, index: int) -> Tensor:
        picture = self._pictures[index]
        image = picture.open(self._root)
        short, long = sorted(image.size)
        if not picture.squeezed and self._size**2 * long > (Image.MAX_IMAGE_PIXELS or 0) * short:
            raise DataError(
                f"{self._root / picture.path} is too thin to be shown: {image.width} x {image.height} pixels"
            )
        made: Tensor = (self._squeeze if picture.squeezed else self._cut)(image)
        return made


class _OrWhyNot(Dataset[Any]):
    """Pictures, and in place of one that cannot be read, why: what a worker process raises arrives as its trace."""

    def __init__(self, pictures: Pictures) -> None:
        self._pictures = pictures

    def __len__(self) -> int:
        return len(self._pictures)

    def __getitem__(self, index: int) -> Tensor | str:
        try:
            return self._pictures[index]
        except DataError as error:
            return str(error)


def _block(pictures: list[Tensor | str]) -> Tensor | str:
    """Pictures [pictures, 3, size, size], or why the first of those that cannot be read is not."""
    readable = [picture for picture in pictures if isinstance(picture, Tensor)]
    faults = [picture for picture in pictures if isinstance(picture, str)]
    return faults[0] if faults else torch.stack(readable)


def in_blocks(pictures: Sequence[Picture], root: Path, size: int, workers: int) -> Iterator[Tensor]:
    """Pictures [pictures, 3, size, size] of bytes in their order, a block at a time.

    Raises:
        DataError: one is no readable image.
    """
    shown = _OrWhyNot(Pictures(pictures, root, size))
    for block in DataLoader(shown, batch_size=BLOCK, num_workers=workers, collate_fn=_block):
        if isinstance(block, str):
            raise DataError(block)
        yield block


def write_pixels(pictures: Sequence[Picture], root: Path, folder: Path, size: int) -> None:
    """Write pictures into a folder as towers see them.

    Raises:
        DataError: one is no readable image.
        OSError: the disk has no room for them.
    """
    shape = (len(pictures), 3, size, size)
    check_room(folder, int(np.prod(shape)))
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
    return 0 if pictures < MANY else min(os.cpu_count() or 1, 16)
