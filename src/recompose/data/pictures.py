"""Images as they are displayed: files, or regions of them. Imported without torch."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from recompose.data.paths import is_inside
from recompose.errors import DataError

Box = tuple[int, int, int, int]  # left, top, right, bottom, in pixels


@dataclass(frozen=True)
class Picture:
    """An image as it is displayed: a file below the root of raw files, or a region of it."""

    path: str
    box: Box | None = None  # the region; None: the whole image
    squeezed: bool = False  # into a square, instead of a centre crop

    def open(self, root: Path) -> Image.Image:
        """Return the decoded image.

        A file ``.npy`` holds [height, width, 3] bytes in the order blue, green, red. The part of a box beyond the image
        is black, as in released code that crops: boxes of Visual Genome reach a little beyond.

        Raises:
            DataError: the file is outside of the root, is no readable image, or the box lies outside the image.
        """
        if not is_inside(self.path):
            fault = f"{self.path!r} is no path inside the folder of raw files"
            raise DataError(fault, code="outside-folder", place=self.path)
        file = root / self.path
        try:
            image = _from_array(file) if file.suffix == ".npy" else _from_file(file)
        except Exception as error:  # the decoder of a broken file may raise anything
            fault = f"{file} is no readable image: {str(error) or type(error).__name__}"
            raise DataError(fault, code="damaged-image", place=file) from None
        return image if self.box is None else _crop(image, self.box, file)


def _crop(image: Image.Image, box: Box, file: Path) -> Image.Image:
    x, y, right, bottom = box
    outside = x >= image.width or y >= image.height or right <= 0 or bottom <= 0
    if outside or x >= right or y >= bottom:
        fault = f"the box {list(box)} is not in the image of {image.width} x {image.height} pixels"
        raise DataError(f"{file}: {fault}", code="box-outside", place=file)
    try:
        return image.crop(box)
    except Image.DecompressionBombError as error:
        fault = f"{file}: the box {list(box)} is too large: {error}"
        raise DataError(fault, code="large-box", place=file) from None


def _from_file(file: Path) -> Image.Image:
    with Image.open(file) as image:
        image.load()
        return image


def _from_array(file: Path) -> Image.Image:
    pixels = np.load(file, mmap_mode="r", allow_pickle=False)
    if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3 or not pixels.size:
        raise ValueError(f"it holds {pixels.dtype} of shape {pixels.shape}, not [height, width, 3] bytes")
    return Image.fromarray(np.ascontiguousarray(pixels[..., ::-1]))
