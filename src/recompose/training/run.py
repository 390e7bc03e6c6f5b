"""One run: a method built from its settings, trained where it trains, and ready to be tested."""

from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl

from recompose.backbones.clip import Backbone
from recompose.data.pairs import PairData
from recompose.training.czsl import scorer_of, train
from recompose.training.loop import Hardware

# the settings of a method that belong to its training; the others are its own
TRAINING = {"lr", "weight_decay", "batch_size", "accumulate", "epochs"}


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
) -> Any:
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
