"""A run: a method trained on images of seen classes, up to an epoch that validation chooses, without images of unseen
classes.
"""

import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pytorch_lightning.callbacks import Callback
from safetensors.torch import save_file
from torch import Tensor, nn

from recompose.backbones.arrays import ShardedArray
from recompose.files import SCRATCH, read_json, write_atomically, write_json
from recompose.tracks.building import CHECKPOINT, COSTS, Document, TypedSettings
from recompose.tracks.gzsl.building import (
    BEST_ACCURACY,
    SELECTION,
    blocks,
    build_method,
    read_grid_array,
    read_index,
)
from recompose.tracks.gzsl.data.classes import ClassData
from recompose.tracks.gzsl.data.stages import Stage, final_stage, released_stage, selection_stage
from recompose.tracks.gzsl.methods.base import GridMethod
from recompose.tracks.gzsl.methods.eszsl import ESZSL
from recompose.tracks.gzsl.methods.settings import ClassScoring, ClassTrainingSettings
from recompose.tracks.gzsl.metrics import best_bias, gzsl_report
from recompose.tracks.gzsl.scores import UNCERTAINTY
from recompose.training.best import BestEpoch
from recompose.training.cost import RunCosts
from recompose.training.hardware import Hardware
from recompose.training.loop import Data, TrainingModule, fit
from recompose.training.rows import Rows

HARMONIC_MEAN, ACCURACY = "harmonic_mean", "accuracy"


