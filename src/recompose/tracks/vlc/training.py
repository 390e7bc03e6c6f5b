"""Training of a CLIP on a corpus of images and captions, as in FSC-CLIP's code at 604015d; the last epoch is saved."""

from dataclasses import replace
from math import cos, log, pi
from typing import Any

import torch
from torch import Tensor

from recompose.backbones.clip import Backbone, load_backbone
from recompose.backbones.pixels import check_size
from recompose.tracks.running import Run, write_checkpoint
from recompose.tracks.vlc.batches import Batch, CaptionData, read_rows
from recompose.tracks.vlc.building import build_method
from recompose.tracks.vlc.crops import random_crops
from recompose.tracks.vlc.methods.base import CaptionMethod, represent_in_chunks
from recompose.tracks.vlc.methods.settings import CaptionTrainingSettings, TunedSettings
from recompose.training.cost import RunCosts, count_at_paper_scale
from recompose.training.loop import TrainingModule

MAX_LOG_SCALE = log(100)  # the released models' limit on the factor of cosines
BETAS, EPSILON = (0.9, 0.98), 1e-6
WORKERS = 4  # processes that make batches beside a GPU, as released; on a CPU they would compete with training


class CaptionTraining(TrainingModule):
    """The training of a method on images, captions and negatives.

    Args:
        method: the method to train.
        settings: of the training.
        lr: the highest learning rate of the weights that the method tunes.
        steps: steps of the whole training.
    """

    def __init__(self, method: CaptionMethod, settings: CaptionTrainingSettings, *, lr: float, steps: int) -> None:
        super().__init__()
        self.method = method
        self._settings, self._lr, self._steps = settings, lr, steps

    def on_train_epoch_start(self) -> None:
        """Reset the method's state of an epoch, as the released code does."""
        self.method.begin_epoch()

    def training_step(self, batch: Batch, _: int) -> Tensor:
        """Return the method's loss, computed in 32 bits whatever the towers' precision.

        At a factor of 100, cosines in 16 bits resolve logits to half a unit at worst. (The released code multiplies in
        the tower's 16 bits.)

        Raises:
            FloatingPointError: the loss is not finite.
        """
        pixels = self.method.backbone.from_bytes(random_crops(batch.pixels))
        whole = represent_in_chunks(self.method, pixels, batch.ids, batch.valid, self._settings.chunk)
        with torch.autocast(self.device.type, enabled=False):
            labelled = replace(whole.in_32_bits(), labels=batch.labels, changed=batch.changed)
            loss = self.method.loss(labelled, batch.valid)
        if not loss.isfinite():
            raise FloatingPointError(
                f"the loss is {loss.item()} in epoch {self.current_epoch + 1}: lower lr, or use a precision with a "
                "greater range, such as bf16-mixed or 32-true"
            )
        self.log("loss", loss.detach(), on_step=False, on_epoch=True, batch_size=len(pixels), sync_dist=True)
        if batch.labels is not None:
            left_out = (~batch.labels.complete).sum().float()
            self.log("unmarked", left_out, on_step=False, on_epoch=True, reduce_fx="sum", sync_dist=True)
        return loss

    def optimizer_step(self, *args: Any, **kwargs: Any) -> None:
        """Take a step of the optimiser, then clamp the factor on cosines."""
        super().optimizer_step(*args, **kwargs)
        clamp_scale(self.method.backbone)

    def configure_optimizers(self) -> Any:
        """Return AdamW and its schedule; see ``parameter_groups`` and ``rate``."""
        groups = parameter_groups(self.method.backbone, self._settings.weight_decay)
        optimizer = torch.optim.AdamW(groups, lr=self._lr, betas=BETAS, eps=EPSILON, fused=True)
        warmup_steps = self._settings.warmup_steps
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate(step, warmup_steps, self._steps))
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


def parameter_groups(backbone: Backbone, weight_decay: float) -> list[dict[str, object]]:
    """Return a backbone's trainable weights in two groups, the first without weight decay (as released).

    Gains, biases, and all vectors and scalars do not decay.
    """
    undecayed: list[Tensor] = []
    decayed: list[Tensor] = []
    for name, parameter in backbone.named_parameters():
        if parameter.requires_grad:
            exempt = parameter.ndim < 2 or any(part in name for part in ("bn", "ln", "bias", "logit_scale"))
            (undecayed if exempt else decayed).append(parameter)
    return [{"params": undecayed, "weight_decay": 0.0}, {"params": decayed, "weight_decay": weight_decay}]


def rate(step: int, warmup_steps: int, steps: int) -> float:
    """Return the learning rate of a step, counted from 0, as a share of the highest (as released).

    It rises linearly up to the last step of the warm-up, then falls as half a cosine that reaches 0 after training.

    Example:
        >>> [rate(step, 2, 6) for step in (0, 1, 2, 4, 6)]
        [0.5, 1.0, 1.0, 0.5, 0.0]
    """
    if step < warmup_steps:
        return (step + 1) / warmup_steps
    return (1 + cos(pi * (step - warmup_steps) / max(steps - warmup_steps, 1))) / 2


@torch.no_grad()
def clamp_scale(backbone: Backbone) -> None:
    """Clamp the factor on cosines between 1 and 100, where it trains."""
    scale = backbone.model.logit_scale
    if scale.requires_grad:
        scale.clamp_(0, MAX_LOG_SCALE)


class CaptionRun(Run):
    """A run of the track. Its ``needs`` are ``data``, ``pixels`` and ``backbone``."""

    def carry_out(self) -> RunCosts | None:
        """Train a method, and keep its last epoch."""
        settings, training, hardware = self.settings.own, self.settings.training, self.hardware
        assert isinstance(settings, TunedSettings) and isinstance(training, CaptionTrainingSettings)
        costs_at_scale = count_at_paper_scale(lambda backbone: build_method(self.settings, backbone))
        method = build_method(self.settings, load_backbone(self.needs["backbone"]))
        assert isinstance(method, CaptionMethod)
        rows = read_rows(self.needs, method.negatives, method.backbone.tokenizer, self.seed, method.label_request)
        check_size(rows.size, method.backbone.image_size)
        workers = 0 if hardware.device.type == "cpu" else WORKERS
        data = CaptionData(rows, batch_size=training.batch_size, seed=self.seed, workers=workers)
        lr = settings.lora.lr if settings.tuning == "lora" and settings.lora else training.lr
        costs = RunCosts(method, costs_at_scale, hardware.device)
        module = CaptionTraining(method, training, lr=lr, steps=training.epochs * data.steps)
        if not self.fit(module, data, epochs=training.epochs, callbacks=[costs.epochs]):
            return None
        write_checkpoint(trained_state(method.backbone), self.folder)
        return costs


train = CaptionRun.train


def trained_state(backbone: Backbone) -> dict[str, Tensor]:
    """Return the trained weights of a backbone by name."""
    names = {name for name, parameter in backbone.named_parameters() if parameter.requires_grad}
    return {name: tensor.contiguous() for name, tensor in backbone.state_dict().items() if name in names}
