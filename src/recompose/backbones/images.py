"""Images from files, decoded ahead of the tower that takes them."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

MAX_WORKERS = 16


class Images(Dataset[Any]):
    """Image files as a tower takes them.

    Raises:
        OSError: a file is no readable image; from ``[]``, which names it.
    """

    def __init__(self, paths: Sequence[Path], preprocess: Callable[[Image.Image], Tensor]) -> None:
        self._paths, self._preprocess = paths, preprocess

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, index: int) -> Tensor:
        path = self._paths[index]
        try:
            with Image.open(path) as image:
                return self._preprocess(image)
        except (OSError, Image.DecompressionBombError) as error:
            raise OSError(f"{path} is no readable image: {error}") from None


def in_blocks(
    paths: Sequence[Path], preprocess: Callable[[Image.Image], Tensor], size: int, device: torch.device
) -> DataLoader[Any]:
    """The pixels [images, 3, height, width] of image files in their order, ``size`` images at a time; on the CPU."""
    return DataLoader(Images(paths, preprocess), batch_size=size, num_workers=_workers(device))


def _workers(device: torch.device) -> int:
    """Processes that decode images ahead of a GPU; a CPU that encodes has no core to spare for them."""
    return 0 if device.type == "cpu" else min(os.cpu_count() or 1, MAX_WORKERS)