class ClassTraining(TrainingModule):
    """A training of a method on grids of images of seen classes.

    Args:
        method: a method for the stage's classes.
        targets: [images], the labels of the images that choose, among the stage's classes.
        seen: [classes] bool.
        bias: the bias of unseen classes in the comparison of epochs; None for the one with the best harmonic mean on
            the same images.
        settings: the optimizer and its rates.
    """

    def __init__(
        self,
        method: GridMethod,
        targets: np.ndarray,
        seen: np.ndarray,
        bias: float | None,
        settings: ClassTrainingSettings,
    ) -> None:
        super().__init__()
        self.method = method
        self._settings = settings
        self._targets, self._seen, self._bias = targets, seen, bias
        self.epochs: list[dict[str, float]] = []  # the validation of each epoch
        self.uncertainties: list[Tensor] = []  # [images] of each epoch, if the method has one

    def on_train_epoch_start(self) -> None:
        """Reset the sums of losses."""
        self._sums: dict[str, Tensor] = {}
        self._image_count = 0

    def training_step(self, batch: list[Tensor], number: int) -> Tensor:
        """Return the method's loss on grids, and labels [batch], indices among the stage's classes."""
        grids, targets = batch
        parts = self.method.loss(grids.float(), targets, self.current_epoch)
        self._image_count += len(grids)
        for name, value in parts.items():
            self._sums[name] = self._sums.get(name, 0) + len(grids) * value.detach()
        if number == self.trainer.num_training_batches - 1:  # logging each step would take a tenth of a small one
            self.log_dict({name: total / self._image_count for name, total in self._sums.items()})
        return parts["loss"]

    def on_validation_epoch_start(self) -> None:
        """Reset the predictions."""
        self._predicted: list[dict[str, Tensor]] = []

    def validation_step(self, batch: list[Tensor], _: int) -> None:
        """Predict the images at these positions [batch], in 32 bits."""
        grids, positions = batch
        with torch.autocast(self.device.type, enabled=False):
            prediction = self.method.predict(grids.float())
        parts = {"positions": positions, "scores": prediction.scores}
        if "fused" in prediction.uncertainties:
            parts["uncertainty"] = prediction.uncertainties["fused"]
        self._predicted.append({name: tensor.cpu() for name, tensor in parts.items()})

    def on_validation_epoch_end(self) -> None:
        """Compute the metrics of all images."""
        joined = {name: torch.cat([part[name] for part in self._predicted]) for name in self._predicted[0]}
        order = joined["positions"].argsort()
        scores = joined["scores"][order].numpy()
        bias = best_bias(scores, self._targets, self._seen) if self._bias is None else self._bias
        report = gzsl_report(scores, self._targets, self._seen, bias)
        self.epochs.append({HARMONIC_MEAN: report.harmonic_mean, ACCURACY: report.accuracy, "bias": bias})
        if "uncertainty" in joined:
            self.uncertainties.append(joined["uncertainty"][order])
        for name in (HARMONIC_MEAN, ACCURACY):
            self.log(name, torch.tensor(self.epochs[-1][name]))

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Store the validation results with the trained parameters."""
        super().on_save_checkpoint(checkpoint)
        checkpoint["validated"] = {"epochs": self.epochs, "uncertainties": self.uncertainties}

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Restore the validation results."""
        self.epochs = checkpoint["validated"]["epochs"]
        self.uncertainties = checkpoint["validated"]["uncertainties"]

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return the optimizer that settings name, at a constant rate, its weight decay coupled with the gradient."""
        trained = [parameter for parameter in self.parameters() if parameter.requires_grad]
        return optimizer_of(trained, self._settings)


def optimizer_of(parameters: Iterable[nn.Parameter], settings: ClassTrainingSettings) -> torch.optim.Optimizer:
    """Return the optimizer of these parameters that settings name, at a constant rate; momentum is ignored for Adam."""
    lr, weight_decay = settings.lr, settings.weight_decay
    if settings.optimizer == "adam":
        return torch.optim.Adam(parameters, lr=lr, weight_decay=weight_decay, fused=True)
    kind = torch.optim.RMSprop if settings.optimizer == "rmsprop" else torch.optim.SGD
    return kind(parameters, lr=lr, weight_decay=weight_decay, momentum=settings.momentum)


def train(document: Document, needs: Mapping[str, Path], folder: Path, hardware: Hardware, title: str) -> bool:
    """Train a method, and write ``checkpoint.safetensors``, ``selection.json`` and ``costs.json`` into a folder.

    If the test chooses, ``checkpoint-accuracy.safetensors`` is the state with the best accuracy, and the other one that
    with the best harmonic mean. For a method with uncertainties, ``uncertainty.safetensors`` has those of the
    validation images, epoch by epoch. Resumes from the last whole epoch in the folder's ``scratch``.

    Training uses one device, whatever their number: losses compare the images of a batch, so that parts of one would
    give other numbers.

    Args:
        document: ``class``, ``settings`` (a method's own, its ``training``, and if the test chooses its
            ``scoring.bias``), ``seed`` and ``trainer``.
        needs: the verified folders ``data`` and ``grids``.
        folder: the folder of the results.
        hardware: the device of training; the document has its precision.
        title: the title of progress reports.

    Returns:
        True: the only process goes on.
    """
    torch.set_num_threads(document["trainer"]["threads"])
    settings = TypedSettings(document)
    run = _Run(
        settings,
        read_index(needs["data"]),
        read_grid_array(needs["grids"]),
        folder,
        replace(hardware, precision=document["trainer"]["precision"], devices=1),
        title,
    )
    training = settings.training
    if not isinstance(training, ClassTrainingSettings):
        run.solve_closed_form()
    elif training.selection == "validation":
        run.train_by_validation(training)
    else:
        run.train_by_test(training)
    return True


class _Run:
    """A method, its data and the folder of its results."""

    def __init__(
        self,
        settings: TypedSettings,
        data: ClassData,
        grids: np.ndarray | ShardedArray,
        folder: Path,
        hardware: Hardware,
        title: str,
    ) -> None:
        self._settings, self._data, self._grids = settings, data, grids
        self._seed: int = settings.document["seed"]
        self._folder, self._hardware, self._title = folder, hardware, title

    def solve_closed_form(self) -> None:
        """Solve without the validation classes, which choose the bias; then with all images of training."""
        stage = selection_stage(self._data, self._seed)
        solved = self._solve(stage)
        scores = torch.cat([solved.predict(self._inputs(rows)).scores for rows in blocks(stage.chooses)]).numpy()
        targets = stage.targets(self._data, stage.chooses)
        bias = best_bias(scores, targets, stage.seen)
        report = gzsl_report(scores, targets, stage.seen, bias)
        chosen = {HARMONIC_MEAN: report.harmonic_mean, ACCURACY: report.accuracy, "bias": bias}
        costs = RunCosts(nn.Identity(), None, torch.device("cpu"))
        began = time.perf_counter()
        method = self._solve(final_stage(self._data))
        costs.epochs.seconds.append(time.perf_counter() - began)
        state = {f"method.{name}": tensor for name, tensor in method.state_dict().items()}
        write_atomically(self._folder / CHECKPOINT, lambda path: save_file(state, path))
        write_json(self._folder / SELECTION, {"chosen": chosen, "epochs": []})
        costs.write(self._folder / COSTS)

    def _solve(self, stage: Stage) -> ESZSL:
        method = build_method(self._settings, self._data, self._grids.shape[-1], stage.classes, stage.seen)
        assert isinstance(method, ESZSL)
        method.observe(map(self._inputs, blocks(stage.rows)))
        features = torch.cat([method.pool(self._inputs(rows)) for rows in blocks(stage.rows)])
        method.fit(features, torch.from_numpy(stage.targets(self._data, stage.rows)))
        return method

    def _inputs(self, rows: np.ndarray) -> Tensor:
        return torch.from_numpy(self._grids[rows]).float()

    def train_by_validation(self, settings: ClassTrainingSettings) -> None:
        """Choose the number of epochs without the test's classes, then train again for that many."""
        if not (self._folder / SELECTION).exists():
            stage = selection_stage(self._data, self._seed)
            module, _ = self._fit("selection", stage, settings, settings.epochs, None)
            if module.uncertainties:
                tensors = {"uncertainty": torch.stack(module.uncertainties)}
                write_atomically(self._folder / UNCERTAINTY, lambda path: save_file(tensors, path))
            self._write_selection(module)
        epochs = read_json(self._folder / SELECTION)["chosen"]["epoch"]
        module, costs = self._fit("final", final_stage(self._data), settings, epochs, None)
        write_atomically(self._folder / CHECKPOINT, lambda path: save_file(module.trained_state(), path))
        costs.write(self._folder / COSTS)

    def train_by_test(self, settings: ClassTrainingSettings) -> None:
        """Train once, and store the epochs that are best on the test, as released code does."""
        best = {HARMONIC_MEAN: CHECKPOINT, ACCURACY: BEST_ACCURACY}
        scratch = self._folder / SCRATCH / "test"
        scratch.mkdir(parents=True, exist_ok=True)
        callbacks = [BestEpoch(metric, scratch / file) for metric, file in best.items()]
        scoring = self._settings.scoring
        assert isinstance(scoring, ClassScoring)
        stage = released_stage(self._data)
        module, costs = self._fit("test", stage, settings, settings.epochs, scoring.bias, callbacks)
        for file in best.values():  # copied: an interrupted process finds it in scratch again
            write_atomically(self._folder / file, partial(shutil.copyfile, scratch / file))
        self._write_selection(module)
        costs.write(self._folder / COSTS)

    def _fit(
        self,
        name: str,
        stage: Stage,
        settings: ClassTrainingSettings,
        epochs: int,
        bias: float | None,
        callbacks: Sequence[Callback] = (),
    ) -> tuple[ClassTraining, RunCosts]:
        """Train on a stage's images for so many epochs; return the module and its costs."""
        scratch = self._folder / SCRATCH / name
        scratch.mkdir(parents=True, exist_ok=True)
        method = build_method(self._settings, self._data, self._grids.shape[-1], stage.classes, stage.seen)
        method.observe(map(self._inputs, blocks(stage.rows)))
        chooses = stage.targets(self._data, stage.chooses)
        module = ClassTraining(method, chooses, stage.seen, bias, settings)
        costs = RunCosts(method, None, self._hardware.device)
        labels = stage.targets(self._data, stage.rows)
        train_set = Rows(self._grids, stage.rows, labels)
        val_set = Rows(self._grids, stage.chooses, np.arange(len(stage.chooses)))
        seed = self._seed
        fit(
            module,
            Data(
                train_set,
                val_set if len(val_set) else None,
                batch_size=settings.batch_size,
                seed=seed,
                classes=labels if settings.balanced else None,
            ),
            scratch,
            self._hardware,
            title=f"{self._title}, {name}",
            epochs=epochs,
            seed=seed,
            callbacks=[*callbacks, costs.epochs],
        )
        return module, costs

    def _write_selection(self, module: ClassTraining) -> None:
        """Write the validation of each epoch and the chosen epoch, of equal ones the first."""
        best = max(range(len(module.epochs)), key=lambda epoch: module.epochs[epoch][HARMONIC_MEAN])
        chosen = {"epoch": best + 1, **module.epochs[best]}
        write_json(self._folder / SELECTION, {"chosen": chosen, "epochs": module.epochs})
