"""Images as they are shown: files, or parts of them. Imported without torch."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from recompose.data.paths import is_inside
from recompose.errors import DataError

Box = tuple[int, int, int, int]  # left, top, right, bottom, in pixels


@dataclass(frozen=True)
class Picture:
    """An image as it is shown: a file below the root of raw files, or a part of it."""

    path: str
    box: Box | None = None  # what it is cropped to; None: nothing is
    squeezed: bool = False  # into a square, in place of being cropped to its middle

    def open(self, root: Path) -> Image.Image:
        """The image, decoded.

        A file ``.npy`` holds [height, width, 3] bytes in the order blue, green, red. What of a box is beyond the image
        is black, as in released code that crops: boxes of Visual Genome go a little beyond.

        Raises:
            DataError: the file is outside of the root, or is no readable image, or the box is beside it.
        """
        if not is_inside(self.path):
            raise DataError(f"{self.path!r} is no path inside the folder of raw files")
        file = root / self.path
        try:
            image = _from_array(file) if file.suffix == ".npy" else _from_file(file)
        except Exception as error:  # the decoder of a broken file may raise anything
            raise DataError(f"{file} is no readable image: {str(error) or type(error).__name__}") from None
        return image if self.box is None else _cropped(image, self.box, file)


def _cropped(image: Image.Image, box: Box, file: Path) -> Image.Image:
    left, top, right, bottom = box
    beside = left >= image.width or top >= image.height or right <= 0 or bottom <= 0
    if beside or left >= right or top >= bottom:
        raise DataError(f"{file}: the box {list(box)} is not in the image of {image.width} x {image.height} pixels")
    try:
        return image.crop(box)
    except Image.DecompressionBombError as error:
        raise DataError(f"{file}: the box {list(box)} is too large: {error}") from None


def _from_file(file: Path) -> Image.Image:
    with Image.open(file) as image:
        image.load()
        return image


def _from_array(file: Path) -> Image.Image:
    pixels = np.load(file, mmap_mode="r", allow_pickle=False)
    if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3 or not pixels.size:
        raise ValueError(f"it holds {pixels.dtype} of shape {pixels.shape}, not [height, width, 3] bytes")
    return Image.fromarray(np.ascontiguousarray(pixels[..., ::-1]))
