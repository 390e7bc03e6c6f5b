"""The feature cache: image embeddings of a frozen tower, computed once and memory-mapped."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from recompose.backbones.arrays import ArrayWriter, StoredArray
from recompose.backbones.clip import Backbone, load_backbone
from recompose.backbones.pixels import check_size, read_pixels
from recompose.recipes.plan import Recipe
from recompose.training.hardware import Hardware

EMBEDDINGS = "embeddings.npy"  # [images, E], outputs of the frozen tower, in 16 bits
BLOCK = 256  # images in one pass through the tower


def make_features(recipe: Recipe, needs: Mapping[str, Path], folder: Path) -> None:
    """Encode the images of a data set once, by a backbone."""
    torch.set_num_threads(recipe.trainer["threads"])
    device = Hardware.of(recipe.trainer).device
    write_features(load_backbone(needs["backbone"]), read_pixels(needs["pixels"]), folder, device)


@torch.no_grad()
def write_features(backbone: Backbone, pixels: StoredArray, folder: Path, device: torch.device) -> None:
    """Write the embeddings of images as the tower returns them, not normalised; resume an interrupted process.

    They are computed in 32 bits and stored in 16, which moves a cosine by some 1e-5.

    Args:
        backbone: the backbone whose tower embeds.
        pixels: [images, 3, height, width], bytes.
        folder: the destination.
        device: the device to compute on.

    Raises:
        DataError: the images have another size than the tower takes, or an embedding is not finite in 16 bits.
        OSError: the disk has no room for the embeddings.
    """
    check_size(pixels.shape[2:], backbone.image_size)
    backbone = backbone.to(device)
    with ArrayWriter(folder / EMBEDDINGS, (len(pixels), backbone.width), "float16") as embeddings:
        for start in range(embeddings.done, len(pixels), BLOCK):
            block = torch.from_numpy(pixels[start : start + BLOCK]).to(device)
            embeddings.append(backbone.encode_image(backbone.from_bytes(block)).float().cpu().numpy())


def read_features(folder: Path) -> StoredArray:
    """Return the embeddings of a folder that the store has verified, memory-mapped, in 32 bits."""
    return StoredArray(folder / EMBEDDINGS, dtype=np.float32)
