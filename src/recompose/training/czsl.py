"""Training and testing a method on state-object pairs."""

import shutil
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.utils.data import TensorDataset

from recompose.data.pairs import Pair, PairData
from recompose.files import SCRATCH, write_atomically
from recompose.methods.parts.pair_method import PairMethod
from recompose.metrics.czsl import Best, report_of
from recompose.metrics.worlds import Scorer, World
from recompose.training.loop import Data, Hardware, Training, fit

CHECKPOINT = "checkpoint.safetensors"
SELECTION = "val_auc"


def embeddings_of(split: str, data: PairData, features: np.ndarray) -> Tensor:
    """The image embeddings [images, E] of a split."""
    return torch.from_numpy(np.asarray(features[data.rows(split)]))


class PairTraining(Training):
    """A method trained on the pairs of training, validated in the closed world.

    Raises:
        ValueError: validation shows no seen or no unseen pair, so its AUC cannot select.
    """

    train_pairs: Tensor
    val_pairs: Tensor

    def __init__(self, method: PairMethod, data: PairData, *, lr: float, weight_decay: float) -> None:
        super().__init__()
        self.method = method
        self.lr, self.weight_decay = lr, weight_decay
        self._world = World.closed(data)
        shown = self._world.seen[self._world.targets["val"]]
        if shown.all() or not shown.any():
            raise ValueError("validation needs images of seen and of unseen pairs, for its AUC to select an epoch")
        train_pairs = data.indices(data.pairs_of["train"])
        self.register_buffer("train_pairs", torch.from_numpy(train_pairs), persistent=False)
        self.register_buffer("val_pairs", torch.from_numpy(self._world.primitives), persistent=False)

    def training_step(self, batch: list[Tensor], _: int) -> Tensor:
        """The method's loss on image embeddings [batch, E] and labels [batch], indices among the pairs of training."""
        images, targets = batch
        loss = self.method.loss(images, targets, self.train_pairs)
        self.log("loss", loss, on_step=False, on_epoch=True, batch_size=len(images), sync_dist=True)
        return loss

    def on_validation_epoch_start(self) -> None:
        """Encode the texts of the closed world, once for all images."""
        self._texts = self.method.encode_pairs(self.val_pairs)
        self._evaluator = self._world.evaluator("val")

    def validation_step(self, batch: list[Tensor], _: int) -> None:
        """The best pairs of image embeddings [batch, E] at these positions [batch] of the split."""
        images, positions = batch
        self._evaluator.update(self.method.score(images, self._texts), positions)

    def on_validation_epoch_end(self) -> None:
        """The AUC over the images of all processes."""
        self.log(SELECTION, torch.tensor(report_of(self._gathered()).auc), sync_dist=True)

    def _gathered(self) -> Best:
        mine = self._evaluator.best()
        if self.trainer.world_size == 1:
            return mine
        parts: list[Any] = [None] * self.trainer.world_size
        torch.distributed.all_gather_object(parts, mine)
        return reduce(Best.merge, parts)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam with its coupled weight decay, at a constant rate."""
        trained = [parameter for parameter in self.parameters() if parameter.requires_grad]
        return torch.optim.Adam(trained, lr=self.lr, weight_decay=self.weight_decay)


class KeepBest(Callback):
    """Keeps what training had reached at the best validation AUC; of equals the first."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._best = -1.0

    def on_validation_end(self, trainer: pl.Trainer, pl_module: Training) -> None:  # type: ignore[override]
        """Compare, and keep."""
        value = float(trainer.callback_metrics[SELECTION])
        if value > self._best:
            self._best = value
            if trainer.is_global_zero:
                state = {name: tensor.cpu() for name, tensor in pl_module.trained_state().items()}
                write_atomically(self._path, lambda path: save_file(state, path))

    def state_dict(self) -> dict[str, Any]:
        """What a resumed training has to know."""
        return {"best": self._best}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from there."""
        self._best = state_dict["best"]


def train(
    method: PairMethod,
    data: PairData,
    features: np.ndarray,
    folder: Path,
    hardware: Hardware,
    *,
    title: str,
    seed: int,
    lr: float,
    weight_decay: float,
    batch_size: int,
    accumulate: int,
    epochs: int,
) -> bool:
    """Train a method, write its checkpoint of the best validation AUC, and leave the method at it.

    Resumes from the last whole epoch in the folder's ``scratch``.

    Returns:
        Whether this is the process that goes on: of several devices' processes only one.
    """
    module = PairTraining(method, data, lr=lr, weight_decay=weight_decay)
    train_pairs = data.pairs_of["train"]
    train_set = TensorDataset(
        embeddings_of("train", data, features), torch.from_numpy(data.targets("train", train_pairs))
    )
    val_images = embeddings_of("val", data, features)
    val_set = TensorDataset(val_images, torch.arange(len(val_images)))
    keep = KeepBest(folder / SCRATCH / CHECKPOINT)
    trainer = fit(
        module,
        Data(train_set, val_set, batch_size=batch_size, seed=seed),
        folder / SCRATCH,
        hardware,
        title=title,
        epochs=epochs,
        seed=seed,
        accumulate=accumulate,
        callbacks=[keep],
    )
    if not trainer.is_global_zero:
        return False
    # copied: a process killed from here on finds it in scratch again
    write_atomically(folder / CHECKPOINT, lambda path: shutil.copyfile(folder / SCRATCH / CHECKPOINT, path))
    module.load_state_dict(load_file(folder / CHECKPOINT), strict=False)
    return True


def scorer_of(method: PairMethod, data: PairData, features: np.ndarray, device: torch.device) -> Scorer:
    """The method as a scorer for ``recompose.metrics.worlds``: the texts of a block of pairs are encoded once."""
    method.eval().to(device)

    @torch.no_grad()
    def scorer(pairs: list[Pair]) -> Callable[[np.ndarray], Tensor]:
        texts = method.encode_pairs(torch.from_numpy(data.indices(pairs)).to(device))

        @torch.no_grad()
        def score(rows: np.ndarray) -> Tensor:
            return method.score(torch.from_numpy(np.asarray(features[rows])).to(device), texts)

        return score

    return scorer
