"""What a run costs: parameters, seconds of an epoch, and the most memory it took."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback
from torch import nn

from recompose.backbones.clip import Activation, Backbone, outline
from recompose.files import write_json
from recompose.training.resources import Peak, trainable

PAPER_SCALE: tuple[str, Activation] = ("ViT-L-14", "quick_gelu")


def at_paper_scale(build: Callable[[Backbone], nn.Module]) -> int:
    """The trainable parameters of what is built on CLIP ViT-L/14, which has no weights for that."""
    return trainable(build(outline(*PAPER_SCALE)))


class Epochs(Callback):
    """Seconds of training of each epoch, validation left out."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self._began = 0.0

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Begin to count."""
        self._began = time.perf_counter()

    def on_train_batch_end(self, trainer: pl.Trainer, *_: Any) -> None:
        """Stop at the last batch, before validation begins."""
        if trainer.is_last_batch:
            self.seconds.append(time.perf_counter() - self._began)

    def state_dict(self) -> dict[str, Any]:
        """What a resumed training has to know."""
        return {"seconds": self.seconds}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from there."""
        self.seconds = state_dict["seconds"]


class RunCosts:
    """What a run on a device costs, from before its training to after it.

    Args:
        method: what is trained.
        at_paper_scale: its trainable parameters on CLIP ViT-L/14; None of a method that is not built on CLIP.
        device: where it trains.
    """

    def __init__(self, method: nn.Module, at_paper_scale: int | None, device: torch.device) -> None:
        self.epochs = Epochs()
        self._parameters, self._at_paper_scale = trainable(method), at_paper_scale
        self._peak = Peak(device)

    def write(self, path: Path) -> None:
        """Write parameters, the mean seconds of an epoch, and the peak of memory in bytes."""
        seconds = self.epochs.seconds
        costs = {
            "trainable_parameters": self._parameters,
            "trainable_parameters_at_vit_l_14": self._at_paper_scale,
            "epoch_seconds": sum(seconds) / len(seconds),
            "peak_memory_bytes": self._peak.bytes,
        }
        write_json(path, costs)
