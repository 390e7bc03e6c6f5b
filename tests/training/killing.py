"""A training that is killed between two batches."""

from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.callbacks import Callback


class KilledError(Exception):
    pass


class KillIn(Callback):
    def __init__(self, epoch: int, batch: int) -> None:
        self.place = epoch, batch

    def on_train_batch_end(self, trainer: pl.Trainer, *_: Any) -> None:
        if (trainer.current_epoch, trainer.fit_loop.batch_idx) == self.place:
            raise KilledError
