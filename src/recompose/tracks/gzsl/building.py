"""How a method is built: what a run and an evaluation of it have in common."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch

from recompose.backbones.arrays import ShardedArray
from recompose.backbones.grids import read_grids
from recompose.tracks.building import method_class, model_settings
from recompose.tracks.gzsl.data.classes import ClassData
from recompose.tracks.gzsl.methods.parts.grid_method import ClassSpace, GridMethod

BEST_ACCURACY = "checkpoint-accuracy.safetensors"  # where the test chose: its epoch with the best accuracy
SELECTION = "selection.json"
BLOCK = 128  # images of one pass


@lru_cache(maxsize=4)
def class_data(folder: Path) -> ClassData:
    """Return a data set's index."""
    return ClassData.read(folder)


@lru_cache(maxsize=4)
def grids_of(folder: Path) -> ShardedArray:
    """Return the grids of all images [images, regions, channels], memory-mapped."""
    return read_grids(folder)


def blocks(rows: np.ndarray) -> Iterator[np.ndarray]:
    """Return positions of images [images], as many at a time as go through a method in one pass."""
    return (rows[start : start + BLOCK] for start in range(0, len(rows), BLOCK))


def build_method(
    document: Mapping[str, Any], data: ClassData, channels: int, classes: np.ndarray, seen: np.ndarray
) -> GridMethod:
    """Return a method before training, that tells some of a data set's classes apart.

    Args:
        document: ``class``, ``settings`` and ``seed``.
        data: the data set.
        channels: of each region.
        classes: [classes], which of the data set's.
        seen: [classes] bool, which of these training shows.
    """
    pl.seed_everything(document["seed"], verbose=False)
    words = data.words / np.maximum(np.linalg.norm(data.words, axis=1, keepdims=True), 1e-12)  # one of SUN's is zero
    arrays = (data.signatures[classes], words.astype(np.float32), seen)
    space = ClassSpace(*(torch.from_numpy(np.ascontiguousarray(array)) for array in arrays))
    method: GridMethod = method_class(document)(space, channels, **model_settings(document["settings"]))
    return method
