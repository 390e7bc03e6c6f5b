"""Pictures as towers see them: the bytes that open_clip's own preprocessing has before it normalises."""

from pathlib import Path

import numpy as np
import open_clip
import pytest
import torch
from PIL import Image

from recompose.backbones.pixels import BLOCK, in_blocks, read_pixels, write_pixels
from recompose.data.pictures import Picture
from recompose.errors import DataError

SIZE = 32


def write_image(path: Path, width: int, height: int, mode: str, seed: int) -> None:
    channels = Image.fromarray(np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8))
    channels.resize((width, height)).convert(mode).save(path)


@pytest.mark.parametrize("mode", ["RGB", "L", "P", "RGBA", "LA", "1"])
@pytest.mark.parametrize(("width", "height"), [(47, 91), (91, 47), (32, 32), (5, 7), (33, 65)])
def test_pictures_are_what_open_clip_sees(tmp_path: Path, width: int, height: int, mode: str) -> None:
    write_image(tmp_path / "a.png", width, height, mode, seed=width)
    preprocess = open_clip.image_transform(SIZE, is_train=False, mean=(0.0,) * 3, std=(1.0,) * 3)
    with Image.open(tmp_path / "a.png") as image:
        expected = (preprocess(image) * 255).round().to(torch.uint8)
    (found,) = in_blocks([Picture("a.png")], tmp_path, SIZE, workers=0)
    assert found.dtype == torch.uint8 and torch.equal(found[0], expected)


def test_squeezed_ones_show_all_of_the_image(tmp_path: Path) -> None:
    write_image(tmp_path / "a.png", 90, 40, "RGB", seed=1)
    (found,) = in_blocks([Picture("a.png", squeezed=True)], tmp_path, SIZE, workers=0)
    with Image.open(tmp_path / "a.png") as image:
        expected = np.asarray(image.resize((SIZE, SIZE), Image.Resampling.BICUBIC))
    assert np.array_equal(found[0].permute(1, 2, 0).numpy(), expected)


def test_what_is_written_is_read_in_its_order(tmp_path: Path) -> None:
    for number in range(3):
        Image.new("RGB", (40, 50), (number, 10, 20)).save(tmp_path / f"{number}.png")
    shown = [Picture(f"{number % 3}.png") for number in range(BLOCK + 2)]  # more than a block
    (tmp_path / "pixels").mkdir()
    write_pixels(shown, tmp_path, tmp_path / "pixels", SIZE)
    pixels = read_pixels(tmp_path / "pixels")
    assert pixels.shape == (len(shown), 3, SIZE, SIZE) and pixels.dtype == np.uint8
    assert pixels[:, 0, 0, 0].tolist() == [number % 3 for number in range(len(shown))]
    assert (pixels[:, 1:] == np.array([10, 20])[:, None, None]).all()


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(DataError, match=r"a\.png is no readable image"):
        write_pixels([Picture("a.png")], tmp_path, tmp_path, SIZE)
