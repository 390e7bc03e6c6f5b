"""Images as towers see them, against open_clip's own preprocessing, and their features."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from recompose.backbones import features
from recompose.backbones import pixels as module
from recompose.backbones.arrays import StoredArray
from recompose.backbones.clip import Backbone
from recompose.backbones.pixels import picture_pixels, read_pixels, write_pixels
from recompose.data.pictures import Picture
from recompose.errors import DataError
from tests.clips import random_clip
from tests.errors import raises
from tests.precision import assert_close

pytestmark = pytest.mark.usefixtures("in_64_bits")

SIZE = 32
KINDS = {"wide": (70, 40), "high": (33, 90), "square": (32, 32), "small": (9, 14)}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Images of several sizes, and one as an array."""
    folder = tmp_path_factory.mktemp("images")
    rng = np.random.default_rng(0)
    for kind, (width, height) in KINDS.items():
        for number in range(6):
            image = Image.fromarray(rng.integers(0, 256, (height, width, 3), dtype=np.uint8))
            image.save(folder / f"{kind}-{number}.png")
    np.save(folder / "frame.npy", rng.integers(0, 256, (40, 60, 3), dtype=np.uint8))
    return folder


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    return random_clip()


def pictures_of(root: Path) -> list[Picture]:
    return [Picture(path.name) for path in sorted(root.iterdir())]


def bytes_of(pixels: torch.Tensor, backbone: Backbone) -> np.ndarray:
    """The bytes of preprocessed pixels, from before normalisation."""
    mean, std = (torch.tensor(getattr(backbone.model.visual, f"image_{name}")) for name in ("mean", "std"))
    return ((pixels * std.view(3, 1, 1) + mean.view(3, 1, 1)) * 255).round().to(torch.uint8).numpy()


def write_and_read(pictures: list[Picture], root: Path, folder: Path) -> StoredArray:
    write_pixels(pictures, root, folder, SIZE)
    return read_pixels(folder)


def test_pixels_are_those_that_open_clip_normalises_row_by_row(
    root: Path, backbone: Backbone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BLOCK", 7)
    pictures = [*pictures_of(root)[::-1], Picture("wide-0.png", (5, 3, 50, 39))]
    found = write_and_read(pictures, root, tmp_path)
    assert (found.dtype, found.shape) == (np.uint8, (len(KINDS) * 6 + 2, 3, SIZE, SIZE))
    for row, picture in enumerate(pictures):
        expected = backbone.preprocess(picture.open(root))
        np.testing.assert_array_equal(found[row], bytes_of(expected, backbone), err_msg=picture.path)
        of_bytes = backbone.from_bytes(torch.from_numpy(np.array(found[row : row + 1])))
        assert_close(of_bytes[0], expected)


@pytest.mark.parametrize(("size", "squeezed"), [((1, 60_000), False), ((1, 500_000), True)])
def test_an_image_too_thin_for_a_resize_is_refused(tmp_path: Path, size: tuple[int, int], squeezed: bool) -> None:
    Image.new("L", size).save(tmp_path / "thin.png")
    with raises(DataError, "thin-image", place="thin.png"):
        picture_pixels(Picture("thin.png", squeezed=squeezed), tmp_path, 224)


# features


CPU = torch.device("cpu")


@pytest.mark.slow
def test_each_row_is_its_image_s_embedding_but_for_the_rounding_to_16_bits(
    backbone: Backbone, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(features, "BLOCK", 3)
    pictures = pictures_of(root)[:7]
    features.write_features(backbone, write_and_read(pictures, root, tmp_path), tmp_path, CPU)
    found = features.read_features(tmp_path)
    assert np.load(tmp_path / features.EMBEDDINGS).dtype == np.float16
    assert (found.dtype, found[2:4].dtype, found[0].dtype) == (np.float32,) * 3
    for row, picture in enumerate(pictures):
        with torch.no_grad():
            alone = backbone.encode_image(backbone.preprocess(picture.open(root)).unsqueeze(0))[0]
        np.testing.assert_allclose(found[row], alone.numpy(), rtol=2**-11, atol=2**-25)  # of 11 bits
        assert 1 - torch.cosine_similarity(torch.from_numpy(found[row]), alone, dim=0) < 2**-22  # the square of it


def test_images_of_another_size_are_refused(backbone: Backbone, root: Path, tmp_path: Path) -> None:
    write_pixels(pictures_of(root)[:1], root, tmp_path, 24)
    with raises(DataError, "wrong-size", place="image_size"):
        features.write_features(backbone, read_pixels(tmp_path), tmp_path, CPU)
