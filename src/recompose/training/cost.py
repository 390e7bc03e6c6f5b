"""The costs of a run: parameters, seconds of an epoch, and peak memory."""

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


def count_at_paper_scale(build: Callable[[Backbone], nn.Module]) -> int:
    """Return the number of trainable parameters of a method built on CLIP ViT-L/14, which needs no weights for that."""
    return trainable(build(outline(*PAPER_SCALE)))


class Epochs(Callback):
    """A callback that times the training of each epoch, without validation."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self._began = 0.0

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Start the clock."""
        self._began = time.perf_counter()

    def on_train_batch_end(self, trainer: pl.Trainer, *_: Any) -> None:
        """Stop the clock at the last batch, before validation begins."""
        if trainer.is_last_batch:
            self.seconds.append(time.perf_counter() - self._began)

    def state_dict(self) -> dict[str, Any]:
        """Return the state that a resumed training needs."""
        return {"seconds": self.seconds}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the state of an interrupted training."""
        self.seconds = state_dict["seconds"]


class RunCosts:
    """The costs of a run on a device, from before its training to after it.

    Args:
        method: the method that is trained.
        at_paper_scale: its trainable parameters on CLIP ViT-L/14; None for a method without CLIP.
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
