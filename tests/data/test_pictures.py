"""Images as they are shown: whole, in part, and from arrays whose channels stand the other way round."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from recompose.data.pictures import Picture
from recompose.errors import DataError

PIXELS = np.arange(6 * 8 * 3, dtype=np.uint8).reshape(6, 8, 3)  # of an image of 8 x 6


@pytest.fixture
def root(tmp_path: Path) -> Path:
    Image.fromarray(PIXELS).save(tmp_path / "a.png")
    np.save(tmp_path / "a.npy", PIXELS[..., ::-1])
    return tmp_path


@pytest.mark.parametrize("name", ["a.png", "a.npy"])
def test_an_image_and_a_part_of_it(root: Path, name: str) -> None:
    assert np.array_equal(np.asarray(Picture(name).open(root)), PIXELS)
    assert np.array_equal(np.asarray(Picture(name, (2, 1, 5, 6)).open(root)), PIXELS[1:6, 2:5])


def test_what_a_box_has_beyond_the_image_is_black(root: Path) -> None:
    framed = np.zeros((10, 12, 3), dtype=np.uint8)
    framed[2:8, 2:10] = PIXELS
    assert np.array_equal(np.asarray(Picture("a.png", (-2, -2, 10, 8)).open(root)), framed)


@pytest.mark.parametrize("box", [(8, 0, 9, 1), (0, 6, 1, 7), (-3, 0, 0, 4), (0, -3, 4, 0), (3, 2, 3, 4), (3, 4, 5, 2)])
def test_a_box_beside_the_image_is_refused(root: Path, box: tuple[int, int, int, int]) -> None:
    with pytest.raises(DataError, match=r"a\.png: the box .* is not in the image of 8 x 6 pixels"):
        Picture("a.png", box).open(root)


def test_a_box_without_end_is_refused(root: Path) -> None:
    with pytest.raises(DataError, match="is too large"):
        Picture("a.png", (0, 0, 10**300, 10**300)).open(root)


def saved(array: np.ndarray, **how: bool) -> bytes:
    file = io.BytesIO()
    np.save(file, array, **how)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("b.png", b""),
        ("b.png", b"no image"),
        ("b.jpg", b"\xff\xd8\xff\xe0"),
        ("b.npy", b"no array"),
        ("b.npy", b"\x80\x04N."),  # a pickle
        ("b.npy", saved(np.array([{}], dtype=object), allow_pickle=True)),
        ("b.npy", saved(PIXELS.astype(np.float32))),
        ("b.npy", saved(PIXELS[..., 0])),
        ("b.npy", saved(PIXELS)[:-1]),
        ("absent.png", None),
    ],
)
def test_what_is_no_image_is_named(root: Path, name: str, content: bytes | None) -> None:
    if content is not None:
        (root / name).write_bytes(content)
    with pytest.raises(DataError, match=name.replace(".", r"\.")):
        Picture(name).open(root)
