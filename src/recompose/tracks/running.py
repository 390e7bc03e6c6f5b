"""Runs: threads, precision, scratch, checkpoints and costs, the same for all tracks."""

import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

import torch
from pytorch_lightning.callbacks import Callback
from safetensors.torch import save_file
from torch import Tensor

from recompose.errors import DataError
from recompose.files import SCRATCH, write_atomically
from recompose.recipes.plan import Recipe
from recompose.tracks.building import CHECKPOINT, COSTS, TypedSettings
from recompose.training.cost import RunCosts
from recompose.training.hardware import Hardware
from recompose.training.loop import BestEpoch, Data, TrainingModule, fit

NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Run(ABC):
    """A run of a track, in its folder. What is trained, in one or in several stages, is the track's."""

    settings: TypedSettings
    needs: Mapping[str, Path]
    folder: Path
    hardware: Hardware  # with the precision of the document
    title: str
    devices: ClassVar[int | None] = None  # None: as many as there are

    @classmethod
    def train(cls, recipe: Recipe, needs: Mapping[str, Path], folder: Path) -> bool:
        """Train a method, and write its checkpoint and ``costs.json`` into a folder.

        Resumes from the last whole epoch in the folder's ``scratch``.

        Args:
            recipe: its document has ``class``, ``settings`` (a method's own, and those of its ``training``), ``seed``
                and ``trainer``; its name is the title of progress reports.
            needs: the verified folders that the track's runs need.
            folder: the folder of the results.

        Returns:
            Whether this process goes on; of several devices' processes only one does.

        Raises:
            DataError: the precision does not fit the device, or the folders do not fit each other.
        """
        torch.set_num_threads(recipe.trainer["threads"])
        hardware = Hardware.of(recipe.trainer)
        hardware = replace(hardware, devices=cls.devices or hardware.devices)
        if hardware.precision == "16-mixed" and hardware.device.type == "cpu":
            raise DataError("precision 16-mixed needs a GPU; choose bf16-mixed or 32-true in params.yaml")
        costs = cls(TypedSettings(recipe.document), needs, folder, hardware, recipe.name).carry_out()
        if costs is not None:
            costs.write(folder / COSTS)
        return costs is not None

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return self.settings.document["seed"]

    @abstractmethod
    def carry_out(self) -> RunCosts | None:
        """Train, and write the checkpoint. Return the costs, or None in a process that ends with its device's part."""

    def fit(
        self,
        module: TrainingModule,
        data: Data,
        *,
        epochs: int,
        stage: str = "",
        accumulate: int = 1,
        best: Mapping[str, str] = NOTHING,
        callbacks: Sequence[Callback] = (),
    ) -> bool:
        """Train a module from the last whole epoch in the stage's scratch.

        Args:
            module, data: of the training.
            epochs: the passes over the data.
            stage: the name of one of several trainings of a run.
            accumulate: batches of a step.
            best: metrics of validation, and the files that keep the trained state of the epoch where each is highest.
            callbacks: of Lightning.

        Returns:
            Whether this process goes on; of several devices' processes only one does.
        """
        scratch = self.folder / SCRATCH / stage
        scratch.mkdir(parents=True, exist_ok=True)
        trainer = fit(
            module,
            data,
            scratch,
            self.hardware,
            title=f"{self.title}, {stage}" if stage else self.title,
            epochs=epochs,
            seed=self.seed,
            accumulate=accumulate,
            callbacks=[*(BestEpoch(metric, scratch / file) for metric, file in best.items()), *callbacks],
        )
        if not trainer.is_global_zero:
            return False
        for file in best.values():  # copied: an interrupted process finds it in scratch again
            write_atomically(self.folder / file, partial(shutil.copyfile, scratch / file))
        return True


def write_checkpoint(state: Mapping[str, Tensor], folder: Path) -> None:
    """Write the trained tensors of a run's last epoch."""
    write_atomically(folder / CHECKPOINT, lambda path: save_file(dict(state), path))
