"""Contrastive pretraining of the small backbone on synthetic scenes (Radford et al., 2021), by Lightning."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pytorch_lightning as pl
import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn.functional import normalize
from torch.utils.data import TensorDataset

from recompose.backbones.clip import Activation, Backbone, build, end_of_text, load_backbone
from recompose.backbones.compact import write_compact
from recompose.files import SCRATCH, write_atomically
from recompose.synthetic.scenes import read_corpus
from recompose.training.loop import Data, Hardware, TrainingModule, fit

WEIGHTS = "weights.safetensors"
MAX_LOG_SCALE = float(np.log(100))  # the released models' limit on the factor of cosines
WARM_UP = 0.1  # the share of the steps in which the learning rate rises


class Pretraining(TrainingModule):
    """The symmetric cross-entropy between the images and the captions of a batch."""

    mean: Tensor
    std: Tensor

    def __init__(self, backbone: Backbone, *, lr: float, weight_decay: float) -> None:
        super().__init__()
        self.backbone = backbone
        self.lr, self.weight_decay = lr, weight_decay
        visual = backbone.model.visual
        self.register_buffer("mean", 255 * torch.tensor(visual.image_mean).view(3, 1, 1), persistent=False)
        self.register_buffer("std", 255 * torch.tensor(visual.image_std).view(3, 1, 1), persistent=False)

    def setup(self, stage: str) -> None:
        """Set the loss over the batch of all processes: each process compares its samples with those of the others,
        too.
        """
        rank, processes = self.trainer.global_rank, self.trainer.world_size
        self.loss = open_clip.ClipLoss(gather_with_grad=True, rank=rank, world_size=processes)

    def training_step(self, batch: tuple[Tensor, Tensor], _: int) -> Tensor:
        """Return the loss of images [batch, 3, height, width] of bytes and token ids [batch, length]."""
        pixels, ids = batch
        images = self.backbone.encode_image((pixels - self.mean) / self.std)
        texts = self.backbone.encode_text(ids)
        loss: Tensor = self.loss(normalize(images, dim=-1), normalize(texts, dim=-1), self.backbone.logit_scale)
        self.log("loss", loss, on_step=False, on_epoch=True, sync_dist=True)
        return loss

    def optimizer_step(self, *args: Any, **kwargs: Any) -> None:
        """Take a step of the optimiser, then clamp the factor of cosines to its limit."""
        super().optimizer_step(*args, **kwargs)
        self.backbone.model.logit_scale.data.clamp_(0, MAX_LOG_SCALE)

    def configure_optimizers(self) -> Any:
        """Return AdamW without decay on gains and biases, with a warm-up and then a cosine to zero."""
        parameters = list(self.parameters())
        groups = [
            {"params": [p for p in parameters if p.ndim > 1], "weight_decay": self.weight_decay},
            {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
        ]
        optimizer = torch.optim.AdamW(groups, lr=self.lr, betas=(0.9, 0.98), eps=1e-6)
        steps = int(self.trainer.estimated_stepping_batches)
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, self.lr, total_steps=steps, pct_start=WARM_UP, cycle_momentum=False
        )
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


@contextmanager
def compact_vocabulary(backbone: Backbone, used: Tensor) -> Iterator[None]:
    """Let the backbone embed only the tokens in use within this context, by their position [tokens] among these sorted
    ids.

    A step then updates those rows, not the whole table, whose other rows stay as they are. The end of text keeps the
    largest number.
    """
    table = backbone.model.token_embedding
    backbone.model.token_embedding = nn.Embedding.from_pretrained(table.weight.detach()[used], freeze=False)
    try:
        yield
    finally:
        with torch.no_grad():
            table.weight[used] = backbone.model.token_embedding.weight.to(table.weight)
        backbone.model.token_embedding = table


def _tensors(corpus: Path, backbone: Backbone) -> tuple[TensorDataset, Tensor]:
    """Return pixels [scenes, 3, height, width] as bytes and tokens [scenes, longest caption] as positions among the ids
    in use, and those ids [tokens].
    """
    scenes = list(read_corpus(corpus))
    pixels = torch.from_numpy(np.stack([np.asarray(picture) for picture, _ in scenes])).permute(0, 3, 1, 2).contiguous()
    ids = backbone.tokens([caption for _, caption in scenes])
    used, places = ids[:, : int(end_of_text(ids).max()) + 1].unique(return_inverse=True)
    return TensorDataset(pixels, places), used


def release(corpus: Path, folder: Path, target: Path, about: Mapping[str, str]) -> None:
    """Write the weights of a pretrained backbone's folder as a small file, see ``recompose.backbones.compact``.

    Args:
        corpus: the scenes of the pretraining; only the tokens of their captions are stored.
        folder: with ``backbone.json`` and the weights.
        target: the file to write.
        about: metadata of the file.
    """
    backbone = load_backbone(folder)
    _, used = _tensors(corpus, backbone)
    write_compact(backbone.model.state_dict(), used, target, about)


def pretrain(
    architecture: str,
    activation: Activation,
    corpus: Path,
    folder: Path,
    hardware: Hardware,
    *,
    seed: int,
    epochs: int,
    batch_size: int,
    lr: float,
    weight_decay: float,
) -> None:
    """Train a backbone on a corpus of scenes and write ``weights.safetensors`` into a folder.

    Resumes from the last whole epoch in the folder's ``scratch``.
    """
    pl.seed_everything(seed, verbose=False)
    backbone = build(architecture, activation)
    tensors, used = _tensors(corpus, backbone)
    data = Data(tensors, None, batch_size=batch_size, seed=seed)
    title = f"backbone {architecture}"
    with compact_vocabulary(backbone, used):
        module = Pretraining(backbone, lr=lr, weight_decay=weight_decay)
        trainer = fit(module, data, folder / SCRATCH, hardware, title=title, epochs=epochs, seed=seed)
    if trainer.is_global_zero:
        state = backbone.model.state_dict()
        write_atomically(folder / WEIGHTS, lambda path: save_file(state, path))
