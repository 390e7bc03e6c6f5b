"""One run: a method built from its settings, trained where it trains, ready to be tested, and the pairs it may answer."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback
from safetensors.torch import save_file

from recompose.backbones.clip import Backbone
from recompose.nn.words import text_vectors
from recompose.tracks.czsl.data.glove import read_glove
from recompose.tracks.czsl.data.pairs import PairData
from recompose.tracks.czsl.methods.parts.pair_method import Known, PairMethod
from recompose.tracks.czsl.metrics.feasibility import feasibility
from recompose.tracks.czsl.metrics.worlds import IMAGE_BLOCK
from recompose.tracks.czsl.training import train
from recompose.training.loop import Hardware

# the settings of a method that belong to its training; the others are its own
TRAINING = {"lr", "weight_decay", "batch_size", "accumulate", "epochs", "halve_every", "augment"}


def own(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings that are a method's own."""
    return {name: value for name, value in settings.items() if name not in TRAINING}


def built(
    method: type, settings: dict[str, Any], backbone: Backbone, data: PairData, embeddings: np.ndarray, *, seed: int
) -> PairMethod:
    """A method before training: its own settings, and what it may know of the data set.

    Args:
        embeddings: [images, E], as the frozen tower gives them.
    """
    pl.seed_everything(seed, verbose=False)
    found: PairMethod = method(backbone, data.states, data.objects, **own(settings))
    rows, pairs = data.rows("train"), data.indices(data.pairs)
    labels = pairs[data.targets("train", data.pairs)]
    found.prepare(Known(*(torch.from_numpy(array) for array in (pairs, embeddings[rows], labels))))
    return found


def trained(
    method: PairMethod,
    settings: dict[str, Any],
    data: PairData,
    features: np.ndarray,
    folder: Path,
    hardware: Hardware,
    *,
    seed: int,
    title: str,
    callbacks: Sequence[Callback] = (),
) -> bool:
    """Train a method if it has settings of training.

    Returns:
        Whether this process goes on to test it: of several devices' processes only one does.
    """
    of_training = {name: settings[name] for name in TRAINING & settings.keys()}
    return not of_training or train(
        method, data, features, folder, hardware, title=title, seed=seed, callbacks=callbacks, **of_training
    )


def write_embeddings(
    method: PairMethod, data: PairData, features: np.ndarray, device: torch.device, path: Path
) -> None:
    """Write what figures show of a method: of test images, and of the closed world's pairs, as safetensors."""
    method.eval().to(device)
    pairs = torch.from_numpy(data.indices(data.pairs)).to(device)
    rows = data.rows("test")
    blocks = [rows[start : start + IMAGE_BLOCK] for start in range(0, len(rows), IMAGE_BLOCK)]
    with torch.no_grad():
        parts = [method.image_embeddings(torch.from_numpy(features[block]).to(device)) for block in blocks]
        found = {name: torch.cat([part[name] for part in parts]) for name in parts[0]} | method.pair_embeddings(pairs)
    save_file({name: tensor.float().cpu().contiguous() for name, tensor in found.items()}, path)


def feasibility_by_text(data: PairData, backbone: Backbone, prompt: str, device: torch.device) -> np.ndarray:
    """The feasibility [states, objects] of every pair, by the backbone's texts of its state and of its object."""
    backbone = backbone.to(device)
    states, objects = (text_vectors(backbone, names, prompt) for names in (data.states, data.objects))
    return feasibility(states, objects, data.seen_matrix)


def feasibility_by_glove(data: PairData, archive: Path) -> np.ndarray:
    """The feasibility [states, objects] of every pair, by GloVe's vectors of its words, as in the released code.

    Raises:
        WordVectorsError: the file is not GloVe, or knows no word of a name.
    """
    vectors = read_glove(archive, [*data.states, *data.objects])
    return feasibility(vectors[: len(data.states)], vectors[len(data.states) :], data.seen_matrix)
