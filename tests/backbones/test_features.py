"""The feature cache."""

from pathlib import Path

import numpy as np
import open_clip
import pytest
import torch
from PIL import Image

from recompose.backbones import features
from recompose.backbones.clip import Backbone, build


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    torch.manual_seed(0)
    return build("shapes-clip", "gelu").eval()


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    rng = np.random.default_rng(0)
    found = [tmp_path / f"{index}.png" for index in range(7)]
    for path in found:
        Image.fromarray(rng.integers(0, 256, (40, 50, 3), dtype=np.uint8)).save(path)
    return found


def test_each_row_is_its_image_s_embedding(
    backbone: Backbone, paths: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(features, "BLOCK", 3)
    features.write_features(backbone, paths, tmp_path, torch.device("cpu"))
    found = features.read_features(tmp_path / features.EMBEDDINGS)
    assert isinstance(found, np.memmap)
    for row, path in enumerate(paths):
        with Image.open(path) as image, torch.no_grad():
            alone = backbone.encode_image(backbone.preprocess(image).unsqueeze(0))[0]
        np.testing.assert_allclose(found[row], alone.numpy(), atol=1e-5)


def test_pixels_are_the_bytes_of_the_resized_and_cropped_image(
    backbone: Backbone, paths: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(features, "BLOCK", 3)
    with Image.open(paths[3]) as image:
        image.convert("L").rotate(90, expand=True).save(paths[3])
    features.write_features(backbone, paths, tmp_path, torch.device("cpu"))
    found = features.read_features(tmp_path / features.PIXELS)
    assert isinstance(found, np.memmap)
    assert (found.dtype, found.shape) == (np.uint8, (7, 3, 32, 32))
    for row, path in enumerate(paths):
        # the shorter side becomes 32, the longer one 40, of which the middle stays
        size, box = ((32, 40), (0, 4, 32, 36)) if row == 3 else ((40, 32), (4, 0, 36, 32))
        with Image.open(path) as image:
            expected = np.asarray(image.resize(size, Image.Resampling.BICUBIC).crop(box).convert("RGB"))
        np.testing.assert_array_equal(found[row], expected.transpose(2, 0, 1))


def test_pixels_and_bytes_turn_into_each_other_without_loss(backbone: Backbone, paths: list[Path]) -> None:
    images = []
    for path in paths:
        with Image.open(path) as image:
            images.append(backbone.preprocess(image))
    pixels = torch.stack(images)
    assert torch.equal(backbone.from_bytes(backbone.as_bytes(pixels)), pixels)
    every = torch.arange(256, dtype=torch.uint8).repeat(1, 3, 4, 1)
    assert backbone.as_bytes(backbone.from_bytes(every)).dtype == torch.uint8
    assert torch.equal(backbone.as_bytes(backbone.from_bytes(every)), every)


def test_bytes_are_normalised_channel_by_channel(backbone: Backbone) -> None:
    grey = torch.full((2, 3, 32, 32), 51, dtype=torch.uint8)
    means, deviations = open_clip.OPENAI_DATASET_MEAN, open_clip.OPENAI_DATASET_STD
    found = backbone.from_bytes(grey)
    for channel in range(3):
        expected = torch.full((2, 32, 32), (0.2 - means[channel]) / deviations[channel])
        torch.testing.assert_close(found[:, channel], expected)


def test_an_unreadable_image_is_named(backbone: Backbone, paths: list[Path], tmp_path: Path) -> None:
    paths[4].write_bytes(paths[4].read_bytes()[:60])
    with pytest.raises(OSError, match=r"4\.png is no readable image"):
        features.write_features(backbone, paths, tmp_path, torch.device("cpu"))


def test_a_pickle_in_place_of_features_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / features.EMBEDDINGS, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="Python objects"):
        features.read_features(tmp_path / features.EMBEDDINGS)
