"""A run: a method trained on images of seen classes, up to an epoch that validation chooses, without images of unseen
classes.
"""

import time
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from recompose.backbones.arrays import StoredArray
from recompose.backbones.grids import read_grids
from recompose.files import read_json, write_atomically, write_json
from recompose.tracks.building import CHECKPOINT
from recompose.tracks.gzsl.building import BEST_ACCURACY, SELECTION, blocks, build_method
from recompose.tracks.gzsl.data.classes import ClassData, read_index
from recompose.tracks.gzsl.data.stages import Stage, final_stage, released_stage, selection_stage
from recompose.tracks.gzsl.methods.base import GridMethod
from recompose.tracks.gzsl.methods.eszsl import ESZSL
from recompose.tracks.gzsl.methods.settings import ClassScoring, ClassTrainingSettings
from recompose.tracks.gzsl.metrics import best_bias, gzsl_report
from recompose.tracks.gzsl.scores import UNCERTAINTY
from recompose.tracks.running import NOTHING, Run, write_checkpoint
from recompose.training.cost import RunCosts
from recompose.training.loop import Data, Rows, TrainingModule

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
        self.epochs.append(validated(scores, self._targets, self._seen, self._bias))
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


def validated(scores: np.ndarray, targets: np.ndarray, seen: np.ndarray, bias: float | None = None) -> dict[str, float]:
    """Return the numbers of images [images, classes] that choose, at a bias; None for the best one."""
    bias = best_bias(scores, targets, seen) if bias is None else bias
    report = gzsl_report(scores, targets, seen, bias)
    return {HARMONIC_MEAN: report.harmonic_mean, ACCURACY: report.accuracy, "bias": bias}


def optimizer_of(parameters: Iterable[nn.Parameter], settings: ClassTrainingSettings) -> torch.optim.Optimizer:
    """Return the optimizer of these parameters that settings name, at a constant rate; momentum is ignored for Adam."""
    lr, weight_decay = settings.lr, settings.weight_decay
    if settings.optimizer == "adam":
        return torch.optim.Adam(parameters, lr=lr, weight_decay=weight_decay, fused=True)
    kind = torch.optim.RMSprop if settings.optimizer == "rmsprop" else torch.optim.SGD
    return kind(parameters, lr=lr, weight_decay=weight_decay, momentum=settings.momentum)


