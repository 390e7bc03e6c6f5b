"""Images as they are displayed: files, or regions of them, always in 8-bit RGB. Imported without torch.

The loaders of the field's released code convert an image to RGB before they resize it (CSP at 660fcff, TransZero at
7c10cdb), which matters for palettes, transparency and 1 bit. FSC-CLIP's code at 604015d converts afterwards, but reads
JPEGs alone, for which the order makes no difference.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from recompose.data.paths import is_inside
from recompose.errors import DataError

Box = tuple[int, int, int, int]  # left, top, right, bottom, in pixels
MOST_PIXELS = 2**30 // 12  # of what a resize needs, and half of a file's: Pillow's bounds, until somebody lifts them


@dataclass(frozen=True)
class Picture:
    """An image as it is displayed: a file below the root of raw files, or a region of it."""

    path: str
    box: Box | None = None  # the region; None: the whole image
    squeezed: bool = False  # into a square, instead of a centre crop

    def open(self, root: Path) -> Image.Image:
        """Return the decoded image, in 8-bit RGB.

        The part of a box beyond the image is black, as in released code that crops: boxes of Visual Genome reach a
        little beyond.

        Raises:
            DataError: the file is outside of the root, is no readable image, or the box lies outside the image.
        """
        if not is_inside(self.path):
            fault = f"{self.path!r} is no path inside the folder of raw files"
            raise DataError(fault, code="outside-folder", place=self.path)
        file = root / self.path
        image = open_rgb(file)
        return image if self.box is None else _crop(image, self.box, file)


def open_rgb(file: Path) -> Image.Image:
    """Return the image of a file in 8-bit RGB: a palette's colours, and those below any transparency.

    A file ``.npy`` holds [height, width, 3] bytes in the order blue, green, red.

    Raises:
        DataError: it is no readable image, or holds values that 8 bits cannot.
    """
    try:
        return _from_array(file) if file.suffix == ".npy" else _from_file(file)
    except Exception as error:  # the decoder of a broken file may raise anything
        fault = f"{file} is no readable image: {str(error) or type(error).__name__}"
        raise DataError(fault, code="damaged-image", place=file) from None


def check_resize(image: Image.Image, size: int, file: Path, *, squeezed: bool = False) -> None:
    """Check that an image can be resized, so that its shorter side has ``size`` pixels, in a bounded memory.

    Args:
        image: the image.
        size: the pixels of its shorter side afterwards.
        file: its file, for the message.
        squeezed: whether the longer side gets as many.

    Raises:
        DataError: it is too thin.
    """
    short, long = sorted(image.size)
    if (size * long if squeezed else size**2 * long / short) > MOST_PIXELS:
        fault = f"{file} is too thin: {image.width} x {image.height} pixels; crop it"
        raise DataError(fault, code="thin-image", place=file)


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
        _check_count(image.width * image.height)
        image.load()
        return _to_rgb(image)


def _check_count(pixels: int) -> None:
    if pixels > 2 * MOST_PIXELS:
        raise ValueError(f"its {pixels} pixels are more than {2 * MOST_PIXELS}")


def _to_rgb(image: Image.Image) -> Image.Image:
    """Return an image in RGB.

    Raises:
        ValueError: it has one channel of more than 8 bits with other values; Pillow would make them white or black.
    """
    if image.mode == "RGB":
        return image
    if image.mode[0] in "IF":
        values = np.asarray(image)
        if not np.isin(values, np.arange(256)).all():
            raise ValueError(f"of its values (mode {image.mode}), some are not whole numbers from 0 to 255; use 8 bits")
        image = Image.fromarray(values.astype(np.uint8))
    image.info.pop("transparency", None)  # of which Pillow warns, and which changes no colour
    return image.convert("RGB")


def _from_array(file: Path) -> Image.Image:
    pixels = np.load(file, mmap_mode="r", allow_pickle=False)
    if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3 or not pixels.size:
        raise ValueError(f"it holds {pixels.dtype} of shape {pixels.shape}, not [height, width, 3] bytes")
    _check_count(pixels.shape[0] * pixels.shape[1])
    return Image.fromarray(np.ascontiguousarray(pixels[..., ::-1]))
