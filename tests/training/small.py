"""A small training, and what kills one between two batches."""

from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback
from torch import Tensor, nn
from torch.utils.data import TensorDataset

from recompose.training.hardware import Hardware
from recompose.training.loop import Data, TrainingModule, fit

CPU = Hardware(precision="32-true", accelerator="cpu", devices=1)


class KilledError(Exception):
    pass


class KillIn(Callback):
    def __init__(self, epoch: int, batch: int) -> None:
        self.place = epoch, batch

    def on_train_batch_end(self, trainer: pl.Trainer, *_: Any) -> None:
        if (trainer.current_epoch, trainer.fit_loop.batch_idx) == self.place:
            raise KilledError


class Small(TrainingModule):
    """A regression with dropout, a frozen part and a buffer."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.frozen = nn.Linear(4, 4).requires_grad_(False)
        self.layer = nn.Linear(4, 1)
        self.dropout = nn.Dropout(0.5)
        self.register_buffer("steps", torch.zeros(()))

    def training_step(self, batch: list[Tensor], _: int) -> Tensor:
        x, y = batch
        self.steps += 1
        loss = (self.layer(self.dropout(self.frozen(x))).squeeze(1) - y).square().mean()
        self.log("loss", loss, on_step=False, on_epoch=True)
        return loss

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.layer.parameters(), lr=0.05)


def train(
    module: Small, scratch: Path, *callbacks: Callback, epochs: int = 4, validates: bool = False, **options: Any
) -> pl.Trainer:
    """Train in seven batches an epoch."""
    generator = torch.Generator().manual_seed(0)
    samples = TensorDataset(torch.randn(50, 4, generator=generator), torch.randn(50, generator=generator))
    scratch.mkdir(exist_ok=True)
    data = Data(samples, samples if validates else None, batch_size=8, seed=3)
    return fit(module, data, scratch, CPU, title="t", epochs=epochs, seed=3, callbacks=[*callbacks], **options)
