"""The best epoch of a training, and the rows that a training reads."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import pytorch_lightning as pl
import torch
from safetensors.torch import load_file

from recompose.training.best import BestEpoch
from recompose.training.loop import TrainingModule
from recompose.training.rows import Rows


class Counted(TrainingModule):
    """A module whose trained state is the number of its epoch."""

    def __init__(self) -> None:
        pl.LightningModule.__init__(self)
        self.epoch = 0

    def trained_state(self) -> dict[str, torch.Tensor]:
        return {"epoch": torch.tensor(self.epoch)}


def validate(callback: BestEpoch, module: Counted, metric: float, *, first_process: bool = True) -> None:
    module.epoch += 1
    trainer: Any = SimpleNamespace(callback_metrics={"auc": torch.tensor(metric)}, is_global_zero=first_process)
    callback.on_validation_end(trainer, module)


@pytest.mark.parametrize("resumed", [False, True])
def test_the_first_epoch_of_the_highest_metric_is_kept_also_by_a_resumed_training(
    tmp_path: Path, resumed: bool
) -> None:
    path, module = tmp_path / "best.safetensors", Counted()
    callback = BestEpoch("auc", path)
    for metric in (0.2, 0.5, 0.5):
        validate(callback, module, metric)
    if resumed:
        state, callback = callback.state_dict(), BestEpoch("auc", path)
        callback.load_state_dict(state)
    validate(callback, module, 0.4)
    assert int(load_file(path)["epoch"]) == 2
    validate(callback, module, 0.6, first_process=False)
    assert int(load_file(path)["epoch"]) == 2  # of several processes the first one writes
    assert callback.state_key != BestEpoch("loss", path).state_key


def test_rows_are_the_inputs_of_a_split_with_their_numbers() -> None:
    inputs, rows, numbers = np.arange(12.0).reshape(6, 2), np.array([5, 0, 3]), np.array([7, 8, 9])
    dataset = Rows(inputs, rows, numbers)
    taken, numbered = dataset[[2, 0]]
    assert taken.tolist() == [inputs[rows[place]].tolist() for place in (2, 0)]
    assert (numbered.tolist(), len(dataset)) == ([9, 7], 3)
