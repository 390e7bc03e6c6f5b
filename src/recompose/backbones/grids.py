"""Images as grids of regions: what a stage of a convolutional network gives of each place, made once and
memory-mapped.

Regions stand row by row: of a grid of 14 x 14, region 14 is the first of the second row.
"""

import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import h5py
import numpy as np
import open_clip
import torch
from PIL import Image
from torch import Tensor, nn
from torchvision import transforms
from torchvision.models import get_model
from torchvision.models.feature_extraction import create_feature_extractor

from recompose.backbones.clip import DESCRIPTION, load_backbone
from recompose.backbones.features import read_features
from recompose.backbones.images import in_blocks
from recompose.errors import DataError
from recompose.files import SCRATCH, read_json, write_json
from recompose.progress import SAY_EVERY, Pace

GRIDS = "grids.npy"  # [images, regions, channels] in 16 bits
WRITTEN = "written.json"  # in scratch: how many images are written
FEATURE_MAP = "feature_map"  # of an HDF5 file: [images, channels, height, width]
BLOCK = 64  # images that are encoded and written at a time
STAGES = ("stem", "layer1", "layer2", "layer3", "layer4")  # of the convolutional towers of CLIPs
IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of torchvision's networks


class Tower(nn.Module):
    """A convolutional network up to one of its stages: grids [images, regions, channels] of pixels [images, 3, size,
    size].

    ``preprocess`` makes the pixels of an image: its shorter side resized to ``size``, of the longer one the middle.
    """

    def __init__(self, stage: nn.Module, preprocess: transforms.Compose) -> None:
        super().__init__()
        self._stage, self.preprocess = stage, preprocess

    def forward(self, pixels: Tensor) -> Tensor:
        """The grids of a batch."""
        maps: Tensor = self._stage(pixels)
        return maps.flatten(2).transpose(1, 2)


class _OfClip(nn.Module):
    """A stage of a CLIP's convolutional tower, as ``layer3``."""

    def __init__(self, visual: Any, layer: str) -> None:
        super().__init__()
        self._visual, self._indices = visual, [STAGES.index(layer)]

    def forward(self, pixels: Tensor) -> Tensor:
        out = self._visual.forward_intermediates(pixels, indices=self._indices, intermediates_only=True)
        return out["image_intermediates"][0]


class _OfClassifier(nn.Module):
    """A layer of a network of torchvision, by the name that it has there."""

    def __init__(self, network: nn.Module, layer: str) -> None:
        super().__init__()
        self._layers = create_feature_extractor(network, {layer: "maps"})

    def forward(self, pixels: Tensor) -> Tensor:
        return self._layers(pixels)["maps"]


def load_tower(folder: Path, *, size: int, layer: str) -> Tower:
    """A backbone from its folder, up to a layer, for images of ``size`` x ``size`` pixels: a CLIP whose image tower is
    convolutional, which takes larger images than it was trained on, or a network of torchvision.

    Raises:
        DataError: its file does not hold its weights.
        ValueError: it has no such layer.
    """
    description = read_json(folder / DESCRIPTION)
    if description.get("library") == "torchvision":
        return _tower_of_classifier(description["architecture"], folder / description["weights"], size, layer)
    visual = load_backbone(folder).model.visual
    if not hasattr(visual, "layer4"):
        raise ValueError(f"the image tower of {description['architecture']} is not convolutional: it gives no grids")
    if layer not in STAGES:
        raise ValueError(f"{layer!r} is no stage of {description['architecture']}: they are {', '.join(STAGES)}")
    preprocess = open_clip.image_transform(size, is_train=False, mean=visual.image_mean, std=visual.image_std)
    return Tower(_OfClip(visual, layer), preprocess).eval()


