"""One run: a method built from its settings, trained where it trains, ready to be tested, and the pairs it may answer."""

from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch

from recompose.backbones.clip import Backbone
from recompose.backbones.words import text_vectors
from recompose.data.glove import read_glove
from recompose.data.pairs import PairData
from recompose.metrics.feasibility import feasibility
from recompose.metrics.worlds import Scorer
from recompose.training.czsl import scorer_of, train
from recompose.training.loop import Hardware

# the settings of a method that belong to its training; the others are its own
TRAINING = {"lr", "weight_decay", "batch_size", "accumulate", "epochs", "halve_every", "augment"}


def trained(
    method: type,
    settings: dict[str, Any],
    backbone: Backbone,
    data: PairData,
    features: np.ndarray,
    folder: Path,
    hardware: Hardware,
    *,
    seed: int,
    title: str,
) -> Scorer | None:
    """A method as a scorer for ``recompose.metrics.worlds``, trained if it has settings of training.

    Of several devices' processes only one goes on to be tested; the others get None.
    """
    pl.seed_everything(seed, verbose=False)
    of_training = {name: settings[name] for name in TRAINING & settings.keys()}
    own = {name: value for name, value in settings.items() if name not in of_training}
    built = method(backbone, data.states, data.objects, **own)
    if of_training and not train(built, data, features, folder, hardware, title=title, seed=seed, **of_training):
        return None
    return scorer_of(built, data, features, hardware.device)


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
