"""A run: a method trained on state-object pairs, up to the epoch with the best AUC on validation."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
import torch
from pytorch_lightning.callbacks import Callback
from torch import Tensor, nn

from recompose.backbones.arrays import StoredArray
from recompose.errors import ArgumentError
from recompose.tracks.building import CHECKPOINT, method_class
from recompose.tracks.czsl.building import prepare_method
from recompose.tracks.czsl.data.pairs import PairData
from recompose.tracks.czsl.data.worlds import World
from recompose.tracks.czsl.methods.base import PairMethod
from recompose.tracks.czsl.methods.settings import AugmentedTraining, PairTrainingSettings, ThreePathTraining
from recompose.tracks.czsl.metrics.best import Best, Evaluator
from recompose.tracks.czsl.metrics.curves import dense_curve
from recompose.tracks.running import Run
from recompose.tracks.seen_unseen import area
from recompose.training.augmentation import Augmentation
from recompose.training.cost import RunCosts, count_at_paper_scale
from recompose.training.loop import Data, Rows, TrainingModule, gather_objects

VAL_AUC = "val_auc"


class PairTraining(TrainingModule):
    """A training on the pairs of a data set, validated in the closed world in 32 bits, like the test, whatever the
    precision of training.

    Raises:
        ArgumentError: validation shows no seen or no unseen pair, so its AUC cannot choose an epoch.
    """

    train_pairs: Tensor
    val_pairs: Tensor

    def __init__(self, method: PairMethod, data: PairData, settings: PairTrainingSettings) -> None:
        super().__init__()
        self.method, self.settings = method, settings
        augments = isinstance(settings, AugmentedTraining) and settings.augment
        self.augmentation = Augmentation() if augments else nn.Identity()
        self._world = World.closed(data)
        is_seen = self._world.seen[self._world.targets["val"]]
        if is_seen.all() or not is_seen.any():
            fault = "needs validation images of seen and of unseen pairs: their AUC chooses the epoch"
            raise ArgumentError("data", fault, code="no-auc")
        train_pairs = data.indices(data.pairs_of["train"])
        self.register_buffer("train_pairs", torch.from_numpy(train_pairs), persistent=False)
        self.register_buffer("val_pairs", torch.from_numpy(self._world.primitives), persistent=False)

    def training_step(self, batch: list[Tensor], _: int) -> Tensor:
        """Return the method's loss on inputs, and labels [batch] as indices among the training pairs."""
        inputs, targets = batch
        loss = self.method.loss(self.augmentation(inputs), targets, self.train_pairs)
        self.log("loss", loss, on_step=False, on_epoch=True, batch_size=len(inputs), sync_dist=True)
        return loss

    def on_validation_epoch_start(self) -> None:
        """Encode the texts of the closed world, once for all images."""
        with self._full_precision():
            self._texts = self.method.encode_texts([self.val_pairs])
        world = self._world
        self._evaluator = Evaluator(world.targets["val"], world.seen, world.candidates["val"])

    def validation_step(self, batch: list[Tensor], _: int) -> None:
        """Update the best pairs of the images at these positions [batch] of the split."""
        inputs, positions = batch
        with self._full_precision():
            (scores,) = self.method.scores(inputs, self._texts, "closed")
        self._evaluator.update(scores, positions)

    def _full_precision(self) -> torch.autocast:
        """Return a context without mixed precision."""
        return torch.autocast(self.device.type, enabled=False)

    def on_validation_epoch_end(self) -> None:
        """Log the AUC over the images of all processes."""
        best = reduce(Best.merge, gather_objects(self.trainer, self._evaluator.best()))
        self.log(VAL_AUC, torch.tensor(area(dense_curve(best))), sync_dist=True)

    def configure_optimizers(self) -> Any:
        """Return Adam with its coupled weight decay, at a constant rate or one that is halved every so many epochs."""
        settings = self.settings
        groups = self.method.parameter_groups(settings)
        optimizer = torch.optim.Adam(groups, lr=settings.lr, weight_decay=settings.weight_decay, fused=True)
        if not isinstance(settings, AugmentedTraining):
            return optimizer
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, settings.halve_every, gamma=0.5)]


class PairRun(Run):
    """A run of the track. Its ``needs`` are ``data``, ``features``, ``pixels`` and ``backbone``; a method of three
    paths has the score that chooses an epoch in ``training.selection``.
    """

    def carry_out(self) -> RunCosts | None:
        """Train a method up to the epoch with the best AUC."""
        document, own, training = self.settings.document, self.settings.own, self.settings.training
        method, data, inputs = prepare_method(document, self.needs)
        assert isinstance(training, PairTrainingSettings)
        if isinstance(training, ThreePathTraining):
            method.set_scoring(training.selection)
        new_method = method_class(document)
        counted = count_at_paper_scale(lambda backbone: new_method(backbone, data.states, data.objects, own))
        costs = RunCosts(method, counted, self.hardware.device)
        return costs if self.fit_method(method, data, inputs, training, [costs.epochs]) else None

    def fit_method(
        self,
        method: PairMethod,
        data: PairData,
        inputs: np.ndarray | StoredArray,
        settings: PairTrainingSettings,
        callbacks: Sequence[Callback] = (),
    ) -> bool:
        """Train a method as it is, and write its checkpoint of the best validation AUC; see ``fit``."""
        train_pairs, val_rows = data.pairs_of["train"], data.rows("val")
        train_set = Rows(inputs, data.rows("train"), data.targets("train", train_pairs))
        val_set = Rows(inputs, val_rows, np.arange(len(val_rows)))
        return self.fit(
            PairTraining(method, data, settings),
            Data(train_set, val_set, batch_size=settings.batch_size, seed=self.seed),
            epochs=settings.epochs,
            accumulate=settings.accumulate,
            best={VAL_AUC: CHECKPOINT},
            callbacks=callbacks,
        )


train = PairRun.train
