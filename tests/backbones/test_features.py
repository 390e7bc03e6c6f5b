"""The feature cache."""

from pathlib import Path

import numpy as np
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
    found = features.read_features(tmp_path / features.FILE)
    assert isinstance(found, np.memmap)
    for row, path in enumerate(paths):
        with Image.open(path) as image, torch.no_grad():
            alone = backbone.encode_image(backbone.preprocess(image).unsqueeze(0))[0]
        np.testing.assert_allclose(found[row], alone.numpy(), atol=1e-5)


def test_an_unreadable_image_is_named(backbone: Backbone, paths: list[Path], tmp_path: Path) -> None:
    paths[4].write_bytes(paths[4].read_bytes()[:60])
    with pytest.raises(OSError, match=r"4\.png is no readable image"):
        features.write_features(backbone, paths, tmp_path, torch.device("cpu"))


def test_a_pickle_in_place_of_features_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / features.FILE, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="Python objects"):
        features.read_features(tmp_path / features.FILE)