def _tower_of_classifier(architecture: str, weights: Path, size: int, layer: str) -> Tower:
    network = get_model(architecture, weights=None)
    try:
        network.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True))
    except (RuntimeError, TypeError, UnpicklingError, EOFError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{weights.resolve()} does not hold weights of {architecture}: {reason}") from None
    preprocess = transforms.Compose(
        [
            _in_colour,
            transforms.Resize(size),
            transforms.CenterCrop(size),
            transforms.ToTensor(),
            transforms.Normalize(IMAGENET_MEAN, IMAGENET_STD),
        ]
    )
    return Tower(_OfClassifier(network.eval(), layer), preprocess).eval()


def _in_colour(image: Image.Image) -> Image.Image:
    return image.convert("RGB")


@torch.no_grad()
def write_grids(
    backbone: Path, paths: Sequence[Path], folder: Path, device: torch.device, *, size: int, layer: str
) -> None:
    """Write the grids of these image files, or those that an interrupted process had not come to.

    They are computed in 32 bits (on GPUs, convolutions as torch has them by default, which may be TF32), each image by
    itself, and kept in 16.

    Args:
        backbone: its folder.
        paths: of images, in the order of the grids.
        folder: where to.
        device: what to compute on.
        size: of the pixels that the network takes: 448 gives 14 x 14 regions at ``layer4`` of a ResNet.
        layer: of the network, whose output is taken.

    Raises:
        OSError: a file is no readable image, or the disk has no room for the grids.
        DataError: the weights are not the backbone's, or grids come out that are not finite.
        ValueError: the backbone has no such layer.
    """
    tower = load_tower(backbone, size=size, layer=layer).to(device)
    regions, channels = tower(torch.zeros(1, 3, size, size, device=device)).shape[1:]
    grids = _Unfinished(folder, (len(paths), regions, channels))
    for pixels in in_blocks(paths[grids.done :], tower.preprocess, BLOCK, device):
        grids.append(tower(pixels.to(device)).half().cpu().numpy())


def from_hdf5(path: Path, folder: Path, *, images: int) -> None:
    """Write the grids that somebody has made: of an HDF5 file whose ``feature_map`` is [images, channels, height,
    width], in the order of the data set's images, as the authors of TransZero keep them.

    Raises:
        DataError: there is no such file, or it does not hold maps of this many images.
        OSError: the disk has no room for the grids.
    """
    try:
        file = h5py.File(path, "r")
    except FileNotFoundError:
        raise DataError(f"{path} is not there: put it there, or let a backbone make the grids") from None
    except OSError as error:
        raise DataError(f"{path} is no whole HDF5 file: {error}") from None
    with file:
        maps = _maps(file, path, images)
        channels, height, width = maps.shape[1:]
        grids = _Unfinished(folder, (images, height * width, channels))
        chunk = maps.chunks[0] if maps.chunks else 1
        block = -(-BLOCK // chunk) * chunk  # whole chunks, which are compressed: none is read twice
        for start in range(grids.done, images, block):
            part = _read(maps, slice(start, start + block), path)
            grids.append(part.reshape(len(part), channels, -1).transpose(0, 2, 1))


def _maps(file: Any, path: Path, images: int) -> Any:
    maps = file.get(FEATURE_MAP)
    if not isinstance(maps, h5py.Dataset):
        raise DataError(f"{path} has no {FEATURE_MAP}: it has {', '.join(sorted(file)) or 'nothing'}")
    if maps.ndim != 4 or maps.dtype.kind != "f":
        raise DataError(
            f"{path}: {FEATURE_MAP} is {maps.dtype} {list(maps.shape)}, not floats [images, channels, height, width]"
        )
    if len(maps) != images:
        raise DataError(f"{path}: {FEATURE_MAP} is of {len(maps)} images, and the data set has {images}")
    return maps


def _read(maps: Any, rows: slice, path: Path) -> np.ndarray:
    try:
        part: np.ndarray = maps[rows]
    except OSError as error:
        raise DataError(f"{path} cannot be read from image {rows.start} on: {error}") from None
    return part


def read_grids(path: Path) -> np.ndarray:
    """Grids [images, regions, channels] in 16 bits, memory-mapped: give it a path that the store has verified."""
    return read_features(path)


class _Unfinished:
    """Grids [images, regions, channels] as far as they are written; the next process goes on there."""

    def __init__(self, folder: Path, shape: tuple[int, int, int]) -> None:
        path, self._written = folder / GRIDS, folder / SCRATCH / WRITTEN
        self.done = _images_in(path, self._written, shape)
        if not self.done:
            self._written.unlink(missing_ok=True)
            path.unlink(missing_ok=True)
            _check_room(folder, shape)
        mode: Any = "r+" if self.done else "w+"
        self._grids = np.lib.format.open_memmap(path, mode=mode, dtype=np.float16, shape=shape)
        self._pace, self._told = Pace("grids", "image", shape[0], self.done), time.monotonic()

    def append(self, block: np.ndarray) -> None:
        """Write the grids of the next images to the disk, then that they are there.

        Raises:
            DataError: they are not finite, or too large for 16 bits.
        """
        rows = slice(self.done, self.done + len(block))
        with np.errstate(over="ignore"):
            self._grids[rows] = block
        finite = np.isfinite(self._grids[rows]).all(axis=(1, 2))
        if not finite.all():
            raise DataError(f"the grid of image {self.done + int(finite.argmin())}, from 0, is not finite in 16 bits")
        self._grids.flush()
        self.done = rows.stop
        write_json(self._written, {"shape": self._grids.shape, "images": self.done})
        if time.monotonic() - self._told > SAY_EVERY:
            self._pace.at(self.done)
            self._told = time.monotonic()


def _images_in(path: Path, written: Path, shape: tuple[int, int, int]) -> int:
    """How many images an interrupted process has written; none where it was about to write other grids."""
    try:
        document = read_json(written)
        same = path.is_file() and document["shape"] == list(shape)
        return int(document["images"]) if same else 0
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def _check_room(folder: Path, shape: tuple[int, int, int]) -> None:
    """A file that is mapped into memory ends its process where the disk is full: better to know before.

    Raises:
        OSError: there is not enough.
    """
    needed, free = 2 * shape[0] * shape[1] * shape[2], shutil.disk_usage(folder).free
    if needed > free:
        raise OSError(f"{folder} has room for {free / 2**30:.1f} GiB, and these grids take {needed / 2**30:.1f} GiB")
