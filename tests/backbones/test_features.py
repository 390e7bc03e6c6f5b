"""The feature cache."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from recompose.backbones import features
from recompose.backbones.arrays import StoredArray
from recompose.backbones.clip import Backbone
from recompose.backbones.pixels import read_pixels, write_pixels
from recompose.data.pictures import Picture
from recompose.errors import DataError
from tests.clips import random_clip
from tests.errors import raises

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    return random_clip()


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    rng = np.random.default_rng(0)
    found = [tmp_path / f"{index}.png" for index in range(7)]
    for path in found:
        Image.fromarray(rng.integers(0, 256, (40, 50, 3), dtype=np.uint8)).save(path)
    return found


@pytest.fixture
def pixels(paths: list[Path], tmp_path: Path) -> StoredArray:
    write_pixels([Picture(path.name) for path in paths], tmp_path, tmp_path, 32)
    return read_pixels(tmp_path)


@pytest.mark.slow
def test_each_row_is_its_image_s_embedding_but_for_the_rounding_to_16_bits(
    backbone: Backbone, paths: list[Path], pixels: StoredArray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(features, "BLOCK", 3)
    features.write_features(backbone, pixels, tmp_path, CPU)
    found = features.read_features(tmp_path)
    assert np.load(tmp_path / features.EMBEDDINGS).dtype == np.float16
    assert (found.dtype, found[2:4].dtype, found[0].dtype) == (np.float32,) * 3
    for row, path in enumerate(paths):
        with Image.open(path) as image, torch.no_grad():
            alone = backbone.encode_image(backbone.preprocess(image).unsqueeze(0))[0]
        np.testing.assert_allclose(found[row], alone.numpy(), rtol=2**-11, atol=1e-5)
        assert 1 - torch.cosine_similarity(torch.from_numpy(found[row]), alone, dim=0) < 1e-6


def test_images_of_another_size_are_refused(backbone: Backbone, paths: list[Path], tmp_path: Path) -> None:
    write_pixels([Picture(path.name) for path in paths], tmp_path, tmp_path, 24)
    with raises(DataError, "wrong-size", place="image_size"):
        features.write_features(backbone, read_pixels(tmp_path), tmp_path, CPU)
