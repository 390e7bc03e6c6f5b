"""Methods and their inputs, for runs and evaluations.

A process reads the index and the pristine backbone once. Each method gets its own copy of the backbone, so that changes
of its towers affect no other method.
"""

import copy
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytorch_lightning as pl
import torch

from recompose.backbones.arrays import StoredArray
from recompose.backbones.clip import Backbone, load_backbone
from recompose.backbones.features import read_features
from recompose.backbones.pixels import read_pixels
from recompose.params.method import MethodSettings
from recompose.tracks.building import Document, TypedSettings, method_class
from recompose.tracks.czsl.data.pairs import PairData, read_index
from recompose.tracks.czsl.methods.base import PairMethod, TrainingPrior


class PreparedMethod(NamedTuple):
    """A method before training, its data set, and its inputs.

    ``inputs`` are the method's inputs for all images, memory-mapped: embeddings [images, E], or bytes [images, 3,
    height, width].
    """

    method: PairMethod
    data: PairData
    inputs: StoredArray


def prepare_method(document: Document, needs: Mapping[str, Path]) -> PreparedMethod:
    """Build the method that a document names, with its settings and seed, from verified folders.

    Args:
        document: ``class``, ``settings`` and ``seed``.
        needs: the folders ``data``, ``features``, ``pixels`` and ``backbone``.
    """
    data, embeddings = read_index(needs["data"]), read_features(needs["features"])
    kind, own, backbone = method_class(document), TypedSettings(document).own, backbone_copy(needs["backbone"])
    method = build_method(kind, own, backbone, data, embeddings, seed=document["seed"])
    inputs = embeddings if method.sees == "embeddings" else read_pixels(needs["pixels"])
    return PreparedMethod(method, data, inputs)


def build_method(
    method: type,
    settings: MethodSettings,
    backbone: Backbone,
    data: PairData,
    embeddings: np.ndarray | StoredArray,
    *,
    seed: int,
) -> PairMethod:
    """Return a method before training, prepared with its settings and its prior knowledge of the data set.

    Args:
        embeddings: [images, E], of the frozen tower.
    """
    pl.seed_everything(seed, verbose=False)
    built: PairMethod = method(backbone, data.states, data.objects, settings)
    rows, pairs = data.rows("train"), data.indices(data.pairs)
    labels = pairs[data.targets("train", data.pairs)]
    built.prepare(TrainingPrior(*(torch.from_numpy(array) for array in (pairs, embeddings[rows], labels))))
    return built


def backbone_copy(folder: Path) -> Backbone:
    """Return a new copy of a backbone, as it was pretrained."""
    return copy.deepcopy(_pristine_backbone(folder))


@lru_cache(maxsize=2)
def _pristine_backbone(folder: Path) -> Backbone:
    return load_backbone(folder)
