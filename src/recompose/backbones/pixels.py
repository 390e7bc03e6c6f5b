"""Images as inputs of towers, before normalisation: decoded, cropped and resized once, and memory-mapped.

Frozen towers embed them; towers that are tuned read the images of a data set in each epoch and in each evaluation.
Imported without torch.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from PIL import Image

from recompose.backbones.arrays import ArrayWriter, StoredArray
from recompose.cores import usable_cores
from recompose.data.content import function_of, unchanged_raw
from recompose.data.pictures import Picture, check_resize
from recompose.errors import DataError
from recompose.recipes.plan import Recipe

PIXELS = "pixels.npy"  # [pictures, 3, size, size], bytes
BLOCK = 64  # pictures written at a time
MAX_WORKERS = 16
T = TypeVar("T")


def picture_pixels(picture: Picture, root: Path, size: int) -> np.ndarray:
    """Return a picture as bytes [3, size, size]: the shorter side resized to ``size``, bicubically, and cropped to the
    middle, as CLIP does; squeezed ones are only resized.

    Raises:
        DataError: it is no readable image, or so thin that it would not fit into memory.
    """
    return square_bytes(picture.open(root), size, root / picture.path, squeezed=picture.squeezed)


def square_bytes(
    image: Image.Image,
    size: int,
    file: Path,
    *,
    squeezed: bool = False,
    resampling: Image.Resampling = Image.Resampling.BICUBIC,
) -> np.ndarray:
    """Return an image in RGB as bytes [3, size, size]: red, green and blue.

    Args:
        image: the image.
        size: the pixels of its shorter side, which are all of the longer one that remain.
        file: its file, for messages.
        squeezed: resize both sides in place of a crop.
        resampling: the filter.

    Raises:
        DataError: it is so thin that it would not fit into memory.
    """
    check_resize(image, size, file, squeezed=squeezed)
    short = min(image.size)
    width, height = (size if squeezed or side == short else size * side // short for side in image.size)
    x, y = round((width - size) / 2), round((height - size) / 2)
    square = image.resize((width, height), resampling).crop((x, y, x + size, y + size))
    return np.asarray(square).transpose(2, 0, 1)


def decoded_blocks(decode: Callable[[T], np.ndarray], images: Sequence[T], size: int) -> Iterator[np.ndarray]:
    """Yield decoded images [images, ...] in their order, ``size`` at a time; threads decode as many more in advance.

    Decoding and resizing leave other threads free, and no copies wait in shared memory, which is scarce in containers.
    """
    pool = ThreadPoolExecutor(min(usable_cores(), MAX_WORKERS))
    try:
        block = pool.map(decode, images[:size])
        for end in range(size, len(images) + size, size):
            ahead = pool.map(decode, images[end : end + size])
            yield np.stack(list(block))
            block = ahead
    finally:
        pool.shutdown(cancel_futures=True)


def make_pixels(recipe: Recipe, needs: Mapping[str, Path], folder: Path) -> None:
    """Decode the pictures of a data set once, as inputs of towers."""
    root = unchanged_raw(recipe.needs["data"], needs["data"], needs["raw"])
    write_pixels(function_of(recipe, "pictures")(needs["data"]), root, folder, recipe.document["size"])


def pixels_of(pictures: Sequence[Picture], root: Path, size: int) -> Iterator[np.ndarray]:
    """Yield pictures [pictures, 3, size, size] as bytes in their order, block by block.

    Raises:
        DataError: one is no readable image.
    """
    return decoded_blocks(partial(picture_pixels, root=root, size=size), pictures, BLOCK)


def write_pixels(pictures: Sequence[Picture], root: Path, folder: Path, size: int) -> None:
    """Write pictures into a folder as inputs of towers; resume an interrupted process.

    Raises:
        DataError: one is no readable image.
        OSError: the disk has no room for them.
    """
    with ArrayWriter(folder / PIXELS, (len(pictures), 3, size, size), "uint8") as pixels:
        for block in pixels_of(pictures[pixels.done :], root, size):
            pixels.append(block)


def check_size(actual: tuple[int, ...], expected: tuple[int, ...]) -> None:
    """Check that pictures [height, width] have the size that a CLIP takes.

    Raises:
        DataError: they have another one.
    """
    if actual != expected:
        sizes = (" x ".join(map(str, size)) for size in (actual, expected))
        fault = "pictures have {} pixels, and this CLIP takes {}: image_size in params.yaml".format(*sizes)
        raise DataError(fault, code="wrong-size", place="image_size")


def read_pixels(folder: Path) -> StoredArray:
    """Return the pictures of a folder that the store has verified, memory-mapped."""
    return StoredArray(folder / PIXELS)
