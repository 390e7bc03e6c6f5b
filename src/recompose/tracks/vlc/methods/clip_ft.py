"""CLIP fine-tuned with its own loss, without hard negatives."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from recompose.backbones.clip import Backbone
from recompose.nn.gathering import gather_batch
from recompose.tracks.vlc.losses import contrastive_loss
from recompose.tracks.vlc.methods.parts.caption_method import NOTHING, CaptionMethod, Representations, Tuning


class ClipFt(CaptionMethod):
    """CLIP under the contrast of images with captions (FSC-CLIP, Eqs. 1 and 2)."""

    def __init__(self, backbone: Backbone, *, tuning: Tuning, lora: Mapping[str, Any] = NOTHING) -> None:
        super().__init__(backbone, tuning=tuning, lora=lora)

    def loss(self, batch: Representations, valid: Tensor) -> Tensor:
        """Return the contrastive loss of all devices' images and captions."""
        return contrastive_loss(gather_batch(batch.images), gather_batch(batch.texts), self.logit_scale)
