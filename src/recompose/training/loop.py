"""One training loop for all methods, by Lightning. A training resumes from its last whole epoch, with the same numbers
as an uninterrupted one.
"""

import logging
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback
from safetensors.torch import save_file
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from recompose.backbones.arrays import StoredArray
from recompose.errors import ArgumentError
from recompose.files import write_atomically
from recompose.progress import ProgressLogger, say
from recompose.training.hardware import Hardware

LAST = "last.ckpt"
BLOCK = 16  # samples of validation in a block, at least
T = TypeVar("T")

logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
# data in memory needs no workers; the frozen backbone is in evaluation mode on purpose; the other warnings concern
# Lightning itself
for _message in (
    ".*does not have many workers.*",
    ".*no .validation_step.*",
    "Found .* module.s. in eval mode.*",
    ".*LeafSpec.*",
    "Total length of .list. across ranks is zero.*",
):
    warnings.filterwarnings("ignore", message=_message)


def epoch_seed(seed: int, epoch: int) -> int:
    """Return the seed of one epoch; its random numbers depend on nothing that happened before."""
    return seed * 100_003 + epoch


def shuffled_batches(length: int, size: int, seed: int, rank: int = 0, processes: int = 1) -> list[list[int]]:
    """Return the positions of each batch of an epoch, for the process ``rank`` of ``processes``.

    Each process gets an equal part of each batch, so ``size`` means the same on any number of devices. The last,
    smaller batch is used, too; only its samples that cannot be shared equally are left out of this epoch. A last batch
    that would give a process a single sample, which batch normalisation cannot use, is joined to the batch before,
    unless all batches do.

    Raises:
        ArgumentError: a batch cannot be shared equally.
    """
    if size % processes:
        fault = f"of {size} cannot be shared equally between {processes} devices: change batch_size or devices"
        raise ArgumentError("batch_size", fault)
    order = torch.randperm(length, generator=torch.Generator().manual_seed(seed)).tolist()
    usable = length - length % processes
    starts = list(range(0, usable, size))
    if len(starts) > 1 and usable - starts[-1] < min(size, 2 * processes):
        starts.pop()
    return [order[start:stop][rank::processes] for start, stop in pairwise([*starts, usable])]


