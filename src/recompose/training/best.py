"""The checkpoint of a training's best epoch."""

from pathlib import Path
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.callbacks import Callback
from safetensors.torch import save_file

from recompose.files import write_atomically
from recompose.training.loop import TrainingModule


class BestEpoch(Callback):
    """A callback that writes the trained state of the epoch where a validation metric is highest; of equal ones the
    first.
    """

    def __init__(self, metric: str, path: Path) -> None:
        self._metric, self._path = metric, path
        self._best = -1.0

    @property
    def state_key(self) -> str:
        """The callback's name in a checkpoint; a training may save its best epoch by several metrics."""
        return f"{type(self).__name__}.{self._metric}"

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Write the trained state if the metric is higher than before."""
        value = float(trainer.callback_metrics[self._metric])
        if value > self._best:
            self._best = value
            if trainer.is_global_zero:
                assert isinstance(pl_module, TrainingModule)
                state = {name: tensor.cpu() for name, tensor in pl_module.trained_state().items()}
                write_atomically(self._path, lambda path: save_file(state, path))

    def state_dict(self) -> dict[str, Any]:
        """Return the state that a resumed training needs."""
        return {"best": self._best}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the state of an interrupted training."""
        self._best = state_dict["best"]