class ClassRun(Run):
    """A run of the track: in closed form, or in the stages of one of two regimes. Its ``needs`` are ``data`` and
    ``grids``; if the test chooses, the document has ``scoring.bias``, too.

    Beside the checkpoint, ``selection.json`` has the validation of each epoch. If the test chooses,
    ``checkpoint-accuracy.safetensors`` is the state with the best accuracy, and the other one that with the best
    harmonic mean. For a method with uncertainties, ``uncertainty.safetensors`` has those of the validation images,
    epoch by epoch.

    Training uses one device, whatever their number: losses compare the images of a batch, so that parts of one would
    give other numbers.
    """

    devices = 1

    @cached_property
    def _data(self) -> ClassData:
        return read_index(self.needs["data"])

    @cached_property
    def _grids(self) -> StoredArray:
        return read_grids(self.needs["grids"])

    def carry_out(self) -> RunCosts:
        """Train by the regime that the settings name."""
        training = self.settings.training
        if not isinstance(training, ClassTrainingSettings):
            return self._solve_closed_form()
        if training.selection == "validation":
            return self._train_by_validation(training)
        return self._train_by_test(training)

    def _solve_closed_form(self) -> RunCosts:
        """Solve without the validation classes, which choose the bias; then with all images of training."""
        stage = selection_stage(self._data, self.seed)
        solved = self._solve(stage)
        scores = torch.cat([solved.predict(self._inputs(rows)).scores for rows in blocks(stage.chooses)]).numpy()
        targets = stage.targets(self._data, stage.chooses)
        costs = RunCosts(nn.Identity(), None, torch.device("cpu"))
        began = time.perf_counter()
        method = self._solve(final_stage(self._data))
        costs.epochs.seconds.append(time.perf_counter() - began)
        state = {f"method.{name}": tensor for name, tensor in method.state_dict().items()}
        write_checkpoint(state, self.folder)
        write_json(self.folder / SELECTION, {"chosen": validated(scores, targets, stage.seen), "epochs": []})
        return costs

    def _solve(self, stage: Stage) -> ESZSL:
        method = self._build(stage)
        assert isinstance(method, ESZSL)
        features = torch.cat([method.pool(self._inputs(rows)) for rows in blocks(stage.rows)])
        method.fit(features, torch.from_numpy(stage.targets(self._data, stage.rows)))
        return method

    def _build(self, stage: Stage) -> GridMethod:
        method = build_method(self.settings, self._data, self._grids.shape[-1], stage)
        method.observe(map(self._inputs, blocks(stage.rows)))
        return method

    def _inputs(self, rows: np.ndarray) -> Tensor:
        return torch.from_numpy(self._grids[rows]).float()

    def _train_by_validation(self, settings: ClassTrainingSettings) -> RunCosts:
        """Choose the number of epochs without the test's classes, then train again for that many."""
        if not (self.folder / SELECTION).exists():
            stage = selection_stage(self._data, self.seed)
            module, _ = self._fit("selection", stage, settings, settings.epochs, None)
            if module.uncertainties:
                tensors = {"uncertainty": torch.stack(module.uncertainties)}
                write_atomically(self.folder / UNCERTAINTY, lambda path: save_file(tensors, path))
            self._write_selection(module)
        epochs = read_json(self.folder / SELECTION)["chosen"]["epoch"]
        module, costs = self._fit("final", final_stage(self._data), settings, epochs, None)
        write_checkpoint(module.trained_state(), self.folder)
        return costs

    def _train_by_test(self, settings: ClassTrainingSettings) -> RunCosts:
        """Train once, and store the epochs that are best on the test, as released code does."""
        scoring = self.settings.scoring
        assert isinstance(scoring, ClassScoring)
        best = {HARMONIC_MEAN: CHECKPOINT, ACCURACY: BEST_ACCURACY}
        module, costs = self._fit("test", released_stage(self._data), settings, settings.epochs, scoring.bias, best)
        self._write_selection(module)
        return costs

    def _fit(
        self,
        name: str,
        stage: Stage,
        settings: ClassTrainingSettings,
        epochs: int,
        bias: float | None,
        best: Mapping[str, str] = NOTHING,
    ) -> tuple[ClassTraining, RunCosts]:
        """Train on a stage's images for so many epochs; return the module and its costs."""
        method = self._build(stage)
        chooses, labels = stage.targets(self._data, stage.chooses), stage.targets(self._data, stage.rows)
        module = ClassTraining(method, chooses, stage.seen, bias, settings)
        costs = RunCosts(method, None, self.hardware.device)
        val_set = Rows(self._grids, stage.chooses, np.arange(len(stage.chooses)))
        data = Data(
            Rows(self._grids, stage.rows, labels),
            val_set if len(val_set) else None,
            batch_size=settings.batch_size,
            seed=self.seed,
            classes=labels if settings.balanced else None,
        )
        self.fit(module, data, epochs=epochs, stage=name, best=best, callbacks=[costs.epochs])
        return module, costs

    def _write_selection(self, module: ClassTraining) -> None:
        """Write the validation of each epoch and the chosen epoch, of equal ones the first."""
        best = max(range(len(module.epochs)), key=lambda epoch: module.epochs[epoch][HARMONIC_MEAN])
        chosen = {"epoch": best + 1, **module.epochs[best]}
        write_json(self.folder / SELECTION, {"chosen": chosen, "epochs": module.epochs})


train = ClassRun.train
