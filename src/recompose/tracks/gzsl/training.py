"""A run: a method trained on images of seen classes, up to an epoch that validation chooses, without an image of an
unseen class.
"""

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pytorch_lightning.callbacks import Callback
from safetensors.torch import save_file
from torch import Tensor, nn

from recompose.backbones.arrays import ShardedArray
from recompose.files import SCRATCH, read_json, write_atomically, write_json
from recompose.tracks.building import CHECKPOINT, COSTS
from recompose.tracks.gzsl.building import (
    BEST_ACCURACY,
    SELECTION,
    blocks,
    build_method,
    class_data,
    grids_of,
)
from recompose.tracks.gzsl.data.classes import ClassData
from recompose.tracks.gzsl.data.stages import Stage, as_released, final, selecting
from recompose.tracks.gzsl.methods.eszsl import ESZSL
from recompose.tracks.gzsl.methods.parts.grid_method import GridMethod
from recompose.tracks.gzsl.methods.parts.optimizers import optimizer_of
from recompose.tracks.gzsl.metrics import best_bias, gzsl_report
from recompose.tracks.gzsl.scores import UNCERTAINTY
from recompose.training.best import BestEpoch
from recompose.training.cost import RunCosts
from recompose.training.hardware import Hardware
from recompose.training.loop import Data, TrainingModule, fit
from recompose.training.rows import Rows

HARMONIC_MEAN, ACCURACY = "harmonic_mean", "accuracy"


class ClassTraining(TrainingModule):
    """A method trained on grids of images of seen classes.

    Args:
        method: of the stage's classes.
        targets: [images], the labels of the images that choose, among the stage's classes.
        seen: [classes] bool.
        bias: that is added to the scores of unseen classes where an epoch is compared with others; None: the one with
            the best harmonic mean, chosen on the same images.
        rates: the ``optimizer``, its ``lr``, ``weight_decay`` and ``momentum``.
    """

    def __init__(
        self,
        method: GridMethod,
        targets: np.ndarray,
        seen: np.ndarray,
        bias: float | None,
        rates: Mapping[str, Any],
    ) -> None:
        super().__init__()
        self.method = method
        self._rates = rates
        self._targets, self._seen, self._bias = targets, seen, bias
        self.epochs: list[dict[str, float]] = []  # what validation gave, epoch by epoch
        self.uncertainties: list[Tensor] = []  # [images] of each epoch, where the method has one

    def on_train_epoch_start(self) -> None:
        """Nothing is summed yet."""
        self._sums: dict[str, Tensor] = {}
        self._shown = 0

    def training_step(self, batch: list[Tensor], number: int) -> Tensor:
        """Return the method's loss on grids, and labels [batch], indices among the stage's classes."""
        grids, targets = batch
        parts = self.method.loss(grids.float(), targets, self.current_epoch)
        self._shown += len(grids)
        for name, value in parts.items():
            self._sums[name] = self._sums.get(name, 0) + len(grids) * value.detach()
        if number == self.trainer.num_training_batches - 1:  # logging each step takes a tenth of a small one
            self.log_dict({name: total / self._shown for name, total in self._sums.items()})
        return parts["loss"]

    def on_validation_epoch_start(self) -> None:
        """Nothing is predicted yet."""
        self._predicted: list[dict[str, Tensor]] = []

    def validation_step(self, batch: list[Tensor], _: int) -> None:
        """What the method says of images at these positions [batch], in 32 bits."""
        grids, positions = batch
        with torch.autocast(self.device.type, enabled=False):
            prediction = self.method.predict(grids.float())
        parts = {"positions": positions, "scores": prediction.scores}
        if "fused" in prediction.uncertainties:
            parts["uncertainty"] = prediction.uncertainties["fused"]
        self._predicted.append({name: tensor.cpu() for name, tensor in parts.items()})

    def on_validation_epoch_end(self) -> None:
        """Measure over all images."""
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
        """What validation gave goes with what is trained."""
        super().on_save_checkpoint(checkpoint)
        checkpoint["validated"] = {"epochs": self.epochs, "uncertainties": self.uncertainties}

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Go on from there."""
        self.epochs = checkpoint["validated"]["epochs"]
        self.uncertainties = checkpoint["validated"]["uncertainties"]

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return the optimizer that settings name, at a constant rate, its weight decay coupled with the gradient."""
        trained = [parameter for parameter in self.parameters() if parameter.requires_grad]
        return optimizer_of(trained, **self._rates)


