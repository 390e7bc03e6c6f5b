"""The feature cache: image embeddings of a frozen tower, and images as towers see them, made once and memory-mapped."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from recompose.backbones.clip import Backbone
from recompose.backbones.images import in_blocks
from recompose.progress import Pace

EMBEDDINGS = "embeddings.npy"  # [images, E], what the frozen tower gives
PIXELS = "pixels.npy"  # [images, 3, height, width], bytes, resized and cropped: for towers that are adapted
BLOCK = 256  # images in one pass through the tower
SAY_EVERY = 40  # blocks


@torch.no_grad()
def write_features(backbone: Backbone, paths: Sequence[Path], folder: Path, device: torch.device) -> None:
    """Write the pixels of these image files, and their embeddings as the tower gives them in 32 bits, not normalised.

    Raises:
        OSError: a file is no readable image.
    """
    backbone = backbone.to(device)
    size = backbone.image_size
    create = np.lib.format.open_memmap
    embeddings = create(folder / EMBEDDINGS, mode="w+", dtype=np.float32, shape=(len(paths), backbone.width))
    images = create(folder / PIXELS, mode="w+", dtype=np.uint8, shape=(len(paths), 3, *size))
    pace = Pace("features", "image", len(paths))
    for number, pixels in enumerate(in_blocks(paths, backbone.preprocess, BLOCK, device)):
        block = slice(number * BLOCK, number * BLOCK + len(pixels))
        embeddings[block] = backbone.encode_image(pixels.to(device)).float().cpu().numpy()
        images[block] = backbone.as_bytes(pixels).numpy()
        if number % SAY_EVERY == SAY_EVERY - 1:
            pace.at(block.stop)
    embeddings.flush()
    images.flush()


def read_features(path: Path) -> np.ndarray:
    """An array of the cache, memory-mapped: give it a path that the store has verified."""
    array: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    return array
