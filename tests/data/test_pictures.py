"""Images as they are shown: files and arrays, parts of them, and what is no image."""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from recompose.data.pictures import Box, Picture, open_rgb
from recompose.errors import DataError
from tests.errors import raises

HEIGHT, WIDTH = 12, 20
PIXELS = np.random.default_rng(0).integers(1, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)  # nowhere black


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the same image as a file, and as an array of blue, green, red."""
    folder = tmp_path_factory.mktemp("images")
    Image.fromarray(PIXELS).save(folder / "image.png")
    np.save(folder / "frame.npy", PIXELS[..., ::-1])
    return folder


def assert_refused(picture: Picture, root: Path, code: str) -> None:
    with raises(DataError, code, root / picture.path) as error:
        picture.open(root)
    assert picture.box is None or str(list(picture.box)) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("path", ["image.png", "frame.npy"])
def test_an_image_is_shown_whole(root: Path, path: str) -> None:
    np.testing.assert_array_equal(np.asarray(Picture(path).open(root)), PIXELS)


@pytest.mark.parametrize("path", ["image.png", "frame.npy"])
@given(left=st.integers(-5, 19), top=st.integers(-5, 11), width=st.integers(1, 30), height=st.integers(1, 30))
def test_a_box_beyond_the_image_is_black(root: Path, path: str, left: int, top: int, width: int, height: int) -> None:
    box = (left, top, left + width, top + height)
    if left + width <= 0 or top + height <= 0:
        assert_refused(Picture(path, box), root, "box-outside")
        return
    found = np.asarray(Picture(path, box).open(root))
    assert found.shape == (height, width, 3)
    for row in range(height):
        for column in range(width):
            y, x = top + row, left + column
            inside = 0 <= y < HEIGHT and 0 <= x < WIDTH
            assert found[row, column].tolist() == (PIXELS[y, x].tolist() if inside else [0, 0, 0])


@pytest.mark.parametrize("box", [(20, 0, 25, 5), (-5, 0, 0, 5), (0, -5, 5, 0), (5, 0, 5, 5)])
def test_a_box_beside_the_image_or_of_no_pixels_is_an_error(root: Path, box: Box) -> None:
    assert_refused(Picture("image.png", box), root, "box-outside")


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_a_box_of_more_pixels_than_memory_is_an_error(root: Path) -> None:
    assert_refused(Picture("image.png", (0, 0, 1_000_000, 1_000_000)), root, "large-box")


# modes


def write_every_mode(folder: Path) -> Iterator[Path]:
    """Write an image of noise in each mode of bytes, transparent where it can be, and with palettes that are."""
    noise = Image.fromarray(np.random.default_rng(0).integers(0, 256, (40, 70, 3), dtype=np.uint8))
    for mode in ("1", "CMYK", "L", "P", "YCbCr", "LA", "RGBA"):
        image = noise.convert(mode)
        if mode.endswith("A"):
            image.putalpha(noise.convert("L"))
        image.save(folder / f"{mode}.tif")
        yield folder / f"{mode}.tif"
    for name, transparency in (("one colour", 3), ("all colours", bytes(range(256)))):
        noise.convert("P").save(folder / f"{name}.png", transparency=transparency)
        yield folder / f"{name}.png"


def test_images_of_every_mode_are_those_that_pillow_converts(tmp_path: Path) -> None:
    for path in write_every_mode(tmp_path):
        with Image.open(path) as stored:
            stored.info.clear()  # or Pillow warns of a palette's transparency
            np.testing.assert_array_equal(np.asarray(open_rgb(path)), np.asarray(stored.convert("RGB")), path.name)


@pytest.mark.parametrize(("kind", "value"), [(">u2", 65535), ("int32", -1), ("float32", 0.5), ("float32", np.nan)])
def test_values_that_8_bits_cannot_hold_are_refused(tmp_path: Path, kind: str, value: float) -> None:
    values = np.arange(16, dtype=kind).reshape(4, 4)
    Image.fromarray(values).save(tmp_path / "image.tif")
    np.testing.assert_array_equal(np.asarray(open_rgb(tmp_path / "image.tif"))[..., 1], values)
    values[1, 2] = value
    Image.fromarray(values).save(tmp_path / "image.tif")
    assert_refused(Picture("image.tif"), tmp_path, "damaged-image")


# sizes


@pytest.mark.parametrize("most", [Image.MAX_IMAGE_PIXELS, None], ids=["by default", "where Pillow's bound is lifted"])
def test_a_file_that_says_it_is_huge_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int | None
) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", most)

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    (tmp_path / "bomb.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b""))
    assert_refused(Picture("bomb.png"), tmp_path, "damaged-image")