def train(document: Mapping[str, Any], needs: Mapping[str, Path], folder: Path, hardware: Hardware, title: str) -> bool:
    """Train a method, and leave ``checkpoint.safetensors``, ``selection.json`` and ``costs.json`` in a folder.

    Where the test chooses, ``checkpoint-accuracy.safetensors`` is what training had reached at the best accuracy, and
    the other at the best harmonic mean. Of a method with uncertainties, ``uncertainty.safetensors`` has those of the
    images of validation, epoch by epoch. Resumes from the last whole epoch in the folder's ``scratch``.

    It trains on one device, however many there are: losses compare the images of a batch, so that parts of one would
    give other numbers.

    Args:
        document: ``class``, ``settings`` (a method's own, its ``training``, and where the test chooses its
            ``scoring.bias``), ``seed`` and ``trainer``.
        needs: the verified folders ``data`` and ``grids``.
        folder: where results are left.
        hardware: where it trains; the document says in which precision.
        title: what progress is reported under.

    Returns:
        That this process goes on: there is one alone.
    """
    torch.set_num_threads(document["trainer"]["threads"])
    run = _Run(
        document,
        class_data(needs["data"]),
        grids_of(needs["grids"]),
        folder,
        replace(hardware, precision=document["trainer"]["precision"], devices=1),
        title,
    )
    settings = document["settings"]["training"]
    if "epochs" not in settings:
        run.in_closed_form()
    elif settings["selection"] == "validation":
        run.chosen_by_validation()
    else:
        run.chosen_by_test()
    return True


