"""Training and testing a method on state-object pairs."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.utils.data import Dataset

from recompose.files import SCRATCH, write_atomically
from recompose.tracks.czsl.data.pairs import Pair, PairData
from recompose.tracks.czsl.methods.parts.pair_method import PairMethod
from recompose.tracks.czsl.metrics.czsl import Best, report_of
from recompose.tracks.czsl.metrics.worlds import Scorer, World
from recompose.training.augmentation import Augmentation
from recompose.training.loop import Data, Hardware, Training, fit

CHECKPOINT = "checkpoint.safetensors"
SELECTION = "val_auc"


class Rows(Dataset[Any]):
    """What a method sees of the images of a split, and a number [images] for each; a list of positions gives a whole batch."""

    def __init__(self, inputs: np.ndarray, rows: np.ndarray, numbers: np.ndarray) -> None:
        self._inputs, self._rows, self._numbers = inputs, rows, numbers

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, positions: list[int]) -> list[Tensor]:
        return [torch.from_numpy(self._inputs[self._rows[positions]]), torch.from_numpy(self._numbers[positions])]


class PairTraining(Training):
    """A method trained on the pairs of training, validated in the closed world.

    Raises:
        ValueError: validation shows no seen or no unseen pair, so its AUC cannot select.
    """

    train_pairs: Tensor
    val_pairs: Tensor

    def __init__(
        self,
        method: PairMethod,
        data: PairData,
        *,
        lr: float,
        weight_decay: float,
        halve_every: int | None = None,
        augment: bool = False,
    ) -> None:
        super().__init__()
        self.method = method
        self.augmentation = Augmentation() if augment else nn.Identity()
        self.lr, self.weight_decay, self.halve_every = lr, weight_decay, halve_every
        self._world = World.closed(data)
        shown = self._world.seen[self._world.targets["val"]]
        if shown.all() or not shown.any():
            raise ValueError("validation needs images of seen and of unseen pairs, for its AUC to select an epoch")
        train_pairs = data.indices(data.pairs_of["train"])
        self.register_buffer("train_pairs", torch.from_numpy(train_pairs), persistent=False)
        self.register_buffer("val_pairs", torch.from_numpy(self._world.primitives), persistent=False)

    def training_step(self, batch: list[Tensor], _: int) -> Tensor:
        """The method's loss on what it sees of images, and labels [batch], indices among the pairs of training."""
        inputs, targets = batch
        loss = self.method.loss(self.augmentation(inputs), targets, self.train_pairs)
        self.log("loss", loss, on_step=False, on_epoch=True, batch_size=len(inputs), sync_dist=True)
        return loss

    def on_validation_epoch_start(self) -> None:
        """Encode the texts of the closed world, once for all images."""
        self._texts = self.method.encode_world([self.val_pairs], "closed")
        self._evaluator = self._world.evaluator("val")

    def validation_step(self, batch: list[Tensor], _: int) -> None:
        """The best pairs of images at these positions [batch] of the split."""
        inputs, positions = batch
        (scores,) = self.method.scores(inputs, self._texts)
        self._evaluator.update(scores, positions)

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

    def configure_optimizers(self) -> Any:
        """Adam with its coupled weight decay, at a rate that is constant, or halved every so many epochs."""
        trained = [parameter for parameter in self.parameters() if parameter.requires_grad]
        optimizer = torch.optim.Adam(trained, lr=self.lr, weight_decay=self.weight_decay)
        if self.halve_every is None:
            return optimizer
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, self.halve_every, gamma=0.5)]


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
    halve_every: int | None = None,
    augment: bool = False,
    callbacks: Sequence[Callback] = (),
) -> bool:
    """Train a method, write its checkpoint of the best validation AUC, and leave the method at it.

    Resumes from the last whole epoch in the folder's ``scratch``.

    Returns:
        Whether this is the process that goes on: of several devices' processes only one.
    """
    module = PairTraining(method, data, lr=lr, weight_decay=weight_decay, halve_every=halve_every, augment=augment)
    train_pairs = data.pairs_of["train"]
    val_rows = data.rows("val")
    train_set = Rows(features, data.rows("train"), data.targets("train", train_pairs))
    val_set = Rows(features, val_rows, np.arange(len(val_rows)))
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
        callbacks=[keep, *callbacks],
    )
    if not trainer.is_global_zero:
        return False
    # copied: a process killed from here on finds it in scratch again
    write_atomically(folder / CHECKPOINT, lambda path: shutil.copyfile(folder / SCRATCH / CHECKPOINT, path))
    restore(method, folder / CHECKPOINT)
    return True


def restore(method: PairMethod, checkpoint: Path) -> None:
    """Bring a method to where a checkpoint left one like it.

    Raises:
        ValueError: the checkpoint is of another method, or of other settings.
    """
    prefix = "method."  # beside it stands what else is trained with, such as augmentation
    tensors = load_file(checkpoint).items()
    state = {name.removeprefix(prefix): tensor for name, tensor in tensors if name.startswith(prefix)}
    known = method.state_dict()
    resized = {name for name, tensor in state.items() if name in known and known[name].shape != tensor.shape}
    if resized:
        raise ValueError(f"{checkpoint} is of other settings: {', '.join(sorted(resized))} have other sizes")
    found = method.load_state_dict(state, strict=False)
    frozen = {name for name, parameter in method.named_parameters() if not parameter.requires_grad}
    wrong = sorted({*found.unexpected_keys, *(set(found.missing_keys) - frozen), *(frozen & state.keys())})
    if wrong:
        raise ValueError(f"{checkpoint} is of other settings: {', '.join(wrong)} do not fit")


def scorer_of(method: PairMethod, data: PairData, features: np.ndarray, device: torch.device) -> Scorer:
    """The method as a scorer for ``recompose.tracks.czsl.metrics.worlds``: what it knows of a world is computed once."""
    method.eval().to(device)

    @torch.no_grad()
    def scorer(blocks: list[list[Pair]], world: str) -> Callable[[np.ndarray], Iterator[Tensor]]:
        known = method.encode_world([torch.from_numpy(data.indices(pairs)).to(device) for pairs in blocks], world)

        @torch.no_grad()
        def scores(rows: np.ndarray) -> Iterator[Tensor]:
            yield from method.scores(torch.from_numpy(features[rows]).to(device), known)

        return scores

    return scorer
