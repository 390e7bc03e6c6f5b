"""Images as grids of regions: the output of a stage of a convolutional network at each place, computed once and
memory-mapped.

Regions are in row-major order: in a grid of 14 x 14, region 14 is the first of the second row.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn
from torchvision.models import get_model
from torchvision.models.feature_extraction import create_feature_extractor

from recompose.backbones.arrays import ArrayWriter, StoredArray
from recompose.backbones.clip import DESCRIPTION, load_backbone
from recompose.backbones.pixels import decoded_blocks, square_bytes
from recompose.backbones.weight_files import load_weights
from recompose.data.content import function_of, unchanged_raw
from recompose.data.pictures import open_rgb
from recompose.data.upstream import verified_download
from recompose.errors import ArgumentError, DataError
from recompose.files import read_json
from recompose.recipes.plan import Recipe
from recompose.training.hardware import Hardware

GRIDS = "grids.npy"  # [images, regions, channels] in 16 bits
FEATURE_MAP = "feature_map"  # in an HDF5 file: [images, channels, height, width]
BLOCK = 64  # images encoded and written at a time
STAGES = ("stem", "layer1", "layer2", "layer3", "layer4")  # of CLIP's convolutional towers
IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of torchvision's networks


class Tower(nn.Module):
    """A convolutional network up to one of its stages: grids [images, regions, channels] of bytes [images, 3, size,
    size].

    Args:
        network: the network.
        stage: maps normalised pixels to feature maps, by the network.
        resampling: the filter that resizes images.
        mean: the mean of each colour, from 0 to 1, for the normalisation of pixels.
        std: the standard deviation of each colour.
    """

    mean: Tensor
    std: Tensor

    def __init__(
        self,
        network: nn.Module,
        stage: Callable[[Tensor], Tensor],
        resampling: Image.Resampling,
        mean: Sequence[float],
        std: Sequence[float],
    ) -> None:
        super().__init__()
        self.network, self._stage, self.resampling = network, stage, resampling
        for name, values in (("mean", mean), ("std", std)):
            self.register_buffer(name, torch.tensor(values).view(3, 1, 1), persistent=False)

    def forward(self, images: Tensor) -> Tensor:
        """Return the grids of a batch."""
        maps = self._stage((images.float() / 255 - self.mean) / self.std)
        return maps.flatten(2).transpose(1, 2)


def make_grids(recipe: Recipe, needs: Mapping[str, Path], folder: Path) -> None:
    """Encode the images of a data set once, as grids of regions."""
    root = unchanged_raw(recipe.needs["data"], needs["data"], needs["raw"])
    paths = [root / picture.path for picture in function_of(recipe, "pictures")(needs["data"])]
    torch.set_num_threads(recipe.trainer["threads"])
    device, document = Hardware.of(recipe.trainer).device, recipe.document
    write_grids(needs["backbone"], paths, folder, device, size=document["size"], layer=document["layer"])


def copy_grids(recipe: Recipe, needs: Mapping[str, Path], folder: Path) -> None:
    """Copy ready-made grids of the images of a data set."""
    images, document = function_of(recipe, "pictures")(needs["data"]), recipe.document
    with verified_download(needs["raw"], f"archives/{document['file']}", (), document["sha256"]) as path:
        from_hdf5(path, folder, images=len(images))


def load_tower(folder: Path, layer: str) -> Tower:
    """Return a backbone from its folder, up to a layer: a CLIP whose image tower is convolutional, which takes larger
    images than it was trained on, or a network of torchvision.

    Raises:
        DataError: its file does not hold its weights.
        ValueError: it has no such layer.
    """
    description = read_json(folder / DESCRIPTION)
    architecture = description["architecture"]
    if description.get("library") == "torchvision":
        network = get_model(architecture, weights=None)
        load_weights(network, (folder / description["weights"]).resolve(), architecture)
        layers = create_feature_extractor(network.eval(), {layer: "maps"})
        bilinear = Image.Resampling.BILINEAR  # torchvision's
        return Tower(layers, lambda pixels: layers(pixels)["maps"], bilinear, IMAGENET_MEAN, IMAGENET_STD).eval()
    visual = load_backbone(folder).model.visual
    if not hasattr(visual, "layer4"):
        fault = f"is {architecture}, whose image tower is not convolutional and has no grids"
        raise ArgumentError("backbone", fault, code="no-grids")
    if layer not in STAGES:
        fault = f"is {layer!r}, no stage of {architecture}; the stages are {', '.join(STAGES)}"
        raise ArgumentError("layer", fault)

    def stage(pixels: Tensor) -> Tensor:
        out = visual.forward_intermediates(pixels, indices=[STAGES.index(layer)], intermediates_only=True)
        maps: Tensor = out["image_intermediates"][0]
        return maps

    bicubic = Image.Resampling.BICUBIC  # open_clip's
    return Tower(visual, stage, bicubic, visual.image_mean, visual.image_std).eval()


@torch.no_grad()
def write_grids(
    backbone: Path, paths: Sequence[Path], folder: Path, device: torch.device, *, size: int, layer: str
) -> None:
    """Write the grids of these image files; resume an interrupted process.

    They are computed in 32 bits (on GPUs, convolutions with torch's default precision, which may be TF32), image by
    image, and stored in 16.

    Args:
        backbone: its folder.
        paths: the images, in the order of the grids.
        folder: the destination.
        device: the device to compute on.
        size: the pixels of the network's input: 448 gives 14 x 14 regions at ``layer4`` of a ResNet.
        layer: the layer of the network whose output is written.

    Raises:
        OSError: the disk has no room for the grids.
        DataError: a file is no readable image, the weights are not the backbone's, or a grid is not finite.
        ValueError: the backbone has no such layer.
    """
    tower = load_tower(backbone, layer).to(device)
    regions, channels = tower(torch.zeros(1, 3, size, size, device=device)).shape[1:]
    with ArrayWriter(folder / GRIDS, (len(paths), regions, channels), "float16") as grids:
        decode = partial(_decode, size=size, resampling=tower.resampling)
        for block in decoded_blocks(decode, paths[grids.done :], BLOCK):
            grids.append(tower(torch.from_numpy(block).to(device)).half().cpu().numpy())


def _decode(path: Path, size: int, resampling: Image.Resampling) -> np.ndarray:
    return square_bytes(open_rgb(path), size, path, resampling=resampling)


def from_hdf5(path: Path, folder: Path, *, images: int) -> None:
    """Write the grids of an HDF5 file whose ``feature_map`` is [images, channels, height, width], in the order of the
    data set's images, as the authors of TransZero publish them.

    Raises:
        DataError: there is no such file, or it does not hold maps of this number of images.
        OSError: the disk has no room for the grids.
    """
    try:
        file = h5py.File(path, "r")
    except FileNotFoundError:
        fault = f"{path} is missing: put it there, or compute the grids with a backbone"
        raise DataError(fault, code="missing-file", place=path) from None
    except OSError as error:
        reason = " ".join(str(error).split())
        raise DataError(f"{path} is no whole HDF5 file: {reason}", code="damaged-file", place=path) from None
    with file:
        maps = _feature_maps(file, path, images)
        channels, height, width = maps.shape[1:]
        chunk = maps.chunks[0] if maps.chunks else 1
        block = -(-BLOCK // chunk) * chunk  # whole chunks, which are compressed, so that none is read twice
        with ArrayWriter(folder / GRIDS, (images, height * width, channels), "float16") as grids:
            for start in range(grids.done, images, block):
                part = _read(maps, slice(start, start + block), path)
                grids.append(part.reshape(len(part), channels, -1).transpose(0, 2, 1))


def _feature_maps(file: Any, path: Path, images: int) -> Any:
    maps = file.get(FEATURE_MAP)
    if not isinstance(maps, h5py.Dataset):
        fault = f"{path} has no {FEATURE_MAP}; it has {', '.join(sorted(file)) or 'nothing'}"
        raise DataError(fault, code="missing-field", place=path)
    if maps.ndim != 4 or maps.dtype.kind != "f":
        fault = f"is {maps.dtype} {list(maps.shape)}, not floats [images, channels, height, width]"
        raise DataError(f"{path}: {FEATURE_MAP} {fault}", code="wrong-shape", place=path)
    if len(maps) != images:
        fault = f"{path}: {FEATURE_MAP} has {len(maps)} images, and the data set has {images}"
        raise DataError(fault, code="wrong-count", place=path)
    return maps


def _read(maps: Any, rows: slice, path: Path) -> np.ndarray:
    try:
        part: np.ndarray = maps[rows]
    except OSError as error:
        fault = f"{path} is not readable from image {rows.start} on: {error}"
        raise DataError(fault, code="damaged-file", place=path) from None
    return part


def read_grids(folder: Path) -> StoredArray:
    """Return grids [images, regions, channels] of a folder that the store has verified, memory-mapped, in 16 bits."""
    return StoredArray(folder / GRIDS)