class _Run:
    """A method, what it is trained on, and where that leaves its results."""

    def __init__(
        self,
        document: Mapping[str, Any],
        data: ClassData,
        grids: np.ndarray | ShardedArray,
        folder: Path,
        hardware: Hardware,
        title: str,
    ) -> None:
        self._document, self._data, self._grids = document, data, grids
        self._folder, self._hardware, self._title = folder, hardware, title
        settings = document["settings"]
        self._training = {name: value for name, value in settings["training"].items() if name != "selection"}

    def in_closed_form(self) -> None:
        """Solve without the classes of validation, which choose the bias; then with all images of training."""
        stage = selecting(self._data, self._document["seed"])
        solved = self._solved(stage)
        scores = torch.cat([solved.predict(self._inputs(rows)).scores for rows in blocks(stage.chooses)]).numpy()
        targets = stage.targets(self._data, stage.chooses)
        bias = best_bias(scores, targets, stage.seen)
        report = gzsl_report(scores, targets, stage.seen, bias)
        chosen = {HARMONIC_MEAN: report.harmonic_mean, ACCURACY: report.accuracy, "bias": bias}
        costs = RunCosts(nn.Identity(), None, torch.device("cpu"))
        began = time.perf_counter()
        method = self._solved(final(self._data))
        costs.epochs.seconds.append(time.perf_counter() - began)
        state = {f"method.{name}": tensor for name, tensor in method.state_dict().items()}
        write_atomically(self._folder / CHECKPOINT, lambda path: save_file(state, path))
        write_json(self._folder / SELECTION, {"chosen": chosen, "epochs": []})
        costs.write(self._folder / COSTS)

    def _solved(self, stage: Stage) -> ESZSL:
        method = build_method(self._document, self._data, self._grids.shape[-1], stage.classes, stage.seen)
        assert isinstance(method, ESZSL)
        features = torch.cat([method.pooled(self._inputs(rows)) for rows in blocks(stage.rows)])
        method.fit(features, torch.from_numpy(stage.targets(self._data, stage.rows)))
        return method

    def _inputs(self, rows: np.ndarray) -> Tensor:
        return torch.from_numpy(self._grids[rows]).float()

    def chosen_by_validation(self) -> None:
        """Choose the number of epochs without the test's classes, then train anew for as many."""
        if not (self._folder / SELECTION).exists():
            stage = selecting(self._data, self._document["seed"])
            module, _ = self._fit("selection", stage, self._training["epochs"], None)
            if module.uncertainties:
                kept = {"uncertainty": torch.stack(module.uncertainties)}
                write_atomically(self._folder / UNCERTAINTY, lambda path: save_file(kept, path))
            self._keep_epochs(module)
        epochs = read_json(self._folder / SELECTION)["chosen"]["epoch"]
        module, costs = self._fit("final", final(self._data), epochs, None)
        write_atomically(self._folder / CHECKPOINT, lambda path: save_file(module.trained_state(), path))
        costs.write(self._folder / COSTS)

    def chosen_by_test(self) -> None:
        """Train once, and keep what the test finds best, as released code does."""
        best = {HARMONIC_MEAN: CHECKPOINT, ACCURACY: BEST_ACCURACY}
        scratch = self._folder / SCRATCH / "test"
        scratch.mkdir(parents=True, exist_ok=True)
        callbacks = [BestEpoch(metric, scratch / file) for metric, file in best.items()]
        bias = self._document["settings"]["scoring"]["bias"]
        module, costs = self._fit("test", as_released(self._data), self._training["epochs"], bias, callbacks)
        for file in best.values():  # copied: a process killed from here on finds it in scratch again
            write_atomically(self._folder / file, lambda path, file=file: shutil.copyfile(scratch / file, path))  # type: ignore[misc]
        self._keep_epochs(module)
        costs.write(self._folder / COSTS)

    def _fit(
        self,
        name: str,
        stage: Stage,
        epochs: int,
        bias: float | None,
        callbacks: Sequence[Callback] = (),
    ) -> tuple[ClassTraining, RunCosts]:
        """Train on a stage's images for so many epochs; gives what came of it and what it cost."""
        scratch = self._folder / SCRATCH / name
        scratch.mkdir(parents=True, exist_ok=True)
        method = build_method(self._document, self._data, self._grids.shape[-1], stage.classes, stage.seen)
        chooses = stage.targets(self._data, stage.chooses)
        rates = {rate: self._training[rate] for rate in ("optimizer", "lr", "weight_decay", "momentum")}
        module = ClassTraining(method, chooses, stage.seen, bias, rates)
        costs = RunCosts(method, None, self._hardware.device)
        train_set = Rows(self._grids, stage.rows, stage.targets(self._data, stage.rows))
        val_set = Rows(self._grids, stage.chooses, np.arange(len(stage.chooses)))
        seed = self._document["seed"]
        fit(
            module,
            Data(train_set, val_set if len(val_set) else None, batch_size=self._training["batch_size"], seed=seed),
            scratch,
            self._hardware,
            title=f"{self._title}, {name}",
            epochs=epochs,
            seed=seed,
            callbacks=[*callbacks, costs.epochs],
        )
        return module, costs

    def _keep_epochs(self, module: ClassTraining) -> None:
        """Write what each epoch gave, and which is chosen: of equals the first."""
        best = max(range(len(module.epochs)), key=lambda epoch: module.epochs[epoch][HARMONIC_MEAN])
        chosen = {"epoch": best + 1, **module.epochs[best]}
        write_json(self._folder / SELECTION, {"chosen": chosen, "epochs": module.epochs})
