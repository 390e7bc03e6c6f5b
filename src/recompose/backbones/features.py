"""The feature cache: image embeddings of a frozen tower, and images as towers see them, made once and memory-mapped."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

from recompose.backbones.clip import Backbone
from recompose.progress import Pace

EMBEDDINGS = "embeddings.npy"  # [images, E], what the frozen tower gives
PIXELS = "pixels.npy"  # [images, 3, height, width], bytes, resized and cropped: for towers that are adapted
BLOCK = 256  # images in one pass through the tower
SAY_EVERY = 40  # blocks
MAX_WORKERS = 16


class _Images(Dataset[Any]):
    def __init__(self, paths: Sequence[Path], backbone: Backbone) -> None:
        self._paths, self._preprocess = paths, backbone.preprocess

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, index: int) -> Any:
        path = self._paths[index]
        try:
            with Image.open(path) as image:
                return self._preprocess(image)
        except (OSError, Image.DecompressionBombError) as error:
            raise OSError(f"{path} is no readable image: {error}") from None


def _workers(device: torch.device) -> int:
    """Processes that decode images ahead of a GPU; a CPU that encodes has no core to spare for them."""
    return 0 if device.type == "cpu" else min(os.cpu_count() or 1, MAX_WORKERS)


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
    loader: DataLoader[Any] = DataLoader(_Images(paths, backbone), batch_size=BLOCK, num_workers=_workers(device))
    for number, pixels in enumerate(loader):
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
