"""Methods and their inputs, for runs and evaluations."""

from collections.abc import Iterator

import numpy as np
import pytorch_lightning as pl
import torch

from recompose.tracks.building import TypedSettings, method_class
from recompose.tracks.gzsl.data.classes import ClassData
from recompose.tracks.gzsl.data.stages import Stage
from recompose.tracks.gzsl.methods.base import ClassSpace, GridMethod

BEST_ACCURACY = "checkpoint-accuracy.safetensors"  # if the test chose: the epoch with the best accuracy
SELECTION = "selection.json"
BLOCK = 128  # images of one pass


def blocks(rows: np.ndarray) -> Iterator[np.ndarray]:
    """Yield positions of images [images] in blocks of one pass through a method."""
    return (rows[start : start + BLOCK] for start in range(0, len(rows), BLOCK))


def build_method(settings: TypedSettings, data: ClassData, channels: int, stage: Stage) -> GridMethod:
    """Return a method before training, for the classes of a stage.

    Args:
        settings: of a document with ``class``, ``settings`` and ``seed``.
        data: the data set.
        channels: of each region.
        stage: of the run.
    """
    pl.seed_everything(settings.document["seed"], verbose=False)
    words = data.words / np.maximum(np.linalg.norm(data.words, axis=1, keepdims=True), 1e-12)  # one of SUN's is zero
    arrays = (data.signatures[stage.classes], words.astype(np.float32), stage.seen)
    space = ClassSpace(*(torch.from_numpy(np.ascontiguousarray(array)) for array in arrays))
    return method_class(settings.document)(space, channels, settings.own)