def balanced_batches(labels: np.ndarray, size: int, seed: int) -> list[list[int]]:
    """Return the positions of each batch of an epoch, in which every class is equally frequent.

    A batch draws as many classes as fit, each once, and then the same number of samples from each, with replacement. An
    epoch has as many whole batches as the samples fill (``next_batch`` of TransZero at 7c10cdb, ``dataset.py:81``).

    Args:
        labels: [samples], the class of each.
        size: samples of a batch; with more classes than half of it, a batch has one sample of each class drawn.
        seed: of the epoch.
    """
    generator = np.random.default_rng(seed)
    positions = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    samples = max(size // len(positions), 1)
    batches = []
    for _ in range(max(len(labels) // size, 1)):
        classes = generator.choice(len(positions), min(len(positions), size), replace=False)
        batches.append([int(row) for index in classes for row in generator.choice(positions[index], samples)])
    return batches


class Rows(Dataset[Any]):
    """Rows of an array of inputs [all images, ...], and a number [images] for each; a list of positions gives a whole
    batch.
    """

    def __init__(self, inputs: np.ndarray | StoredArray, rows: np.ndarray, numbers: np.ndarray) -> None:
        self._inputs, self._rows, self._numbers = inputs, rows, numbers

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, positions: list[int]) -> list[Tensor]:
        return [torch.from_numpy(self._inputs[self._rows[positions]]), torch.from_numpy(self._numbers[positions])]


class Data(pl.LightningDataModule):
    """Training samples in seeded batches and validation samples in order, for any method.

    The data sets are indexed with a list of positions and return a whole batch, as ``TensorDataset`` does.

    Args:
        train: the samples of training.
        val: the samples of validation, if there are any.
        batch_size: samples of a batch.
        seed: of the training.
        classes: [samples], by which batches are balanced; None shuffles all samples. For one process only.
    """

    def __init__(
        self,
        train: Dataset[Any],
        val: Dataset[Any] | None,
        *,
        batch_size: int,
        seed: int,
        classes: np.ndarray | None = None,
    ) -> None:
        super().__init__()
        self._train, self._val = train, val
        self._batch_size, self._seed, self._classes = batch_size, seed, classes

    def train_dataloader(self) -> DataLoader[Any]:
        """Return the batches of the current epoch; Lightning reloads them every epoch."""
        trainer = self.trainer
        assert trainer is not None
        seed = epoch_seed(self._seed, trainer.current_epoch)
        if self._classes is not None:
            batches = balanced_batches(self._classes, self._batch_size, seed)
        else:
            length = len(self._train)  # type: ignore[arg-type]
            batches = shuffled_batches(length, self._batch_size, seed, trainer.global_rank, trainer.world_size)
        return DataLoader(self._train, sampler=batches, batch_size=None)

    def val_dataloader(self) -> DataLoader[Any] | list[Any]:
        """Return every validation sample once, in blocks that the processes share."""
        if self._val is None:
            return []
        trainer = self.trainer
        assert trainer is not None
        mine = list(range(trainer.global_rank, len(self._val), trainer.world_size))  # type: ignore[arg-type]
        size = max(self._batch_size, BLOCK)
        blocks = [mine[start : start + size] for start in range(0, len(mine), size)]
        return DataLoader(self._val, sampler=blocks, batch_size=None)


def gather_objects(trainer: pl.Trainer, mine: T) -> list[T]:
    """Return the objects of all processes of a training, by rank."""
    if trainer.world_size == 1:
        return [mine]
    parts: list[Any] = [None] * trainer.world_size
    torch.distributed.all_gather_object(parts, mine)
    return parts


class _Epochs(Callback):
    """A callback that seeds each batch, saves a checkpoint after each epoch, and reports progress."""

    def __init__(self, title: str, seed: int, scratch: Path) -> None:
        self._title, self._seed, self._scratch = title, seed, scratch
        self._pace: ProgressLogger | None = None

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._pace = self._pace or ProgressLogger(self._title, "epoch", trainer.max_epochs or 0, trainer.current_epoch)

    def on_train_batch_start(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, batch: Any, batch_idx: int
    ) -> None:
        epoch = epoch_seed(self._seed, trainer.current_epoch)
        torch.manual_seed((epoch * 1_000_003 + batch_idx) * 1_009 + trainer.global_rank)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        partial = self._scratch / f"{LAST}.partial"
        # a finished training is stored next, without the optimiser
        ends = trainer.current_epoch + 1 == trainer.max_epochs
        if not ends:
            trainer.save_checkpoint(partial)  # all processes together
        if trainer.is_global_zero and self._pace:
            if not ends:
                partial.replace(self._scratch / LAST)
            metrics = ", ".join(f"{name} {float(value):.4g}" for name, value in trainer.callback_metrics.items())
            self._pace.at(trainer.current_epoch + 1, metrics)


class TrainingModule(pl.LightningModule):
    """The base of all trainings: its checkpoints leave out frozen parameters."""

    strict_loading = False  # frozen parameters are not in the checkpoint

    def trained_state(self) -> dict[str, Tensor]:
        """Return the tensors that training can change: trainable parameters, and buffers."""
        frozen = {name for name, parameter in self.named_parameters() if not parameter.requires_grad}
        return {name: tensor.detach().contiguous() for name, tensor in self.state_dict().items() if name not in frozen}

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Leave frozen parameters out."""
        checkpoint["state_dict"] = self.trained_state()


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


def fit(
    module: TrainingModule,
    data: Data,
    scratch: Path,
    hardware: Hardware,
    *,
    title: str,
    epochs: int,
    seed: int,
    accumulate: int = 1,
    callbacks: list[Callback] | None = None,
) -> pl.Trainer:
    """Train to the last epoch, from the checkpoint in ``scratch`` where there is one."""
    # deterministic training would fill every new tensor before it is written, some hundred times in a step
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    trainer = pl.Trainer(
        accelerator=hardware.accelerator,
        devices=hardware.devices,
        strategy=hardware.strategy,
        precision=hardware.precision,  # type: ignore[arg-type]
        max_epochs=epochs,
        accumulate_grad_batches=accumulate,
        callbacks=[*(callbacks or []), _Epochs(title, seed, scratch)],
        reload_dataloaders_every_n_epochs=1,
        use_distributed_sampler=False,
        num_sanity_val_steps=0,
        deterministic="warn",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    last = scratch / LAST
    resume = str(last) if last.exists() else None
    if resume:
        say(f"{title}: resuming from the last whole epoch")
    trainer.fit(module, datamodule=data, ckpt_path=resume, weights_only=True)
    return trainer
