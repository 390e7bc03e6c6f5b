"""Images as towers see them, before normalisation: decoded, cut and resized once, and memory-mapped.

Frozen towers embed them; towers that are tuned see the images of a data set again and again, in each epoch and in each
evaluation. Imported without torch.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

from recompose.backbones.arrays import ShardedArray, Unfinished, pixels_layout
from recompose.backbones.images import in_blocks
from recompose.data.pictures import Picture
from recompose.errors import DataError

PIXELS = "pixels.npy"  # [pictures, 3, size, size], bytes
BLOCK = 64  # pictures that are written at a time


def shown(picture: Picture, root: Path, size: int) -> np.ndarray:
    """A picture as bytes [3, size, size]: the shorter side resized to ``size``, bicubically, and the middle cut out, as
    CLIP takes them; squeezed ones resized alone.

    Raises:
        DataError: it is no readable image, or so thin that it would not fit into memory.
    """
    image = picture.open(root)
    if picture.squeezed:
        return as_bytes(image.resize((size, size), Image.Resampling.BICUBIC))
    short, long = sorted(image.size)
    if size**2 * long > (Image.MAX_IMAGE_PIXELS or 0) * short:
        raise DataError(f"{root / picture.path} is too thin to be shown: {image.width} x {image.height} pixels")
    width, height = (size if side == short else size * side // short for side in image.size)
    resized = image.resize((width, height), Image.Resampling.BICUBIC)
    left, top = round((width - size) / 2), round((height - size) / 2)
    return as_bytes(resized.crop((left, top, left + size, top + size)))


def as_bytes(image: Image.Image) -> np.ndarray:
    """An image as bytes [3, height, width]: red, green and blue."""
    return np.asarray(image.convert("RGB")).transpose(2, 0, 1)


def pixels_of(pictures: Sequence[Picture], root: Path, size: int) -> Iterator[np.ndarray]:
    """Pictures [pictures, 3, size, size] of bytes in their order, a block at a time.

    Raises:
        DataError: one is no readable image.
    """
    return in_blocks(partial(shown, root=root, size=size), pictures, BLOCK)


def write_pixels(pictures: Sequence[Picture], root: Path, folder: Path, size: int) -> None:
    """Write pictures into a folder as towers see them, or those that an interrupted process had not come to.

    Raises:
        DataError: one is no readable image.
        OSError: the disk has no room for them.
    """
    with Unfinished(folder, pixels_layout(size, size), len(pictures)) as pixels:
        for block in pixels_of(pictures[pixels.done :], root, size):
            pixels.append(block)


def check_size(given: tuple[int, ...], taken: tuple[int, ...]) -> None:
    """See to it that pictures [height, width] have the size that a CLIP takes.

    Raises:
        DataError: they have another one.
    """
    if given != taken:
        sizes = (" x ".join(map(str, size)) for size in (given, taken))
        raise DataError("pictures are of {} pixels, and this CLIP takes {}: image_size in params.yaml".format(*sizes))


def read_pixels(folder: Path) -> ShardedArray:
    """The pictures of a folder that the store has verified, memory-mapped."""
    return ShardedArray.read(folder / PIXELS)
