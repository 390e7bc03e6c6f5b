"""How a method is built: what a run and an evaluation of it have in common. Torch is imported by those that need it,
when they do.

What runs and evaluations of one process share is read once: the index, the memory-mapped features and the pristine
backbone, of which each method gets a copy of its own, so that one that changes its towers leaves nothing behind.
"""

import copy
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recompose.tracks.building import method_class, model_settings
from recompose.tracks.czsl.data.pairs import PairData

if TYPE_CHECKING:
    from recompose.backbones.arrays import ShardedArray
    from recompose.backbones.clip import Backbone
    from recompose.tracks.czsl.methods.parts.pair_method import PairMethod


class PreparedMethod(NamedTuple):
    """A method as it is before training, and what it is trained and evaluated on.

    ``inputs`` are what it sees of all images, memory-mapped: embeddings [images, E], or bytes [images, 3, height,
    width].
    """

    method: "PairMethod"
    data: PairData
    inputs: "ShardedArray"


def prepared_method(document: Mapping[str, Any], needs: Mapping[str, Path]) -> PreparedMethod:
    """Build the method that a document names, from its own settings and seed, on verified folders.

    Args:
        document: ``class``, ``settings`` and ``seed``.
        needs: the folders ``data``, ``features``, ``pixels`` and ``backbone``.
    """
    data, embeddings = read_index(needs["data"]), read_embeddings(needs["features"])
    backbone = backbone_copy(needs["backbone"])
    method = build_method(
        method_class(document), document["settings"], backbone, data, embeddings, seed=document["seed"]
    )
    inputs = embeddings if method.sees == "embeddings" else read_images(needs["pixels"])
    return PreparedMethod(method, data, inputs)


def build_method(
    method: type,
    settings: Mapping[str, Any],
    backbone: "Backbone",
    data: PairData,
    embeddings: "np.ndarray | ShardedArray",
    *,
    seed: int,
) -> "PairMethod":
    """A method before training: its own settings, and what it may know of the data set.

    Args:
        embeddings: [images, E], as the frozen tower gives them.
    """
    import pytorch_lightning as pl
    import torch

    from recompose.tracks.czsl.methods.parts.pair_method import TrainingPrior

    pl.seed_everything(seed, verbose=False)
    built: PairMethod = method(backbone, data.states, data.objects, **model_settings(settings))
    rows, pairs = data.rows("train"), data.indices(data.pairs)
    labels = pairs[data.targets("train", data.pairs)]
    built.prepare(TrainingPrior(*(torch.from_numpy(array) for array in (pairs, embeddings[rows], labels))))
    return built


@lru_cache(maxsize=4)
def read_index(folder: Path) -> PairData:
    """A data set's index."""
    return PairData.read(folder)


@lru_cache(maxsize=4)
def read_embeddings(folder: Path) -> "ShardedArray":
    """The embeddings [images, E] of all images, memory-mapped, given in 32 bits."""
    from recompose.backbones.features import read_features

    return read_features(folder)


@lru_cache(maxsize=4)
def read_images(folder: Path) -> "ShardedArray":
    """The images of a data set as bytes [images, 3, height, width], memory-mapped."""
    from recompose.backbones.pixels import read_pixels

    return read_pixels(folder)


def backbone_copy(folder: Path) -> "Backbone":
    """A backbone that nobody else holds, as it was pretrained."""
    return copy.deepcopy(_pristine_backbone(folder))


@lru_cache(maxsize=2)
def _pristine_backbone(folder: Path) -> "Backbone":
    from recompose.backbones.clip import load_backbone

    return load_backbone(folder)
