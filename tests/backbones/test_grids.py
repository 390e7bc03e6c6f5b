"""Grids of regions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn
from torchvision.models import get_model

from recompose.backbones import grids
from recompose.backbones.clip import DESCRIPTION
from recompose.errors import ArgumentError, DataError
from recompose.files import write_json
from tests.clips import random_clip, write_backbone
from tests.errors import raises

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_64_bits")]

CPU = torch.device("cpu")
COUNT = 7


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    rng = np.random.default_rng(0)
    found = [tmp_path / f"{index}.png" for index in range(COUNT)]
    for path in found:
        Image.fromarray(rng.integers(0, 256, (80, 100, 3), dtype=np.uint8)).save(path)
    return found


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A small network of torchvision with random weights, and its folder."""
    folder = tmp_path_factory.mktemp("small")
    torch.manual_seed(0)
    network = get_model("resnet18", weights=None)
    torch.save(network.state_dict(), folder / "weights.pth")
    write_json(folder / DESCRIPTION, {"library": "torchvision", "architecture": "resnet18", "weights": "weights.pth"})
    return folder, network.eval()


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A small CLIP with a convolutional image tower of random weights, and its folder."""
    backbone = random_clip(architecture="shapes-resnet")
    folder = tmp_path_factory.mktemp("clip")
    for name, parameter in backbone.model.named_parameters():
        if name.endswith(("bn1.weight", "bn2.weight", "bn3.weight")):  # so that signals do not fade
            nn.init.constant_(parameter, 2.5)
    write_backbone(backbone, folder, "shapes-resnet")
    return folder, backbone.model.visual


def normalised(path: Path, size: int, resample: Image.Resampling, mean: Sequence[float], std: Sequence[float]) -> Any:
    """Pixels [1, 3, size, size] of an image of 100 x 80, by other means."""
    with Image.open(path) as image:
        wide = image.resize((size * 100 // 80, size), resample).convert("RGB")
    left = (wide.width - size) // 2
    pixels = np.asarray(wide.crop((left, 0, left + size, size)), dtype=np.float64) / 255
    pixels = (pixels - np.array(mean)) / np.array(std)
    return torch.from_numpy(pixels.transpose(2, 0, 1)).unsqueeze(0)


def assert_regions(grid: np.ndarray, maps: torch.Tensor) -> None:
    """Regions [regions, channels] are the places of maps [1, channels, height, width], row by row."""
    expected = maps[0].flatten(1).T.numpy()
    assert grid.shape == expected.shape
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(grid.astype(np.float64), expected, rtol=2**-11, atol=2**-25)  # stored in 11 bits


def test_a_classifier_gives_what_stands_before_its_pooling(
    small: tuple[Path, Any], paths: list[Path], tmp_path: Path
) -> None:
    backbone, network = small
    grids.write_grids(backbone, paths[:2], tmp_path, CPU, size=64, layer="layer4")
    found = grids.read_grids(tmp_path)
    assert (found.shape, found.dtype) == ((2, 4, 512), np.float16)
    mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    for row in range(2):
        pixels = normalised(paths[row], 64, Image.Resampling.BILINEAR, mean, std)
        with torch.no_grad():
            maps = nn.Sequential(*list(network.children())[:-2])(pixels)
        assert_regions(found[row], maps)


def test_a_clip_s_convolutional_tower_takes_larger_images(
    clip: tuple[Path, Any], paths: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grids, "BLOCK", 3)
    backbone, visual = clip
    assert visual.image_size in (32, (32, 32))
    grids.write_grids(backbone, paths, tmp_path, CPU, size=96, layer="layer3")
    found = grids.read_grids(tmp_path)
    assert found.shape == (COUNT, 36, 256)
    for row, path in enumerate(paths):
        pixels = normalised(path, 96, Image.Resampling.BICUBIC, visual.image_mean, visual.image_std)
        with torch.no_grad():
            maps = visual.layer3(visual.layer2(visual.layer1(visual.stem(pixels))))
        assert_regions(found[row], maps)


def test_an_interrupted_process_goes_on_behind_its_last_whole_block(
    small: tuple[Path, Any], paths: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[str] = []  # the images that each attempt was about to encode
    decoded_blocks = grids.decoded_blocks

    def noted(decode: Any, paths: Sequence[Path], size: int) -> Any:
        encoded.append("".join(path.stem for path in paths))
        return decoded_blocks(decode, paths, size)

    def write(name: str) -> bytes:
        (tmp_path / name).mkdir(exist_ok=True)
        grids.write_grids(small[0], paths, tmp_path / name, CPU, size=32, layer="layer3")
        return (tmp_path / name / grids.GRIDS).read_bytes()

    monkeypatch.setattr(grids, "BLOCK", 3)
    monkeypatch.setattr(grids, "decoded_blocks", noted)
    whole, image = write("whole"), paths[4].read_bytes()
    paths[4].write_bytes(image[:60])
    with raises(DataError, "damaged-image", place="4.png"):
        write("broken")
    paths[4].write_bytes(image)
    assert write("broken") == write("broken") == whole  # the last one as if killed behind its last block
    assert encoded == ["0123456", "0123456", "3456", ""]


@pytest.mark.parametrize("layer", ["layer5", ""])
def test_a_layer_that_there_is_not_is_an_error(small: tuple[Path, Any], clip: tuple[Path, Any], layer: str) -> None:
    with raises(ArgumentError, place="layer"):
        grids.load_tower(clip[0], layer=layer)
    with pytest.raises(ValueError):
        grids.load_tower(small[0], layer=layer)


# grids that somebody has


def maps_of(count: int = COUNT) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(count, 5, 2, 3)).astype(np.float32)


def hdf5(path: Path, name: str = "feature_map", **content: Any) -> Path:
    with h5py.File(path, "w") as file:
        file.create_dataset(name, **({"data": maps_of()} | content))
        file.create_dataset("labels", data=np.arange(COUNT))
    return path


@pytest.mark.parametrize("chunks", [None, (2, 1, 1, 1)])
def test_own_maps_become_grids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunks: tuple[int, ...] | None) -> None:
    monkeypatch.setattr(grids, "BLOCK", 3)
    compression = "gzip" if chunks else None
    grids.from_hdf5(hdf5(tmp_path / "m.hdf5", chunks=chunks, compression=compression), tmp_path, images=COUNT)
    found = grids.read_grids(tmp_path)
    assert (found.shape, found.dtype) == ((COUNT, 6, 5), np.float16)
    for row, maps in enumerate(maps_of()):
        assert_regions(found[row], torch.from_numpy(maps).unsqueeze(0))


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ({"name": "features"}, "missing-field"),
        ({"data": maps_of(6)}, "wrong-count"),
        ({"data": np.where(np.arange(COUNT)[:, None, None, None] == 3, np.nan, maps_of())}, "not-finite"),
    ],
)
def test_other_maps_than_the_data_set_s_are_refused(tmp_path: Path, content: dict[str, Any], code: str) -> None:
    with raises(DataError, code):
        grids.from_hdf5(hdf5(tmp_path / "m.hdf5", **content), tmp_path, images=COUNT)
